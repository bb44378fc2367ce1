"""Review batches: whether a batch counts, by the campaign's rules or by an owner's decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import Conflict, NotFound
from venire.formats.study_settings import StudySettings
from venire.server.judging.leases import free_places, take_places
from venire.server.judging.pausing import pause_where_needed
from venire.server.judging.rules import JudgingRules
from venire.server.store.judging import Batch, BatchReason, Campaign, Judgment, Lease
from venire.server.store.work import Decision
from venire.tables.schema import express

REJECTIONS = {
    BatchReason.GOLD_WRONG: "The answers did not meet the quality standard of this task.",
    BatchReason.TOO_FAST: "The answers were given faster than the documents can be read.",
    BatchReason.ONE_LABEL: "Nearly all answers were the same.",
}
"""What an annotator may read about a rejected batch. It does not say that there is gold, or how
much, and does not repeat the words of an owner."""
REJECTION_OTHERWISE = "The requester did not accept this work."
HELD = "Held for review: The batch ended before any gold was judged."
LEAST_FOR_SHARE = 8
"""Labels that a batch must have before it can be rejected for one label."""
_UNANSWERED = ("live", "expired", "returned")


class Verdict(NamedTuple):
    """Whether a batch counts (None: held), why as a code, and why in words."""

    valid: bool | None
    code: BatchReason
    reason: str


def review(
    session: Session, batch: Batch, leases: Sequence[Lease], rules: JudgingRules, now: datetime
) -> None:
    """Decide whether a batch counts, by the rules of its campaign, and record why.

    A practice batch never counts; a qualification is passed or failed. Gold that the annotator
    could not judge, or skipped, counts as wrong: otherwise skipping would evade the check. Leaving
    before the gold would evade it too, so a batch that ended before any of its gold was judged is
    held, and so is one with more skipped documents than allowed. Its places are free again, and its
    judgments are kept but do not count until gold arrives late or an owner decides.
    """
    labels = read_current_judgments(session, leases)
    asked = [
        lease for lease in leases if lease.gold_grade is not None and lease.state not in _UNANSWERED
    ]
    right = sum(_is_gold_right(lease, labels, rules) for lease in asked)
    batch.gold_asked, batch.gold_right = len(asked), right
    if batch.kind == "practice":
        batch.valid, batch.reason, batch.reason_code = False, "practice", BatchReason.PRACTICE
        return
    if is_decided_by_owner(batch):
        return
    if batch.kind == "qualification":
        needed = rules.settings.qualification_needed
        passed = right >= needed and batch.state == "finished"
        words = f"{right} of {len(asked)} right, {needed} needed"
        verdict = Verdict(passed, BatchReason.QUALIFICATION, words)
        _record_verdict(session, batch, leases, verdict, None, rules.campaign.study_id, now)
        return
    verdict = _apply_rules(rules, leases, labels.values(), asked, right)
    _record_verdict(session, batch, leases, verdict, None, rules.campaign.study_id, now)
    if verdict.code != BatchReason.HELD:
        pause_where_needed(session, batch, rules, now)


def is_decided_by_owner(batch: Batch) -> bool:
    """Return whether the last decision about a batch is an owner's; rules do not override it."""
    return batch.reason_code == BatchReason.OWNER


def _is_gold_right(lease: Lease, labels: Mapping[str, Judgment], rules: JudgingRules) -> bool:
    judgment = labels.get(lease.id)
    if judgment is None or judgment.label is None or lease.gold_grade is None:
        return False
    return is_right(judgment.label, lease.gold_grade, rules.settings.gold_match, rules.study)


def is_right(label: int, grade: int, match: str, study: StudySettings) -> bool:
    """Return whether a label agrees with a gold grade, by the campaign's rule ``gold_match``."""
    if match == "exact":
        return label == grade
    if match == "near":
        values = study.values
        if label not in values or grade not in values:
            return label == grade
        return abs(values.index(label) - values.index(grade)) <= 1
    return (label >= study.relevant_from) == (grade >= study.relevant_from)


def _apply_rules(
    rules: JudgingRules,
    leases: Sequence[Lease],
    judgments: Collection[Judgment],
    asked: Sequence[Lease],
    right: int,
) -> Verdict:
    """Return the verdict on a work batch: the first rule that it breaks, else that it counts."""
    settings = rules.settings
    wrong = len(asked) - right
    if wrong > settings.gold_errors:
        words = f"{wrong} of {len(asked)} gold wrong ({settings.gold_errors} allowed)"
        return Verdict(False, BatchReason.GOLD_WRONG, words)
    times = [judgment.active_ms for judgment in judgments if judgment.active_ms is not None]
    if settings.min_seconds and times and median(times) < settings.min_seconds * 1000:
        words = (
            f"median active time {median(times) / 1000:.1f} s per document "
            f"(minimum {settings.min_seconds:g} s)"
        )
        return Verdict(False, BatchReason.TOO_FAST, words)
    counts = Counter(judgment.label for judgment in judgments if judgment.label is not None)
    total = sum(counts.values())
    if total >= LEAST_FOR_SHARE and max(counts.values()) > settings.max_same_share * total:
        ((label, number),) = counts.most_common(1)
        words = (
            f"label {label} in {number} of {total} labels ({settings.max_same_share:.0%} allowed)"
        )
        return Verdict(False, BatchReason.ONE_LABEL, words)
    skipped = sum(lease.state == "skipped" for lease in leases)
    if skipped > settings.max_skipped_share * len(leases):
        words = (
            f"Held for review: {skipped} of {express(len(leases), 'document')} skipped "
            f"({settings.max_skipped_share:.0%} allowed)."
        )
        return Verdict(None, BatchReason.HELD, words)
    if asked:
        return Verdict(True, BatchReason.GOLD_RIGHT, "gold right")
    if any(lease.gold_grade is not None for lease in leases):
        return Verdict(None, BatchReason.HELD, HELD)
    return Verdict(True, BatchReason.NO_GOLD, "no gold in this batch")


def explain_rejection(batch: Batch) -> str:
    """Return why a batch was not accepted, in words that its annotator may read."""
    return REJECTIONS.get(BatchReason(batch.reason_code), REJECTION_OTHERWISE)


def read_current_judgments(session: Session, leases: Sequence[Lease]) -> dict[str, Judgment]:
    """Return the judgment that counts now, by lease."""
    seqs = [lease.judgment_seq for lease in leases if lease.judgment_seq is not None]
    judgments = session.scalars(select(Judgment).where(Judgment.seq.in_(seqs)))
    return {judgment.lease_id: judgment for judgment in judgments}


def decide(
    session: Session, batch_id: str, accept: bool, reason: str, by: str | None, now: datetime
) -> list[str]:
    """Record the decision of an owner (or of a platform, without ``by``) about a batch.

    It may override an earlier decision. Where a rejected batch is accepted after others have judged
    its documents, only places that are still free are taken again; the other judgments are kept as
    surplus.

    Returns
    -------
    list of str
        Leases whose judgment does not count because its document is full.

    Raises
    ------
    NotFound
        No such batch.
    Conflict
        The batch is still open (code ``batch-open``), or a practice (``practice``).
    """
    batch = _lock_ended_batch(session, batch_id)
    if batch.kind == "practice":
        raise Conflict("A practice batch never counts.", code="practice")
    leases = session.scalars(select(Lease).where(Lease.batch_id == batch_id)).all()
    study_id = session.get_one(Campaign, batch.campaign_id).study_id
    code = BatchReason.PLATFORM if by is None else BatchReason.OWNER
    return _record_verdict(session, batch, leases, Verdict(accept, code, reason), by, study_id, now)


def _lock_ended_batch(session: Session, batch_id: str) -> Batch:
    batch = session.scalar(select(Batch).where(Batch.id == batch_id).with_for_update())
    if batch is None:
        raise NotFound("batch", batch_id)
    if batch.state == "open":
        raise Conflict("The batch is still open. Decide when it has ended.", code="batch-open")
    return batch


def _record_verdict(
    session: Session,
    batch: Batch,
    leases: Sequence[Lease],
    verdict: Verdict,
    by: str | None,
    study_id: str,
    now: datetime,
) -> list[str]:
    """Set whether a batch counts, take or free its places, and write the decision down."""
    surplus: list[str] = []
    if verdict.valid:
        out = [lease for lease in leases if lease.state in ("rejected", "surplus")]
        taken = take_places(session, [lease.task_id for lease in out if lease.task_id is not None])
        labels = read_current_judgments(session, out)
        for lease in out:
            if lease.task_id is not None and lease.task_id not in taken:
                lease.state = "surplus"
                surplus.append(lease.id)
            else:
                lease.state = "judged" if labels[lease.id].label is not None else "cannot"
    else:
        answered = [lease for lease in leases if lease.state in ("judged", "cannot", "surplus")]
        filled = [
            lease.task_id
            for lease in answered
            if lease.state != "surplus" and lease.task_id is not None
        ]
        for lease in answered:
            lease.state = "rejected"
        session.flush()
        free_places(session, filled)
    batch.valid, batch.reason_code, batch.reason = verdict.valid, verdict.code, verdict.reason
    session.add(
        Decision(
            study_id=study_id,
            kind="batch",
            subject=batch.id,
            verdict={True: "accepted", False: "rejected", None: "held"}[verdict.valid],
            reason=verdict.reason,
            facts={
                "gold_asked": batch.gold_asked,
                "gold_right": batch.gold_right,
                "surplus": len(surplus),
                "code": verdict.code,
            },
            decided_by=by,
            decided_at=now,
        )
    )
    session.flush()
    return surplus


def set_payment(
    session: Session, batch_id: str, payment: str, by: str | None, now: datetime
) -> None:
    """Set whether a batch is paid, ``approved`` or ``refused``, whether or not it counts.

    Raises
    ------
    NotFound
        No such batch.
    Conflict
        The batch is still open, or the payment is neither of the two.
    """
    batch = _lock_ended_batch(session, batch_id)
    if payment not in ("approved", "refused"):
        raise Conflict(f"`payment` must be approved or refused (got {payment!r})")
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
            decided_at=now,
        )
    )
