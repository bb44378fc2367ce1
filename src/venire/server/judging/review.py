"""Whether a batch counts: its gold, its speed, its labels; decisions and their reversal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from statistics import median

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import Conflict, NotFound
from venire.server.judging.leases import give_back, take
from venire.server.judging.pausing import pause_where_needed
from venire.server.judging.settings import CampaignSettings, StudySettings
from venire.server.store.judging import Batch, Campaign, Judgment, Lease
from venire.server.store.studies import Study
from venire.server.store.work import Decision

#: Why a batch is held: nothing is known about who judged it.
HELD = "held: it ended before any of its gold was judged"
#: What an annotator may read of why a batch does not count, by rule: that there is gold, and how
#: much, is not for them, nor are the words of an owner.
TOLD = {
    "gold": "The answers did not meet the quality standard of this task.",
    "speed": "The answers were given faster than the documents can be read.",
    "one label": "Nearly all answers were the same.",
}
TOLD_ELSE = "The requester did not accept this work."
#: A batch smaller than this is not rejected for giving one label only.
LEAST_FOR_SHARE = 8


def review(session: Session, batch: Batch, leases: Sequence[Lease], at: datetime) -> None:
    """Decide whether a batch counts, by the rules of its campaign, and record why.

    A batch of practice never counts; a qualification is passed or not. Gold that an annotator
    could not judge, or skipped, is gold wrong: otherwise skipping would be a way around it. Leaving
    before the gold would be another one: a batch that ended before any of its gold was judged is
    held. Its places are free again, its judgments stay and do not count, until gold that comes late
    or an owner decides.
    """
    campaign = session.get_one(Campaign, batch.campaign_id)
    study = session.get_one(Study, campaign.study_id)
    settings = CampaignSettings.of(campaign.settings)
    labels = current_labels(session, leases)
    grades = StudySettings.of(study.settings)
    asked = [one for one in leases if one.gold_grade is not None and one.state not in _UNSEEN]
    right = sum(_is_right(one, labels, settings, grades) for one in asked)
    batch.gold_asked, batch.gold_right = len(asked), right
    if batch.kind == "practice":
        batch.valid, batch.reason = False, "practice"
        return
    if owner_decided(session, batch):
        return
    if batch.kind == "qualification":
        passed = right >= settings.qualification_needed and batch.state == "finished"
        batch.reason = f"{right} of {len(asked)} right, {settings.qualification_needed} needed"
        _decide(session, batch, leases, passed, batch.reason, None, campaign.study_id, at)
        return
    rule, reason = _fault(settings, asked, right, leases, labels)
    if not rule and not asked and any(one.gold_grade is not None for one in leases):
        _decide(session, batch, leases, None, HELD, None, campaign.study_id, at)
        return
    _decide(session, batch, leases, not rule, reason or _fine(asked), None, campaign.study_id, at,
            rule)  # fmt: skip
    pause_where_needed(session, batch, campaign, at)


def owner_decided(session: Session, batch: Batch) -> bool:
    """Whether the last word about a batch is an owner's; rules do not overrule it."""
    decisions = select(Decision.decided_by).where(
        Decision.kind == "batch", Decision.subject == batch.id
    )
    return session.scalar(decisions.order_by(Decision.seq.desc()).limit(1)) is not None


_UNSEEN = ("live", "expired", "returned")


def _fine(asked: Sequence[Lease]) -> str:
    return "gold right" if asked else "no gold was asked"


def _is_right(
    lease: Lease, labels: dict[str, Judgment], settings: CampaignSettings, study: StudySettings
) -> bool:
    judgment = labels.get(lease.id)
    if judgment is None or judgment.label is None or lease.gold_grade is None:
        return False
    return is_right(judgment.label, lease.gold_grade, settings.gold_match, study)


def is_right(label: int, grade: int, match: str, study: StudySettings) -> bool:
    """Whether a label agrees with a gold grade, by the campaign's rule."""
    if match == "exact":
        return label == grade
    if match == "near":
        values = study.values
        if label not in values or grade not in values:
            return label == grade
        return abs(values.index(label) - values.index(grade)) <= 1
    return (label >= study.relevant_from) == (grade >= study.relevant_from)


def _fault(
    settings: CampaignSettings,
    asked: Sequence[Lease],
    right: int,
    leases: Sequence[Lease],
    labels: dict[str, Judgment],
) -> tuple[str, str]:
    """The first rule that a batch breaks, and in words; both empty when it breaks none."""
    wrong = len(asked) - right
    if wrong > settings.gold_errors:
        return "gold", f"{wrong} of {len(asked)} gold wrong ({settings.gold_errors} allowed)"
    times = [one.active_ms for one in labels.values() if one.active_ms is not None]
    if settings.min_seconds and times and median(times) < settings.min_seconds * 1000:
        return "speed", (
            f"median active time {median(times) / 1000:.1f} s a document "
            f"({settings.min_seconds:g} s needed)"
        )
    given = Counter(one.label for one in labels.values() if one.label is not None)
    total = sum(given.values())
    if total >= LEAST_FOR_SHARE and max(given.values()) > settings.max_same_share * total:
        label, times_given = given.most_common(1)[0]
        return "one label", (
            f"label {label} given {times_given} times of {total} "
            f"({settings.max_same_share:.0%} allowed)"
        )
    return "", ""


def told(session: Session, batch: Batch) -> str:
    """Why a batch was not accepted, as its annotator may read it."""
    decisions = select(Decision.facts).where(Decision.kind == "batch", Decision.subject == batch.id)
    facts = session.scalar(decisions.order_by(Decision.seq.desc()).limit(1)) or {}
    return TOLD.get(facts.get("rule", ""), TOLD_ELSE)


def current_labels(session: Session, leases: Sequence[Lease]) -> dict[str, Judgment]:
    """The judgment that counts now, by lease."""
    seqs = [lease.judgment_seq for lease in leases if lease.judgment_seq is not None]
    found = session.scalars(select(Judgment).where(Judgment.seq.in_(seqs)))
    return {judgment.lease_id: judgment for judgment in found}


def decide(
    session: Session, batch_id: str, accept: bool, reason: str, by: str | None, at: datetime
) -> list[str]:
    """An owner's decision about a batch, also against an earlier one.

    Where a rejected batch is accepted after its documents were judged by others, only the places
    that are still free are taken again; the other judgments stay on record as surplus.

    Returns
    -------
    list of str
        Leases whose judgment does not count because its document is full.

    Raises
    ------
    NotFound
        No such batch.
    Conflict
        The batch is still open, or is no work.
    """
    batch = session.scalar(select(Batch).where(Batch.id == batch_id).with_for_update())
    if batch is None:
        raise NotFound("batch", batch_id)
    if batch.state == "open":
        raise Conflict("the batch is still being judged; decide when it is finished")
    if batch.kind == "practice":
        raise Conflict("a practice batch never counts")
    leases = session.scalars(select(Lease).where(Lease.batch_id == batch_id)).all()
    study_id = session.get_one(Campaign, batch.campaign_id).study_id
    return _decide(session, batch, leases, accept, reason, by, study_id, at)


def _decide(
    session: Session,
    batch: Batch,
    leases: Sequence[Lease],
    accept: bool | None,
    reason: str,
    by: str | None,
    study_id: str,
    at: datetime,
    rule: str = "",
) -> list[str]:
    surplus: list[str] = []
    if accept:
        again = [one for one in leases if one.state in ("rejected", "surplus")]
        taken = take(session, [one.task_id for one in again if one.task_id is not None])
        labels = current_labels(session, again)
        for lease in again:
            if lease.task_id is not None and lease.task_id not in taken:
                lease.state = "surplus"
                surplus.append(lease.id)
            else:
                lease.state = "judged" if labels[lease.id].label is not None else "cannot"
    else:
        out = [one for one in leases if one.state in ("judged", "cannot", "surplus")]
        filled = [one for one in out if one.state != "surplus" and one.task_id is not None]
        for lease in out:
            lease.state = "rejected"
        session.flush()
        give_back(session, [one.task_id for one in filled if one.task_id is not None])
    batch.valid = accept
    batch.reason = reason
    session.add(
        Decision(
            study_id=study_id,
            kind="batch",
            subject=batch.id,
            verdict={True: "accepted", False: "rejected", None: "held"}[accept],
            reason=reason,
            facts={
                "gold_asked": batch.gold_asked,
                "gold_right": batch.gold_right,
                "surplus": len(surplus),
                **({"rule": rule} if rule else {}),
            },
            decided_by=by,
            decided_at=at,
        )
    )
    session.flush()
    return surplus


def set_payment(
    session: Session, batch_id: str, payment: str, by: str | None, at: datetime
) -> None:
    """Whether a batch is paid: ``approved`` or ``refused``, whatever its judgments are worth."""
    batch = session.scalar(select(Batch).where(Batch.id == batch_id).with_for_update())
    if batch is None:
        raise NotFound("batch", batch_id)
    if batch.state == "open":
        raise Conflict("the batch is still being judged; decide when it is finished")
    if payment not in ("approved", "refused"):
        raise Conflict(f"payment is approved or refused, not {payment!r}")
    batch.payment = payment
    study_id = session.get_one(Campaign, batch.campaign_id).study_id
    session.add(
        Decision(
            study_id=study_id,
            kind="payment",
            subject=batch.id,
            verdict=payment,
            facts={},
            decided_by=by,
            decided_at=at,
        )
    )
