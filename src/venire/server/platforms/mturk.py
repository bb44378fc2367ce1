"""Amazon Mechanical Turk: batches as CSV, its result files, and what to approve."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence

from venire.server.platforms.answers import Assignment, Problems, need, number, read_lines, when

NEEDED = ("AssignmentId", "WorkerId", "AssignmentStatus", "Input.hit")
_ANSWER = re.compile(r"Answer\.grade_(\d+)$")


def write_hits(hits: Sequence[tuple[str, str]]) -> bytes:
    """Return the input file: ``hit`` and the ``documents`` as HTML, one line a HIT."""
    return _csv(["hit", "documents"], hits)


def read_results(path: str, columns: Mapping[str, str], problems: Problems) -> list[Assignment]:
    """Read a result file ("Download CSV" of a batch), whatever the order of its columns.

    Parameters
    ----------
    path : str
    columns : mapping
        MTurk's name of a column -> its name in the file, where it was renamed.
    problems : Problems
        Takes what was wrong with rows.

    Raises
    ------
    MissingColumns
        Also where there is no column ``Answer.grade_1``.
    """
    there, rows = read_lines(path)
    theirs = {
        name: columns.get(name, name) for name in (*NEEDED, "WorkTimeInSeconds", "SubmitTime")
    }
    need(there, [theirs[name] for name in NEEDED], path, "mturk")
    problems.lines = len(rows)
    answers = {int(found[1]): name for name in there if (found := _ANSWER.match(name))}
    if not answers:
        need(there, ["Answer.grade_1"], path, "mturk")
    out = []
    for line, row in rows:
        cell = {name: row.get(theirs[name], "").strip() for name in theirs}
        missing = [name for name in ("AssignmentId", "WorkerId", "Input.hit") if not cell[name]]
        if missing:
            problems.no_ids(line, f"no {', '.join(missing)}")
            continue
        out.append(
            Assignment(
                id=cell["AssignmentId"],
                worker=cell["WorkerId"],
                hit=cell["Input.hit"],
                status=cell["AssignmentStatus"].lower(),
                line=line,
                labels={at: row[name].strip() for at, name in answers.items() if row[name].strip()},
                seconds=number(cell["WorkTimeInSeconds"]),
                submitted_at=when(cell["SubmitTime"]),
            )
        )
    return out


def write_decisions(
    path: str, columns: Mapping[str, str], decisions: Mapping[str, tuple[bool, str]]
) -> bytes:
    """Return the result file with ``Approve`` and ``Reject`` filled in, ready to be uploaded.

    Parameters
    ----------
    path : str
        The result file.
    columns : mapping
        MTurk's name of a column -> its name in the file, where it was renamed.
    decisions : mapping
        Assignment -> (approve, what the worker is told of a rejection).
    """
    there, rows = read_lines(path)
    key = columns.get("AssignmentId", "AssignmentId")
    need(there, [key], path, "mturk")
    theirs = {name: ours for ours, name in columns.items()}
    names = [*there, *(name for name in ("Approve", "Reject") if name not in there)]
    left = dict(decisions)
    out = []
    for _, row in rows:
        found = left.pop(row[key].strip(), None)
        if found is None:
            continue
        approve, reason = found
        row = {**row, "Approve": "x" if approve else "", "Reject": "" if approve else reason}
        out.append([row.get(name, "") for name in names])
    return _csv([theirs.get(name, name) for name in names], out)


def _csv(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue().encode()
