"""Workers of crowd platforms: admit them by the link of a campaign, one browser per worker ID."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from venire.errors import BadSetting, Conflict, NotAllowed, NotFound
from venire.formats.study_settings import CampaignSettings
from venire.server.store.base import now
from venire.server.store.judging import Campaign
from venire.server.store.people import Invitation, Membership, User
from venire.server.store.work import Decision
from venire.server.studies.accounts import hash_secret
from venire.server.studies.campaigns import get_campaign
from venire.server.studies.invitations import find_invitation

HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Visit:
    """How a worker opens the link of a campaign.

    Parameters
    ----------
    worker, assignment, signature : str
        Query parameters of the link; empty where the platform adds none.
    browser : str or None
        Secret in the cookie of the browser; None in a browser without one.
    address : str
        Address of the browser.
    """

    worker: str
    assignment: str = ""
    signature: str = ""
    browser: str | None = None
    address: str = ""


@dataclass(frozen=True)
class Admission:
    """A worker who may judge in a campaign, and the secret for the cookie of the browser."""

    user: User
    campaign_id: str
    browser: str


def sign_visit(key: str, study_id: str, worker: str, assignment: str = "") -> str:
    """Return the signature of a worker's link: HMAC-SHA256 in hexadecimal digits.

    The message has three lines: the ID of the study, the worker ID and the assignment ID.

    Examples
    --------
    >>> sign_visit("key", "study", "W1", "A1")[:16]
    '1faec0ced5592d17'
    """
    message = f"{study_id}\n{worker}\n{assignment}".encode()
    return hmac.new(key.encode(), message, hashlib.sha256).hexdigest()


def admit_worker(session: Session, secret: str, visit: Visit) -> Admission:
    """Return the annotator with a platform's worker ID; create it on the first visit.

    The first browser holds the worker ID; a signed link moves it to another browser.

    Raises
    ------
    BadSetting
        No worker ID, or a placeholder in its place.
    Conflict
        The link is for a person.
    NotAllowed
        The signature is wrong or missing (code ``wrong-signature``), another browser holds the
        worker ID (``worker-elsewhere``), or too many new worker IDs came from this address
        (``too-many-workers``), or an owner has removed the worker (``removed``).
    """
    invitation = find_invitation(session, secret)
    if (
        invitation.kind != "campaign"
        or invitation.campaign_id is None
        or invitation.study_id is None
    ):
        raise Conflict(
            "This link is for one person. Ask the owner for the campaign link for platforms."
        )
    _check_worker_id(visit.worker)
    campaign = get_campaign(session, invitation.campaign_id)
    settings = CampaignSettings.of(campaign.settings)
    is_signed = _check_signature(invitation, campaign, visit, settings.signed_links)
    user = find_worker(session, campaign, visit.worker)
    browser = visit.browser or secrets.token_urlsafe(24)
    if user is None:
        address = hash_secret(f"{campaign.id} {visit.address}")
        if not is_signed:
            _limit_new_workers(session, campaign, address, settings.new_workers_per_hour)
        user = add_worker(session, campaign, visit.worker)
        user.address_hash = address
    elif user.browser_hash not in (None, hash_secret(browser)) and not is_signed:
        raise NotAllowed(
            "This worker ID is in use in another browser. Open the task in that browser, or ask "
            "the requester to release your worker ID.",
            code="worker-elsewhere",
        )
    if session.get(Membership, (campaign.study_id, user.id)) is None:
        raise NotAllowed("You were removed from this study.", code="removed")
    user.browser_hash = hash_secret(browser)
    session.flush()
    return Admission(user, campaign.id, browser)


def _check_signature(
    invitation: Invitation, campaign: Campaign, visit: Visit, needed: bool
) -> bool:
    """Return whether the link has a signature, and refuse a wrong or a missing one."""
    if not visit.signature:
        if needed:
            raise NotAllowed(
                "The link has no signature. Open the task from the platform.",
                code="wrong-signature",
            )
        return False
    expected = sign_visit(
        invitation.signing_key or "", campaign.study_id, visit.worker, visit.assignment
    )
    if invitation.signing_key is None or not hmac.compare_digest(
        expected.encode(), visit.signature.lower().encode()
    ):
        raise NotAllowed(
            "The signature of the link is wrong. Open the task from the platform.",
            code="wrong-signature",
        )
    return True


def _check_worker_id(worker_id: str) -> None:
    """Refuse a missing worker ID, and a placeholder that the platform has not replaced."""
    if not worker_id.strip() or len(worker_id) > 200:
        raise BadSetting("The link has no worker ID. Open it from the platform.")
    if _PLACEHOLDER.fullmatch(worker_id.strip()):
        raise BadSetting(
            f"The link has {worker_id.strip()!r} in place of your worker ID. Open the task from "
            "the platform. If this happens again, tell the requester that the platform does not "
            "replace placeholders where the link is entered."
        )


# A placeholder that no platform has filled in, as {{%PROLIFIC_PID%}}, ${workerId}, %workerId%,
# {{workerId}}, [workerId], <workerId>, $workerId or …; the bare name of one; MTurk's of a preview.
_PLACEHOLDER = re.compile(
    r"""\{.*\} | \$.* | %.*% | \[.*\] | <.*> | \.{3} | … | ASSIGNMENT_ID_NOT_AVAILABLE
    | (?:(?:assignment|annotator|participant|prolific)[ _-]?)? (?:worker|user|pid) (?:[ _-]?id)?
    | (?:worker|participant|annotator|assignment)[ _-]?id""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def _limit_new_workers(session: Session, campaign: Campaign, address: str, most: int) -> None:
    """Refuse a new worker ID where too many came from the same address within an hour."""
    if not most:
        return
    query = select(func.count()).where(
        User.campaign_id == campaign.id,
        User.address_hash == address,
        User.created_at > now() - HOUR,
    )
    if (session.scalar(query) or 0) >= most:
        raise NotAllowed(
            "Too many new workers came from your address within an hour. Try again later, or ask "
            "the requester for help.",
            code="too-many-workers",
        )


def find_worker(session: Session, campaign: Campaign, worker_id: str) -> User | None:
    """Return the annotator with a platform's worker ID in a campaign, or None."""
    return session.scalar(
        select(User).where(User.campaign_id == campaign.id, User.worker == worker_id)
    )


def add_worker(session: Session, campaign: Campaign, worker_id: str) -> User:
    """Create the annotator of a platform's worker ID in a campaign."""
    user = User(name=f"worker {worker_id}", campaign_id=campaign.id, worker=worker_id)
    session.add(user)
    session.flush()
    session.add(Membership(study_id=campaign.study_id, user_id=user.id, role="annotator"))
    session.flush()
    return user


def release_worker(session: Session, study_id: str, user_id: str, by: str | None) -> None:
    """Let the next browser that names the worker ID hold it.

    Raises
    ------
    NotFound
        No such worker of a crowd platform in the study.
    """
    user = session.get(User, user_id)
    member = session.get(Membership, (study_id, user_id))
    if user is None or member is None or user.worker is None:
        raise NotFound("worker", user_id)
    user.browser_hash = None
    session.add(
        Decision(
            study_id=study_id,
            kind="annotator",
            subject=user_id,
            verdict="released",
            facts={},
            decided_by=by,
        )
    )
    session.flush()
