"""Import the results of a platform: answers become judgments, each assignment once."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.formats.study_settings import StudySettings
from venire.server.judging.events import record
from venire.server.judging.leases import free_places
from venire.server.judging.next_batch import end, has_open_batch
from venire.server.judging.review import decide, set_payment
from venire.server.judging.rules import read_rules
from venire.server.platforms.base import CANNOT, Assignment, AssignmentStatus
from venire.server.platforms.exported_batches import ExportedBatches
from venire.server.platforms.registry import load_platform
from venire.server.platforms.result_file import ProblemKind, Problems, drop_repeats
from venire.server.store.judging import AGAIN, Batch, BatchReason, Campaign, Lease
from venire.server.store.people import User
from venire.server.studies.campaigns import get_campaign
from venire.server.studies.workers import add_worker, find_worker

COUNTS = (
    "rows",
    "repeated",
    "without_ids",
    "assignments",
    "imported",
    "already",
    "unused",
    "judgments",
    "cannot",
    "unanswered",
    "accepted",
    "rejected",
    "held",
)


@dataclass(frozen=True)
class ResultImport:
    """What an import did.

    Attributes
    ----------
    counts : dict
        ``rows`` of the file (MTurk: one per assignment; Toloka: one per answer), of which
        ``repeated`` and ``without_ids``; ``assignments`` of the file, of which ``imported``,
        ``already`` imported before, and ``unused``; ``judgments``, ``cannot`` (cannot judge) and
        ``unanswered`` documents, which are free again; ``accepted``, ``rejected`` and ``held``
        batches among those imported.
    problems : list of dict
        ``kind, line, text``: everything that was not used, and why.
    """

    counts: dict[str, int]
    problems: list[dict[str, object]]


def import_results(
    session: Session,
    campaign_id: str,
    platform_name: str,
    path: str,
    now: datetime,
    *,
    columns: Mapping[str, str] | None = None,
) -> ResultImport:
    """Import a result file; what was imported before changes nothing.

    Each assignment fills one of the batches that were exported for its HIT. The batch is reviewed
    at once by the campaign's rules for gold, speed and single labels. A document without an answer,
    or with a label that is not on the scale, is free again. Work that was rejected on the platform
    does not count, and its documents are free again.

    Parameters
    ----------
    session : Session
    campaign_id : str
    platform_name : str
        A name of :func:`venire.server.platforms.registry.list_platforms`.
    path : str
        The result file.
    now : datetime
    columns : mapping, optional
        The platform's name of a column -> its name in the file.

    Raises
    ------
    UnknownName
        No such platform.
    BadLine, MissingColumns
        The file cannot be read; nothing is imported.
    """
    platform = load_platform(platform_name)
    campaign = get_campaign(session, campaign_id)
    problems = Problems()
    listed = platform.read_results(path, columns or {}, problems)
    ids = {assignment.id for assignment in listed}
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    counts["rows"] = problems.row_count
    counts["without_ids"] = problems.count(ProblemKind.NO_IDS)
    counts["assignments"] = len(ids | set(problems.conflicting))
    counts["repeated"] = problems.count(ProblemKind.REPEATED) + len(listed) - len(ids)
    batches = ExportedBatches(session, campaign.id, platform.name)
    importer = _Importer(session, campaign, batches, problems, counts, now)
    for assignment in drop_repeats(listed, problems):
        importer.import_assignment(assignment)
    counts["unused"] = counts["assignments"] - counts["imported"] - counts["already"]
    return ResultImport(dict(counts), problems.rows)


class _Importer:
    """Fills batches with assignments; counts what it did, and records what is wrong."""

    def __init__(
        self,
        session: Session,
        campaign: Campaign,
        batches: ExportedBatches,
        problems: Problems,
        counts: Counter[str],
        now: datetime,
    ) -> None:
        self.session, self.campaign, self.batches, self.now = session, campaign, batches, now
        self.problems, self.counts = problems, counts
        self.rules = read_rules(session, campaign.id)

    def import_assignment(self, assignment: Assignment) -> None:
        """Import an assignment, or record why not."""
        batch = self.batches.by_assignment.get(assignment.id)
        if batch is not None:
            self.counts["already"] += 1
            self._apply_status(batch, assignment.status)
            return
        problem = self.batches.find_problem(assignment)
        if problem is not None:
            self._add_problem(problem[0], assignment, f"{problem[1]}; not used")
            return
        user = find_worker(self.session, self.campaign, assignment.worker) or add_worker(
            self.session, self.campaign, assignment.worker
        )
        if has_open_batch(self.session, self.campaign.id, user.id):
            text = f"{assignment.worker} has an open batch on this server; import again later"
            self._add_problem(ProblemKind.WORKER_BUSY, assignment, f"{text}; not used")
            return
        self._fill(self.batches.list_unanswered(assignment.hit)[0], user, assignment)

    def _add_problem(self, kind: ProblemKind, assignment: Assignment, text: str) -> None:
        self.problems.add(kind, assignment.line, f"{assignment.id}: {text}")

    def _fill(self, batch: Batch, user: User, assignment: Assignment) -> None:
        leases = list(
            self.session.scalars(
                select(Lease).where(Lease.batch_id == batch.id).order_by(Lease.position)
            )
        )
        judged_before = self._return_judged_before(user, leases)
        events = self._list_events(batch, leases, assignment, judged_before)
        self._assign(batch, leases, user, assignment)
        answers = record(self.session, batch.id, user.id, events, self.now) if events else []
        refused = [answer for answer in answers if answer["status"] != "saved"]
        for answer in refused:
            self._add_problem(ProblemKind.REFUSED, assignment, str(answer["reason"]))
        self._finish(batch, user)
        self.counts["imported"] += 1
        states = Counter(lease.state for lease in leases)
        labels = sum(event["kind"] == "label" for event in events)
        self.counts["judgments"] += labels - len(refused)
        self.counts["cannot"] += len(events) - labels
        self.counts["unanswered"] += states["expired"] + states["returned"]
        self._apply_status(batch, assignment.status)
        if batch.valid is not None:
            self.counts["accepted" if batch.valid else "rejected"] += 1
        elif batch.reason_code == BatchReason.HELD:
            self.counts["held"] += 1

    def _assign(
        self, batch: Batch, leases: list[Lease], user: User, assignment: Assignment
    ) -> None:
        """Give a batch to a worker in place of its placeholder."""
        placeholder = self.session.get(User, batch.annotator_id)
        batch.annotator_id = user.id
        for lease in leases:
            lease.annotator_id = user.id
        batch.outside = {
            **(batch.outside or {}),
            "assignment": assignment.id,
            "worker": assignment.worker,
            "status": assignment.status.value,
        }
        self.session.flush()
        if placeholder is not None and placeholder.worker is None and placeholder.login is None:
            self.session.delete(placeholder)
        self.batches.by_assignment[assignment.id] = batch

    def _return_judged_before(self, user: User, leases: list[Lease]) -> set[str]:
        """Return leases of documents that the worker has judged in another batch; list them."""
        tasks = [lease.task_id for lease in leases if lease.task_id is not None]
        judged = set(
            self.session.scalars(
                select(Lease.task_id).where(
                    Lease.task_id.in_(tasks),
                    Lease.annotator_id == user.id,
                    Lease.state.not_in(AGAIN),
                )
            )
        )
        repeated = [
            lease for lease in leases if lease.task_id in judged and lease.task_id is not None
        ]
        live = [lease for lease in repeated if lease.state == "live"]
        for lease in repeated:
            lease.state = "returned" if lease.state == "live" else lease.state
            lease.ended_at = self.now
        self.session.flush()
        free_places(self.session, [lease.task_id for lease in live if lease.task_id is not None])
        return {lease.id for lease in repeated}

    def _list_events(
        self, batch: Batch, leases: list[Lease], assignment: Assignment, judged_before: set[str]
    ) -> list[dict[str, Any]]:
        """Return the answers of an assignment as events of a browser."""
        ms = None
        if assignment.seconds is not None:
            ms = int(assignment.seconds * 1000 / max(len(assignment.labels), 1))
        time = assignment.submitted_at
        events: list[dict[str, Any]] = []
        by_position = {lease.position + 1: lease for lease in leases}
        for position, text in sorted(assignment.labels.items()):
            lease = by_position.get(position)
            if lease is None:
                problem = f"HIT has no document {position}"
                self._add_problem(ProblemKind.UNKNOWN_DOCUMENT, assignment, problem)
                continue
            if lease.id in judged_before:
                problem = (
                    f"{assignment.worker} has judged document {position} in another HIT; not used"
                )
                self._add_problem(ProblemKind.JUDGED_BEFORE, assignment, problem)
                continue
            answer = _parse_answer(text, self.rules.study)
            if answer is None:
                problem = f"document {position} has {text!r}; not used"
                self._add_problem(ProblemKind.OFF_SCALE, assignment, problem)
                continue
            name = f"venire:{batch.id}:{assignment.id}:{position}"
            events.append(
                {
                    "id": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
                    "lease": lease.id,
                    "active_ms": ms,
                    "at": None if time is None else time.isoformat(),
                    **answer,
                }
            )
        missing = len(leases) - len(assignment.labels)
        if missing > 0:
            problem = f"{missing} of {len(leases)} documents have no answer"
            self._add_problem(ProblemKind.MISSING_ANSWERS, assignment, problem)
        return events

    def _finish(self, batch: Batch, user: User) -> None:
        """Finish a batch with all answers; end any other, so that its answers are reviewed."""
        if batch.state != "open":
            return
        live = self.session.scalar(
            select(Lease.id).where(Lease.batch_id == batch.id, Lease.state == "live").limit(1)
        )
        if live is not None:
            end(self.session, batch, "expired", self.rules, self.now)
            return
        finish = {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"venire:{batch.id}:finish")),
            "kind": "finish",
        }
        record(self.session, batch.id, user.id, [finish], self.now)

    def _apply_status(self, batch: Batch, status: AssignmentStatus) -> None:
        """Store what was paid on the platform; work that was rejected there does not count."""
        payment = _PAYMENTS.get(status)
        if payment is None or batch.payment == payment or batch.state == "open":
            return
        set_payment(self.session, batch.id, payment, None, self.now)
        batch.outside = {**(batch.outside or {}), "status": status.value}
        if payment == "refused" and batch.valid:
            decide(self.session, batch.id, False, "rejected on the platform", None, self.now)
        self.session.flush()


_PAYMENTS = {AssignmentStatus.APPROVED: "approved", AssignmentStatus.REJECTED: "refused"}


def _parse_answer(text: str, settings: StudySettings) -> dict[str, Any] | None:
    """Return an answer as the fields of an event, None for one that the study does not offer."""
    for value in settings.values:
        if str(value) == text:
            return {"kind": "label", "label": value}
    reason = text.removeprefix(CANNOT)
    if text.startswith(CANNOT) and reason in settings.cannot_judge:
        return {"kind": "cannot", "reason": reason}
    return None
