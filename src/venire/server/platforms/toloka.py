"""Toloka: task suites as TSV, its result files, and what to accept."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime

from venire.server.platforms.answers import Assignment, Problems, need, read_lines, when

NEEDED = (
    "INPUT:hit",
    "INPUT:position",
    "OUTPUT:grade",
    "ASSIGNMENT:assignment_id",
    "ASSIGNMENT:worker_id",
    "ASSIGNMENT:status",
)
_TIMES = ("ASSIGNMENT:started", "ASSIGNMENT:submitted")


def write_tasks(suites: Sequence[Sequence[tuple[str, int, str, str]]]) -> bytes:
    """Return the input file: a row a document, an empty line between task suites.

    Parameters
    ----------
    suites : sequence of sequence of (hit, position, topic, document)
        Topic and document as HTML.
    """
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(["INPUT:hit", "INPUT:position", "INPUT:topic", "INPUT:document"])
    for number, suite in enumerate(suites):
        if number:
            out.write("\n")
        writer.writerows(suite)
    return out.getvalue().encode()


def read_results(path: str, columns: Mapping[str, str], problems: Problems) -> list[Assignment]:
    """Read a result file, a row an answer; arguments as for MTurk's."""
    there, rows = read_lines(path)
    theirs = {name: columns.get(name, name) for name in (*NEEDED, *_TIMES)}
    need(there, [theirs[name] for name in NEEDED], path, "toloka")
    problems.lines = len(rows)
    grouped: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for line, row in rows:
        cell = {name: row.get(theirs[name], "").strip() for name in theirs}
        missing = [
            name.partition(":")[2]
            for name in (
                "ASSIGNMENT:assignment_id",
                "ASSIGNMENT:worker_id",
                "INPUT:hit",
                "INPUT:position",
            )
            if not cell[name]
        ]
        if missing:
            problems.no_ids(line, f"no {', '.join(missing)}")
        elif not cell["INPUT:position"].isdecimal():
            problems.no_ids(line, f"position {cell['INPUT:position']!r}")
        else:
            grouped.setdefault(cell["ASSIGNMENT:assignment_id"], []).append((line, cell))
    return [one for key, cells in grouped.items() if (one := _one(key, cells, problems))]


def _one(
    key: str, cells: list[tuple[int, dict[str, str]]], problems: Problems
) -> Assignment | None:
    line, first = cells[0]
    labels: dict[int, str] = {}
    for at, cell in cells:
        for name in ("INPUT:hit", "ASSIGNMENT:worker_id"):
            if cell[name] != first[name]:
                problems.add(
                    "conflicting assignment",
                    at,
                    f"{key}: {name.partition(':')[2]} differs from line {line}; not used",
                )
                problems.unread[key] = at
                return None
        position, label = int(cell["INPUT:position"]), cell["OUTPUT:grade"]
        if labels.get(position, label) != label:
            problems.add(
                "conflicting assignment",
                at,
                f"{key} answers document {position} twice, with other grades; not used",
            )
            problems.unread[key] = at
            return None
        if position in labels:
            problems.add("repeated assignment", at, f"{key}: document {position} again; taken once")
        if label:
            labels[position] = label
    submitted = when(first["ASSIGNMENT:submitted"])
    return Assignment(
        id=key,
        worker=first["ASSIGNMENT:worker_id"],
        hit=first["INPUT:hit"],
        status=first["ASSIGNMENT:status"].lower(),
        line=line,
        labels=labels,
        seconds=_seconds(when(first["ASSIGNMENT:started"]), submitted),
        submitted_at=submitted,
    )


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    if start is None or end is None or end < start:
        return None
    return (end - start).total_seconds()


def write_decisions(
    _path: str, _columns: Mapping[str, str], decisions: Mapping[str, tuple[bool, str]]
) -> bytes:
    """Return the file of reviewed assignments: id, ``+`` or ``-``, and why."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow(["ASSIGNMENT:assignment_id", "ACCEPT:verdict", "ACCEPT:comment"])
    for key, (accept, reason) in decisions.items():
        writer.writerow([key, "+" if accept else "-", "" if accept else reason])
    return out.getvalue().encode()
