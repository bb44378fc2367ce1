"""Toloka: task suites in TSV, result files, verdict files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape

from venire.server.platforms.base import (
    CANNOT,
    Assignment,
    AssignmentStatus,
    Decision,
    Hit,
    StudyTexts,
    TaskFile,
    WorkerLink,
)
from venire.server.platforms.result_file import (
    ProblemKind,
    Problems,
    check_columns,
    parse_time,
    read_rows,
)

_IDS = ("ASSIGNMENT:assignment_id", "ASSIGNMENT:worker_id", "INPUT:hit", "INPUT:position")
_TIMES = ("ASSIGNMENT:started", "ASSIGNMENT:submitted")
Cells = dict[str, str]


class Toloka:
    """Toloka."""

    name = "toloka"
    label = "Toloka"
    task_columns = ("INPUT:hit", "INPUT:position", "INPUT:topic", "INPUT:document")
    task_suffix = ".tsv"
    size_limit: int | None = None
    result_columns = (
        "INPUT:hit",
        "INPUT:position",
        "OUTPUT:grade",
        "ASSIGNMENT:assignment_id",
        "ASSIGNMENT:worker_id",
        "ASSIGNMENT:status",
    )
    marker_column = "ASSIGNMENT:assignment_id"
    worker_link: WorkerLink | None = None

    def write_tasks(self, hits: Sequence[Hit], texts: StudyTexts) -> TaskFile:
        """Return the task file: one row per document, an empty line between task suites."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
        writer.writerow(self.task_columns)
        for number, hit in enumerate(hits):
            if number:
                buffer.write("\n")
            writer.writerows(
                (hit.id, position, _write_topic(question.topic), question.document)
                for position, question in enumerate(hit.questions, 1)
            )
        return TaskFile(buffer.getvalue().encode())

    def write_layout(self, texts: StudyTexts) -> bytes:
        """Return the HTML block of a project: one document with its grades as radio buttons."""
        choices = "".join(
            f'{{{{field type="radio" name="grade" value="{grade["value"]}" '
            f'label="{escape(grade["name"], quote=True)}" hotkey="{escape(grade["key"])}"}}}}\n'
            for grade in texts.grades
        )
        choices += "".join(
            f'{{{{field type="radio" name="grade" value="{escape(CANNOT + reason, quote=True)}" '
            f'label="Cannot judge: {escape(reason, quote=True)}"}}}}\n'
            for reason in texts.reasons
        )
        page = f"<div>{{{{{{topic}}}}}}</div>\n<div>{{{{{{document}}}}}}</div>\n{choices}"
        return page.encode()

    def read_results(
        self, path: str, columns: Mapping[str, str], problems: Problems
    ) -> list[Assignment]:
        """Read a result file: one row per answer."""
        present, rows = read_rows(path)
        names = {name: columns.get(name, name) for name in (*self.result_columns, *_TIMES)}
        check_columns(present, [names[name] for name in self.result_columns], path, self)
        problems.row_count = len(rows)
        answers: dict[str, list[tuple[int, Cells]]] = {}
        for line, row in rows:
            cells = {name: row.get(names[name], "").strip() for name in names}
            missing = [_short(name) for name in _IDS if not cells[name]]
            if missing:
                problems.add(ProblemKind.NO_IDS, line, f"no {', '.join(missing)}; not used")
            elif not cells["INPUT:position"].isdecimal():
                text = f"position {cells['INPUT:position']!r}; not used"
                problems.add(ProblemKind.NO_IDS, line, text)
            else:
                answers.setdefault(cells["ASSIGNMENT:assignment_id"], []).append((line, cells))
        assignments = (_read_assignment(key, rows, problems) for key, rows in answers.items())
        return [assignment for assignment in assignments if assignment is not None]

    def write_decisions(
        self, path: str, columns: Mapping[str, str], decisions: Mapping[str, Decision]
    ) -> bytes:
        """Return the file of reviewed assignments: identifier, ``+`` or ``-``, and why."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter="\t", lineterminator="\n")
        writer.writerow(["ASSIGNMENT:assignment_id", "ACCEPT:verdict", "ACCEPT:comment"])
        for assignment_id, decision in decisions.items():
            verdict, comment = ("+", "") if decision.approve else ("-", decision.message)
            writer.writerow([assignment_id, verdict, comment])
        return buffer.getvalue().encode()


def _write_topic(topic: Mapping[str, str]) -> str:
    parts = [topic["title"], topic["description"], topic["narrative"]]
    return "<br>".join(escape(" ".join(part.split())) for part in parts if part)


def _short(column: str) -> str:
    return column.partition(":")[2]


def _read_assignment(
    key: str, rows: list[tuple[int, Cells]], problems: Problems
) -> Assignment | None:
    """Return an assignment from its rows, None if they contradict each other."""
    first_line, first = rows[0]
    labels: dict[int, str] = {}
    for line, cells in rows:
        for name in ("INPUT:hit", "ASSIGNMENT:worker_id"):
            if cells[name] != first[name]:
                problems.add_conflict(key, line, f"{_short(name)} differs from line {first_line}")
                return None
        position, label = int(cells["INPUT:position"]), cells["OUTPUT:grade"]
        if labels.get(position, label) != label:
            problems.add_conflict(key, line, f"document {position} has two different grades")
            return None
        if position in labels:
            text = f"{key}: document {position} listed again; counted once"
            problems.add(ProblemKind.REPEATED, line, text)
        if label:
            labels[position] = label
    submitted = parse_time(first["ASSIGNMENT:submitted"])
    return Assignment(
        id=key,
        worker=first["ASSIGNMENT:worker_id"],
        hit=first["INPUT:hit"],
        status=AssignmentStatus.parse(first["ASSIGNMENT:status"]),
        line=first_line,
        labels=labels,
        seconds=_count_seconds(parse_time(first["ASSIGNMENT:started"]), submitted),
        submitted_at=submitted,
        status_text=first["ASSIGNMENT:status"],
    )


def _count_seconds(start: datetime | None, end: datetime | None) -> float | None:
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()
