"""Amazon Mechanical Turk: task files in CSV, result files, decision files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence

from venire.server.platforms.base import (
    Assignment,
    AssignmentStatus,
    Decision,
    Hit,
    StudyTexts,
    TaskFile,
    WorkerLink,
)
from venire.server.platforms.mturk_page import write_page, write_question
from venire.server.platforms.result_file import (
    ProblemKind,
    Problems,
    check_columns,
    parse_seconds,
    parse_time,
    read_rows,
)

_ANSWER = re.compile(r"Answer\.grade_(\d+)$")


class MTurk:
    """Amazon Mechanical Turk."""

    name = "mturk"
    label = "MTurk"
    task_columns = ("hit", "documents")
    task_suffix = ".csv"
    size_limit: int | None = 65_535
    result_columns = ("AssignmentId", "WorkerId", "AssignmentStatus", "Input.hit")
    marker_column = "AssignmentId"
    worker_link: WorkerLink | None = WorkerLink(
        worker=("workerId",),
        assignment=("assignmentId", "assignment_id"),
        preview="ASSIGNMENT_ID_NOT_AVAILABLE",
    )

    def write_tasks(self, hits: Sequence[Hit], texts: StudyTexts) -> TaskFile:
        """Return the input file of a batch: one row per HIT, its documents as HTML."""
        layout = write_page(texts)
        rows = [(hit.id, self._write_documents(hit, texts)) for hit in hits]
        too_large = sum(
            len((layout + documents).encode()) > (self.size_limit or 0) for _, documents in rows
        )
        return TaskFile(_write_csv(self.task_columns, rows), too_large)

    def _write_documents(self, hit: Hit, texts: StudyTexts) -> str:
        total = len(hit.questions)
        return "".join(
            write_question(position, total, question, texts)
            for position, question in enumerate(hit.questions, 1)
        )

    def write_layout(self, texts: StudyTexts) -> bytes:
        """Return the layout of the project."""
        return write_page(texts).encode()

    def read_results(
        self, path: str, columns: Mapping[str, str], problems: Problems
    ) -> list[Assignment]:
        """Read a result file ("Download CSV" of a batch): one row per assignment.

        Raises
        ------
        MissingColumns
            Also if there is no column ``Answer.grade_1``.
        """
        present, rows = read_rows(path)
        names = {
            name: columns.get(name, name)
            for name in (*self.result_columns, "WorkTimeInSeconds", "SubmitTime")
        }
        check_columns(present, [names[name] for name in self.result_columns], path, self)
        problems.row_count = len(rows)
        answers = {int(match[1]): name for name in present if (match := _ANSWER.match(name))}
        if not answers:
            check_columns(present, ["Answer.grade_1"], path, self)
        assignments = []
        for line, row in rows:
            cells = {name: row.get(names[name], "").strip() for name in names}
            missing = [
                name for name in ("AssignmentId", "WorkerId", "Input.hit") if not cells[name]
            ]
            if missing:
                problems.add(ProblemKind.NO_IDS, line, f"no {', '.join(missing)}; not used")
                continue
            labels = {position: row[name].strip() for position, name in answers.items()}
            assignments.append(
                Assignment(
                    id=cells["AssignmentId"],
                    worker=cells["WorkerId"],
                    hit=cells["Input.hit"],
                    status=AssignmentStatus.parse(cells["AssignmentStatus"]),
                    line=line,
                    labels={position: label for position, label in labels.items() if label},
                    seconds=parse_seconds(cells["WorkTimeInSeconds"]),
                    submitted_at=parse_time(cells["SubmitTime"]),
                    status_text=cells["AssignmentStatus"],
                )
            )
        return assignments

    def write_decisions(
        self, path: str, columns: Mapping[str, str], decisions: Mapping[str, Decision]
    ) -> bytes:
        """Return the result file with ``Approve`` and ``Reject`` filled in, ready for upload."""
        present, rows = read_rows(path)
        key = columns.get("AssignmentId", "AssignmentId")
        check_columns(present, [key], path, self)
        own_names = {renamed: name for name, renamed in columns.items()}
        names = [*present, *(name for name in ("Approve", "Reject") if name not in present)]
        left = dict(decisions)
        decided = []
        for _, row in rows:
            decision = left.pop(row[key].strip(), None)
            if decision is None:
                continue
            row = {
                **row,
                "Approve": "x" if decision.approve else "",
                "Reject": "" if decision.approve else decision.message,
            }
            decided.append([row.get(name, "") for name in names])
        return _write_csv([own_names.get(name, name) for name in names], decided)


def _write_csv(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    writer.writerows(rows)
    return buffer.getvalue().encode()
