"""People and their work: invitations, annotators, batches, what is paid."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request

from venire.server.judging.review import decide, set_payment
from venire.server.store.base import now
from venire.server.studies import annotators, batches, invitations, members, workers
from venire.server.web.api.forms import BatchDecision, NewInvitation, Pause, Payment, example
from venire.server.web.api.studies import Limit, Offset
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession, build_link

router = APIRouter(prefix="/api/studies/{study_id}", tags=["people"])


@router.get("/members", responses=example([{"name": "Ben", "role": "annotator"}]))
def list_members(member: CurrentMember, session: ReadSession) -> list[dict[str, Any]]:
    """List the members of the study."""
    return members.list_members(session, member.study_id)


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
    """Pause an annotator, or resume them; their judgments stay."""
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
