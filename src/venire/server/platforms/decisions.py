"""What to approve and reject on a platform, and which assignments are left to the owner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from venire.server.judging.review import explain_rejection
from venire.server.platforms.base import Assignment, AssignmentStatus, Decision
from venire.server.platforms.exported_batches import ExportedBatches, Problem
from venire.server.platforms.registry import load_platform
from venire.server.platforms.result_file import ProblemKind, Problems, drop_repeats
from venire.server.studies.campaigns import get_campaign


@dataclass(frozen=True)
class Decisions:
    """What to approve and reject.

    Attributes
    ----------
    file : bytes
        In the format that the platform reads.
    rows : list of dict
        ``assignment, worker, approve, counts, reason`` (for the owner), ``message`` (what the
        worker reads about a rejection).
    undecided : list of dict
        Assignments and rows that ``file`` does not mention: ``assignment, line, kind, text``.
    """

    file: bytes
    rows: list[dict[str, Any]]
    undecided: list[dict[str, Any]]


def decide_assignments(
    session: Session,
    campaign_id: str,
    platform_name: str,
    path: str,
    *,
    columns: Mapping[str, str] | None = None,
) -> Decisions:
    """Decide on every assignment of a result file, or say why not.

    Work that an owner has paid is approved and work that an owner refused to pay is rejected. All
    other work is approved if its batch counts. Assignments that the platform has decided, and those
    that were not imported, are left out. A message to a worker never mentions gold.

    Parameters
    ----------
    session : Session
    campaign_id : str
    platform_name : str
    path : str
        The result file.
    columns : mapping, optional
        The platform's name of a column -> its name in the file.

    Raises
    ------
    UnknownName
        No such platform.
    BadLine, MissingColumns
        The file cannot be read.
    """
    platform = load_platform(platform_name)
    campaign = get_campaign(session, campaign_id)
    problems = Problems()
    assignments = platform.read_results(path, columns or {}, problems)
    assignments = drop_repeats(assignments, problems)
    batches = ExportedBatches(session, campaign.id, platform.name)
    undecided = [
        _describe_undecided(
            key,
            line,
            ProblemKind.CONFLICTING,
            "Rows of this assignment contradict each other. Decide it on the platform.",
        )
        for key, line in problems.conflicting.items()
    ]
    undecided += [
        _describe_undecided(None, problem["line"], problem["kind"], problem["text"])
        for problem in problems.rows
        if problem["kind"] == ProblemKind.NO_IDS
    ]
    decisions: dict[str, Decision] = {}
    rows: list[dict[str, Any]] = []
    for assignment in assignments:
        problem = _find_problem(batches, assignment)
        if problem is not None:
            undecided.append(_describe_undecided(assignment.id, assignment.line, *problem))
            continue
        batch = batches.by_assignment[assignment.id]
        approve = batch.payment == "approved" or (batch.payment == "open" and bool(batch.valid))
        decision = Decision(approve, "" if approve else explain_rejection(batch))
        decisions[assignment.id] = decision
        rows.append(
            {
                "assignment": assignment.id,
                "worker": (batch.outside or {}).get("worker"),
                "approve": approve,
                "counts": batch.valid,
                "reason": batch.reason,
                "message": decision.message,
            }
        )
    return Decisions(platform.write_decisions(path, columns or {}, decisions), rows, undecided)


def _describe_undecided(
    assignment_id: str | None, line: Any, kind: Any, text: Any
) -> dict[str, Any]:
    return {"assignment": assignment_id, "line": line, "kind": kind, "text": text}


def _find_problem(batches: ExportedBatches, assignment: Assignment) -> Problem | None:
    """Return why nothing is decided about an assignment."""
    if assignment.status is AssignmentStatus.APPROVED:
        return ProblemKind.APPROVED_BEFORE, "Already decided on the platform. Nothing to do."
    if assignment.status is AssignmentStatus.REJECTED:
        return ProblemKind.REJECTED_BEFORE, "Already decided on the platform. Nothing to do."
    batch = batches.by_assignment.get(assignment.id)
    if batch is None or assignment.status is AssignmentStatus.NOT_SUBMITTED:
        problem = batches.find_problem(assignment)
        return problem or (
            ProblemKind.NOT_IMPORTED,
            "Not imported yet. Import the result file first.",
        )
    if batch.valid is None:
        return ProblemKind.NOT_REVIEWED, "Not reviewed yet. Accept or reject the batch first."
    return None
