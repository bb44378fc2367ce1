"""Results of a platform: answers become judgments, each assignment once."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from venire.errors import UnknownName
from venire.server.judging.events import record
from venire.server.judging.leases import free_places
from venire.server.judging.next_batch import end
from venire.server.judging.review import decide, set_payment
from venire.server.judging.rules import parse_rules
from venire.server.judging.settings import StudySettings
from venire.server.platforms import mturk, toloka
from venire.server.platforms.answers import USED, Assignment, Problems, once
from venire.server.platforms.export import PLATFORMS
from venire.server.platforms.layout import CANNOT
from venire.server.store.judging import AGAIN, Batch, BatchReason, Campaign, Lease
from venire.server.store.people import User
from venire.server.store.studies import Study
from venire.server.studies.accounts import worker_user
from venire.server.studies.campaigns import get_campaign

READERS = {"mturk": mturk.read_results, "toloka": toloka.read_results}
WRITERS = {"mturk": mturk.write_decisions, "toloka": toloka.write_decisions}


@dataclass(frozen=True)
class Imported:
    """What an import did.

    Attributes
    ----------
    counts : dict
        ``rows`` in the file: MTurk has one an assignment, Toloka one an answer; ``repeated`` ones
        (an assignment, or an answer of it, again) and those ``without_ids``. ``assignments``
        in the file, which are ``imported``, ``already`` there before, or ``unused``;
        ``judgments``, ``cannot`` (judge), ``unanswered`` documents, which are free again;
        ``accepted`` and ``rejected`` batches, of those imported.
    problems : list of dict
        ``kind, line, text``: all that was not used, and why.
    """

    counts: dict[str, int]
    problems: list[dict[str, object]]


def read_results(
    session: Session,
    campaign_id: str,
    platform: str,
    path: str,
    columns: Mapping[str, str] | None,
) -> tuple[Campaign, Problems, list[Assignment]]:
    """The campaign, and the assignments of a platform's result file with what is wrong in it."""
    if platform not in PLATFORMS:
        raise UnknownName("platform", platform, PLATFORMS)
    campaign = get_campaign(session, campaign_id)
    problems = Problems()
    return campaign, problems, READERS[platform](path, columns or {}, problems)


def import_results(
    session: Session,
    campaign_id: str,
    platform: str,
    path: str,
    at: datetime,
    *,
    columns: Mapping[str, str] | None = None,
) -> Imported:
    """Take a result file in; what was taken before changes nothing.

    Each assignment fills one of the batches that were exported for its HIT and is reviewed by the
    campaign's rules at once: gold, speed, one label. A document without an answer, or with a label
    that is no grade of the study, is free again. Work that the platform's owner rejected does not
    count, and its documents are free again.

    Parameters
    ----------
    session : Session
    campaign_id : str
    platform : "mturk" or "toloka"
    path : str
    at : datetime
    columns : mapping, optional
        The platform's name of a column -> its name in the file.

    Raises
    ------
    BadLine, MissingColumns
        The file cannot be read; nothing is taken in then.
    """
    campaign, problems, found = read_results(session, campaign_id, platform, path, columns)
    counts: Counter[str] = Counter(dict.fromkeys(_COUNTS, 0))
    names = {one.id for one in found} | set(problems.unread)
    counts["rows"], counts["without_ids"] = problems.lines, problems.nameless
    counts["assignments"] = len(names)
    again = problems.counts.get("repeated assignment", 0)
    counts["repeated"] = again + len(found) - len({one.id for one in found})
    desk = Desk(session, campaign, platform, problems, counts, at)
    for one in once(found, problems):
        desk.take(one)
    counts["unused"] = counts["assignments"] - counts["imported"] - counts["already"]
    return Imported(dict(counts), problems.rows)


_COUNTS = (
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


class Desk:
    """The batches that wait for answers, and those that have theirs.

    Parameters
    ----------
    session, campaign, platform, problems, counts, at
        As of the import.
    """

    def __init__(
        self,
        session: Session,
        campaign: Campaign,
        platform: str,
        problems: Problems,
        counts: Counter[str],
        at: datetime,
    ) -> None:
        self.session, self.campaign, self.at = session, campaign, at
        self.problems, self.counts = problems, counts
        study = session.get_one(Study, campaign.study_id)
        self.rules = parse_rules(campaign, study)
        self.settings = self.rules.study
        self.waiting: dict[str, list[Batch]] = {}
        self.done: dict[str, Batch] = {}
        for batch in session.scalars(
            select(Batch)
            .where(Batch.campaign_id == campaign.id, Batch.outside.is_not(None))
            .order_by(Batch.state.desc(), Batch.id)
        ):
            about = batch.outside or {}
            if about.get("platform") != platform:
                continue
            if about.get("assignment"):
                self.done[about["assignment"]] = batch
            self.waiting.setdefault(about.get("hit", ""), []).append(batch)

    def take(self, one: Assignment) -> None:
        """Take one assignment in, or say why not."""
        known = self.done.get(one.id)
        if known is not None:
            self.counts["already"] += 1
            self._status(known, one.status)
            return
        refused = self.refused(one)
        if refused is not None:
            self._not(*refused, one)
            return
        user = worker_user(self.session, self.campaign, one.worker)
        open_one = self.session.scalar(
            select(Batch.id).where(
                Batch.campaign_id == self.campaign.id,
                Batch.annotator_id == user.id,
                Batch.state == "open",
            )
        )
        if open_one is not None:
            text = f"{one.worker} has a batch open in the pages; import again later"
            self._not("worker at work", text, one)
            return
        self._fill(self._free(one)[0], user, one)

    def _free(self, one: Assignment) -> list[Batch]:
        there = self.waiting.get(one.hit, [])
        return [batch for batch in there if not (batch.outside or {}).get("assignment")]

    def refused(self, one: Assignment) -> tuple[str, str] | None:
        """The kind and the words of why an assignment that is not here yet cannot come in."""
        if one.status not in USED:
            return "not handed in", f"its status is {one.status or 'missing'}"
        there = self.waiting.get(one.hit)
        if there is None:
            return "unknown HIT", f"{one.hit} was not exported here"
        if any((batch.outside or {}).get("worker") == one.worker for batch in there):
            return "worker twice", f"{one.worker} has answered {one.hit} already"
        if not self._free(one):
            return "too many assignments", f"all {len(there)} batches of {one.hit} are answered"
        return None

    def _not(self, kind: str, text: str, one: Assignment) -> None:
        self.problems.add(kind, one.line, f"{one.id}: {text}; not used")

    def _fill(self, batch: Batch, user: User, one: Assignment) -> None:
        leases = list(
            self.session.scalars(
                select(Lease).where(Lease.batch_id == batch.id).order_by(Lease.position)
            )
        )
        events = self._events(batch, leases, one, self._met(user, leases))
        nobody = batch.annotator_id
        batch.annotator_id = user.id
        for lease in leases:
            lease.annotator_id = user.id
        batch.outside = {
            **(batch.outside or {}),
            "assignment": one.id,
            "worker": one.worker,
            "status": one.status,
        }
        self.session.flush()
        placeholder = self.session.get(User, nobody)
        if placeholder is not None and placeholder.worker is None and placeholder.login is None:
            self.session.delete(placeholder)
        self.done[one.id] = batch
        answers = record(self.session, batch.id, user.id, events, self.at) if events else []
        for answer in answers:
            if answer["status"] != "saved":
                self.problems.add("answer refused", one.line, f"{one.id}: {answer['reason']}")
        self._finish(batch, user)
        self.counts["imported"] += 1
        states = Counter(lease.state for lease in leases)
        labelled = [event for event in events if event["kind"] == "label"]
        refused = sum(answer["status"] != "saved" for answer in answers)
        self.counts["judgments"] += len(labelled) - refused
        self.counts["cannot"] += len(events) - len(labelled)
        self.counts["unanswered"] += states["expired"] + states["returned"]
        self._status(batch, one.status)
        if batch.valid is not None:
            self.counts["accepted" if batch.valid else "rejected"] += 1
        elif batch.reason_code == BatchReason.HELD:
            self.counts["held"] += 1

    def _met(self, user: User, leases: list[Lease]) -> set[str]:
        """Take documents away that this worker has judged in another batch; say which."""
        tasks = [lease.task_id for lease in leases if lease.task_id is not None]
        before = set(
            self.session.scalars(
                select(Lease.task_id).where(
                    Lease.task_id.in_(tasks),
                    Lease.annotator_id == user.id,
                    Lease.state.not_in(AGAIN),
                )
            )
        )
        again = [lease for lease in leases if lease.task_id in before and lease.task_id is not None]
        live = [lease for lease in again if lease.state == "live"]
        for lease in again:
            lease.state = "returned" if lease.state == "live" else lease.state
            lease.ended_at = self.at
        self.session.flush()
        free_places(self.session, [lease.task_id for lease in live if lease.task_id is not None])
        return {lease.id for lease in again}

    def _events(
        self, batch: Batch, leases: list[Lease], one: Assignment, met: set[str]
    ) -> list[dict[str, Any]]:
        ms = None if one.seconds is None else int(one.seconds * 1000 / max(len(one.labels), 1))
        events: list[dict[str, Any]] = []
        by_position = {lease.position + 1: lease for lease in leases}
        for position, text in sorted(one.labels.items()):
            lease = by_position.get(position)
            if lease is None:
                self.problems.add(
                    "unknown document", one.line, f"{one.id}: the HIT has no document {position}"
                )
                continue
            if lease.id in met:
                self.problems.add(
                    "judged before",
                    one.line,
                    f"{one.id}: {one.worker} has judged document {position} in "
                    "another HIT; not used",
                )
                continue
            event: dict[str, Any] = {
                "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"venire:{batch.id}:{one.id}:{position}")),
                "lease": lease.id,
                "active_ms": ms,
                "at": None if one.submitted_at is None else one.submitted_at.isoformat(),
            }
            label = _grade(text, self.settings)
            reason = text.removeprefix(CANNOT)
            if label is not None:
                events.append({**event, "kind": "label", "label": label})
            elif text.startswith(CANNOT) and reason in self.settings.cannot_judge:
                events.append({**event, "kind": "cannot", "reason": reason})
            else:
                self.problems.add(
                    "label outside the scale",
                    one.line,
                    f"{one.id}: document {position} has {text!r}; not used",
                )
        missing = len(leases) - len(one.labels)
        if missing > 0:
            self.problems.add(
                "missing answers",
                one.line,
                f"{one.id}: {missing} of {len(leases)} documents have no answer",
            )
        return events

    def _finish(self, batch: Batch, user: User) -> None:
        """Finish a batch that is answered in full; end one that is not and review the rest."""
        if batch.state != "open":
            return
        left = self.session.scalar(
            select(Lease.id).where(Lease.batch_id == batch.id, Lease.state == "live").limit(1)
        )
        if left is not None:
            end(self.session, batch, "expired", self.rules, self.at)
            return
        done = {
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"venire:{batch.id}:finish")),
            "kind": "finish",
        }
        record(self.session, batch.id, user.id, [done], self.at)

    def _status(self, batch: Batch, status: str) -> None:
        """Keep what the platform's owner decided there: payment, and no use of rejected work."""
        wanted = {"approved": "approved", "rejected": "refused"}.get(status)
        if wanted is None or batch.payment == wanted or batch.state == "open":
            return
        set_payment(self.session, batch.id, wanted, None, self.at)
        batch.outside = {**(batch.outside or {}), "status": status}
        if wanted == "refused" and batch.valid:
            decide(self.session, batch.id, False, "rejected on the platform", None, self.at)
        self.session.flush()


def _grade(text: str, settings: StudySettings) -> int | None:
    """A grade of the study, written as a whole number; nothing else is one."""
    return next((value for value in settings.values if str(value) == text), None)
