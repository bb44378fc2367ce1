"""The batches of a campaign that were exported to a platform: open ones, and those with answers."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.server.platforms.base import Assignment, AssignmentStatus
from venire.server.platforms.result_file import ProblemKind
from venire.server.store.judging import Batch

Problem = tuple[ProblemKind, str]
"""What is wrong, and the sentence about it."""


class ExportedBatches:
    """The batches that a campaign exported to a platform.

    Attributes
    ----------
    by_hit : dict
        HIT -> its batches, open ones first.
    by_assignment : dict
        Assignment -> the batch that its answers are in.
    """

    def __init__(self, session: Session, campaign_id: str, platform: str) -> None:
        self.by_hit: dict[str, list[Batch]] = {}
        self.by_assignment: dict[str, Batch] = {}
        for batch in session.scalars(
            select(Batch)
            .where(Batch.campaign_id == campaign_id, Batch.outside.is_not(None))
            .order_by(Batch.state.desc(), Batch.id)
        ):
            origin = batch.outside or {}
            if origin.get("platform") != platform:
                continue
            if origin.get("assignment"):
                self.by_assignment[origin["assignment"]] = batch
            self.by_hit.setdefault(origin.get("hit", ""), []).append(batch)

    def list_unanswered(self, hit: str) -> list[Batch]:
        """Return the batches of a HIT that have no assignment yet."""
        return [
            batch
            for batch in self.by_hit.get(hit, [])
            if not (batch.outside or {}).get("assignment")
        ]

    def find_problem(self, assignment: Assignment) -> Problem | None:
        """Return why an assignment that is not imported cannot be imported; None if it can."""
        if assignment.status is AssignmentStatus.NOT_SUBMITTED:
            return ProblemKind.NOT_SUBMITTED, f"its status is {assignment.status_text or 'missing'}"
        batches = self.by_hit.get(assignment.hit)
        if batches is None:
            return ProblemKind.UNKNOWN_HIT, f"{assignment.hit} was not exported by this campaign"
        if any((batch.outside or {}).get("worker") == assignment.worker for batch in batches):
            return (
                ProblemKind.WORKER_TWICE,
                f"{assignment.worker} has already answered {assignment.hit}",
            )
        if not self.list_unanswered(assignment.hit):
            text = f"all {len(batches)} batches of {assignment.hit} already have answers"
            return ProblemKind.TOO_MANY, text
        return None
