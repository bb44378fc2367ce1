"""Result files of a platform: rows read and checked, problems counted, repeats dropped."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from venire.errors import BadLine, MissingColumns
from venire.formats.delimited import detect_delimiter
from venire.formats.source import read_bytes
from venire.server.platforms.base import Assignment, Platform
from venire.server.platforms.registry import recognise_platform

Rows = list[tuple[int, dict[str, str]]]
"""The line in the file, and the cells by column."""


class ProblemKind(StrEnum):
    """What is wrong with a row or an assignment of a result file."""

    NO_IDS = "row without ids"
    REPEATED = "repeated assignment"
    CONFLICTING = "conflicting assignment"
    NOT_SUBMITTED = "not submitted"
    UNKNOWN_HIT = "unknown HIT"
    WORKER_TWICE = "worker twice"
    TOO_MANY = "too many assignments"
    WORKER_BUSY = "worker at work"
    UNKNOWN_DOCUMENT = "unknown document"
    JUDGED_BEFORE = "judged before"
    OFF_SCALE = "label outside the scale"
    MISSING_ANSWERS = "missing answers"
    REFUSED = "answer refused"
    NOT_IMPORTED = "not imported"
    NOT_REVIEWED = "not reviewed"
    APPROVED_BEFORE = "approved before"
    REJECTED_BEFORE = "rejected before"


@dataclass
class Problems:
    """What is wrong with a result file, row by row.

    Attributes
    ----------
    rows : list of dict
        ``kind`` (a :class:`ProblemKind`), ``line, text``.
    row_count : int
        Rows of the file.
    conflicting : dict
        Assignment whose rows contradict each other -> one of these lines.
    """

    rows: list[dict[str, object]] = field(default_factory=list)
    row_count: int = 0
    conflicting: dict[str, int] = field(default_factory=dict)

    def add(self, kind: ProblemKind, line: int | None, text: str) -> None:
        """Record a problem."""
        self.rows.append({"kind": kind, "line": line, "text": text})

    def add_conflict(self, assignment_id: str, line: int, text: str) -> None:
        """Record an assignment whose rows contradict each other."""
        self.conflicting[assignment_id] = line
        self.add(ProblemKind.CONFLICTING, line, f"{assignment_id}: {text}; not used")

    def count(self, kind: ProblemKind) -> int:
        """Return the number of problems of a kind."""
        return Counter(row["kind"] for row in self.rows)[kind]


class MissingResultColumns(MissingColumns):
    """A result file lacks columns that the platform's result files have.

    Attributes
    ----------
    platform : str
        Name of the platform that the file was read for.
    likely_platform : str
        Name of the platform whose result files have such columns; empty if none has.
    likely_label : str
        What users call that platform.
    """

    code = "missing-result-columns"

    def __init__(
        self, missing: Sequence[str], present: Sequence[str], path: str, platform: Platform
    ) -> None:
        likely = recognise_platform(present)
        other = None if likely is None or likely.name == platform.name else likely
        self.platform = platform.name
        self.likely_platform = "" if other is None else other.name
        self.likely_label = "" if other is None else other.label
        hint = (
            f"Map renamed columns with `columns={{{missing[0]!r}: ...}}`."
            if other is None
            else f"This looks like a result file of {other.label}. Choose the platform "
            f"{other.name!r}."
        )
        super().__init__(missing, present, path, hint=hint)


def read_rows(path: str) -> tuple[list[str], Rows]:
    """Return the columns, and each row with its line, of a CSV or TSV file with quotes.

    A byte order mark is removed and the delimiter is detected in the first line, so a file that was
    saved again by a spreadsheet reads the same. Blank lines are skipped.

    Raises
    ------
    BadLine
        Not UTF-8, a column name twice, a row with more or fewer cells, an open quote.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadLine(path, line, "is not UTF-8 text. Save the file as CSV UTF-8.") from None
    head = text.split("\n", 1)[0]
    limit = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=detect_delimiter(head), strict=True
        )
        try:
            return _parse_rows(reader, path)
        except csv.Error as error:
            raise BadLine(path, reader.line_num, f"cannot be read: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _parse_rows(reader: Iterator[list[str]], path: str) -> tuple[list[str], Rows]:
    columns: list[str] = []
    rows: Rows = []
    start = 1
    for cells in reader:
        line, start = start, reader.line_num + 1  # type: ignore[attr-defined]
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
            if repeated := [name for name, n in Counter(columns).items() if n > 1]:
                raise BadLine(
                    path,
                    line,
                    f"has the column {repeated[0]!r} twice",
                    hint="Rename or remove one of them.",
                )
            continue
        if len(cells) != len(columns):
            raise BadLine(
                path,
                line,
                f"has {len(cells)} cells, but the first line has {len(columns)}",
                hint="Correct the line.",
            )
        rows.append((line, dict(zip(columns, cells, strict=True))))
    return columns, rows


def check_columns(
    present: Iterable[str], needed: Iterable[str], path: str, platform: Platform
) -> None:
    """Raise :class:`MissingResultColumns` unless all needed columns are present."""
    names = list(present)
    if missing := [name for name in needed if name not in names]:
        raise MissingResultColumns(missing, names, path, platform)


def drop_repeats(assignments: Iterable[Assignment], problems: Problems) -> list[Assignment]:
    """Return each assignment once, and none of those that are listed with different answers."""
    first: dict[str, Assignment] = {}
    for assignment in assignments:
        known = first.setdefault(assignment.id, assignment)
        if known is assignment:
            continue
        if _answers(known) == _answers(assignment):
            problems.add(
                ProblemKind.REPEATED,
                assignment.line,
                f"{assignment.id}: listed again; counted once",
            )
        else:
            problems.add_conflict(
                assignment.id,
                assignment.line,
                f"listed again with different answers (first on line {known.line})",
            )
    return [value for key, value in first.items() if key not in problems.conflicting]


def _answers(assignment: Assignment) -> tuple[str, str, dict[int, str]]:
    return assignment.worker, assignment.hit, dict(assignment.labels)


def parse_seconds(text: str) -> float | None:
    """Return a number of seconds, None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


_ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "EST": -5, "EDT": -4}


def parse_time(text: str) -> datetime | None:
    """Return a time in UTC, from ISO 8601 or ``Mon Jan 05 12:00:00 PST 2026`` (MTurk)."""
    words = text.split()
    try:
        if len(words) == 6 and words[4] in _ZONES:
            offset = f"{_ZONES[words[4]]:+03d}00"
            day = " ".join([*words[1:4], words[5], offset])
            return datetime.strptime(day, "%b %d %H:%M:%S %Y %z").astimezone(UTC)
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
