"""People and their work: invitations, annotators, batches, what is paid."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request

from venire.errors import NotFound
from venire.server.judging.review import decide, set_payment
from venire.server.store.base import now
from venire.server.studies import accounts, annotators, batches, invitations, members, workers
from venire.server.web.api.forms import (
    BatchDecision,
    NewInvitation,
    Pause,
    Payment,
    RoleChange,
    example,
)
from venire.server.web.api.studies import Limit, Offset
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession, build_link
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api/studies/{study_id}", tags=["people"])


@router.get("/members", responses=example([{"name": "Ben", "role": "annotator"}]))
def list_members(member: CurrentMember, session: ReadSession) -> list[dict[str, Any]]:
    """List the members of the study."""
    return members.list_members(session, member.study_id)


@router.patch("/members/{user_id}", responses=example({"role": "viewer"}))
def change_role(
    owner: CurrentOwner, store: AppStore, user_id: str, form: RoleChange
) -> dict[str, str]:
    """Give a member another role; the last owner stays one."""
    store.write(
        lambda session: members.set_role(session, owner.study_id, user_id, form.role, owner.user.id)
    )
    return {"role": form.role}


@router.delete("/members/{user_id}", responses=example({"removed": True}))
def remove_member(owner: CurrentOwner, store: AppStore, user_id: str) -> dict[str, bool]:
    """Remove a member, but never the last owner; their judgments stay."""
    store.write(
        lambda session: members.remove_member(session, owner.study_id, user_id, owner.user.id)
    )
    return {"removed": True}


@router.post(
    "/members/{user_id}/password-reset",
    responses=example({"link": "https://example.org/reset/secret"}),
)
def reset_password(
    request: Request, owner: CurrentOwner, store: AppStore, user_id: str
) -> dict[str, str]:
    """Create a link with which a member sets a new password, once, within a day."""

    def work(session: Any) -> str:
        if members.find_role(session, owner.study_id, user_id) is None:
            raise NotFound("member", user_id)
        return accounts.create_password_reset(session, user_id, owner.user.id)

    build_link(request, "")  # refused before a link is made that nobody could open
    return {"link": build_link(request, f"/reset/{store.write(work)}")}


@router.get("/invitations", responses=example([{"invitation_id": "x1", "role": "annotator"}]))
def list_invitations(owner: CurrentOwner, session: ReadSession) -> list[dict[str, Any]]:
    """List links that can still be used; their secrets are not stored."""
    return [
        {
            "invitation_id": invitation.id,
            "kind": invitation.kind,
            "role": invitation.role,
            "name": invitation.name,
            "campaign_id": invitation.campaign_id,
            "created_at": invitation.created_at,
            "expires_at": invitation.expires_at,
        }
        for invitation in invitations.list_invitations(session, owner.study_id)
    ]


@router.post("/invitations", responses=example({"link": "https://example.org/invite/secret"}))
def create_invitation(
    request: Request, owner: CurrentOwner, store: AppStore, form: NewInvitation
) -> dict[str, str]:
    """Create an invitation link; it is shown only once.

    With a campaign: ``signing_key``, with which a platform can sign the link of each worker.
    """
    build_link(request, "")  # refused before a link is made that nobody could open

    def work(session: Any) -> tuple[str, str | None]:
        secret = invitations.create_invitation(
            session,
            owner.study_id,
            form.role,
            name=form.name,
            campaign_id=form.campaign_id or None,
            by=owner.user.id,
        )
        return secret, invitations.read_signing_key(session, secret)

    secret, key = store.write(work)
    link = build_link(request, f"/{'invite' if key is None else 'c'}/{secret}")
    return {"link": link} if key is None else {"link": link, "signing_key": key}


@router.delete("/invitations/{invitation_id}", responses=example({"revoked": True}))
def revoke_invitation(owner: CurrentOwner, store: AppStore, invitation_id: str) -> dict[str, bool]:
    """Revoke a link."""
    store.write(
        lambda session: invitations.revoke_invitation(session, owner.study_id, invitation_id)
    )
    return {"revoked": True}


@router.get("/annotators", responses=example([{"name": "Ben", "judgments": 120, "flags": []}]))
def list_annotators(member: CurrentMember, session: ReadSession) -> list[dict[str, Any]]:
    """List annotators: accuracy on gold with its interval, speed, agreement, flags."""
    return annotators.list_annotators(session, member.study_id)


@router.post("/annotators/{annotator_id}/pause", responses=example({"paused": True}))
def pause_annotator(
    owner: CurrentOwner, store: AppStore, annotator_id: str, form: Pause
) -> dict[str, bool]:
    """Pause a member, or resume them; their judgments stay."""
    store.write(
        lambda session: members.set_paused(
            session, owner.study_id, annotator_id, form.paused, form.reason, owner.user.id
        )
    )
    return {"paused": form.paused}


@router.post("/annotators/{annotator_id}/release", responses=example({"released": True}))
def release_worker(owner: CurrentOwner, store: AppStore, annotator_id: str) -> dict[str, bool]:
    """Let another browser use the ID of a crowd worker: the next one that opens the link."""
    store.write(
        lambda session: workers.release_worker(session, owner.study_id, annotator_id, owner.user.id)
    )
    return {"released": True}


@router.get("/batches", responses=example([{"batch_id": "b1", "valid": False}]))
def list_batches(
    member: CurrentMember,
    session: ReadSession,
    annotator_id: Annotated[str | None, Query(max_length=100)] = None,
    state: Literal["open", "accepted", "rejected", "undecided"] | None = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> list[dict[str, Any]]:
    """List batches, newest first."""
    return batches.list_batches(
        session, member.study_id, annotator_id=annotator_id, state=state, offset=offset, limit=limit
    )


@router.post("/batches/{batch_id}/decision", responses=example({"accepted": True, "surplus": 0}))
def decide_batch(
    owner: CurrentOwner, store: AppStore, batch_id: str, form: BatchDecision
) -> dict[str, Any]:
    """Accept or reject a batch, also against an earlier decision.

    ``surplus`` judgments do not count, because others have filled the places meanwhile.
    """

    def work(session: Any) -> list[str]:
        batches.check_batch(session, owner.study_id, batch_id)
        return decide(session, batch_id, form.accept, form.reason, owner.user.id, now())

    return {"accepted": form.accept, "surplus": len(store.write(work))}


@router.post("/batches/{batch_id}/payment", responses=example({"payment": "approved"}))
def pay_batch(owner: CurrentOwner, store: AppStore, batch_id: str, form: Payment) -> dict[str, str]:
    """Set whether a batch is paid, whether or not it counts."""

    def work(session: Any) -> None:
        batches.check_batch(session, owner.study_id, batch_id)
        set_payment(session, batch_id, form.payment, owner.user.id, now())

    store.write(work)
    return {"payment": form.payment}
