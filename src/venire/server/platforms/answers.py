"""Answers of a platform's result file: read, checked, each assignment once; nothing guessed."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from venire.errors import BadLine, MissingColumns
from venire.formats.delimited import sniff
from venire.formats.source import read_bytes

USED = ("submitted", "approved", "rejected")
"""Statuses of work that was handed in; the others have no answers to count."""


NAMELESS = "row without ids"
Lines = list[tuple[int, dict[str, str]]]
"""The line in the file, and the cells by column."""


@dataclass(frozen=True)
class Assignment:
    """One worker's answers to one batch (HIT, task suite).

    ``labels`` are the answers by position from 1, as they stand in the file; ``status`` is in
    lower case; ``line`` is where the assignment begins.
    """

    id: str
    worker: str
    hit: str
    status: str
    line: int
    labels: Mapping[int, str]
    seconds: float | None = None
    submitted_at: datetime | None = None


@dataclass
class Problems:
    """What was wrong with a file: each with its line, and counted by kind.

    ``lines`` are the rows of the file, ``nameless`` those without ids, ``unread`` the assignments
    whose rows contradict each other, with a line of each.
    """

    rows: list[dict[str, object]] = field(default_factory=list)
    lines: int = 0
    nameless: int = 0
    unread: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, line: int | None, text: str) -> None:
        """Note one."""
        self.rows.append({"kind": kind, "line": line, "text": text})

    def no_ids(self, line: int, text: str) -> None:
        """Note a row that says not whose it is."""
        self.nameless += 1
        self.add(NAMELESS, line, f"{text}; not used")

    @property
    def counts(self) -> dict[str, int]:
        """How many of each kind."""
        return dict(Counter(str(row["kind"]) for row in self.rows))


def read_lines(path: str) -> tuple[list[str], Lines]:
    """Return the columns, and each row with its line, of a CSV or TSV file with quotes.

    A byte order mark is taken off, and the delimiter is found in the first line, so that a file
    that a spreadsheet has saved again reads the same. Blank lines are passed over.

    Raises
    ------
    BadLine
        Not UTF-8, a name of a column twice, a row with more or fewer cells, an open quote.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadLine(path, line, "is not UTF-8 text; save it as CSV UTF-8") from None
    head = text.split("\n", 1)[0]
    limit = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=sniff(head), strict=True)
        try:
            return _rows(reader, path)
        except csv.Error as error:
            raise BadLine(path, reader.line_num, f"cannot be read: {error}") from None
    finally:
        csv.field_size_limit(limit)


def _rows(
    reader: Iterator[list[str]], path: str
) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    columns: list[str] = []
    rows: Lines = []
    start = 1
    for cells in reader:
        line, start = start, reader.line_num + 1  # type: ignore[attr-defined]
        if not any(cell.strip() for cell in cells):
            continue
        if not columns:
            columns = [cell.strip() for cell in cells]
            twice = next((name for at, name in enumerate(columns) if name in columns[:at]), None)
            if twice is not None:
                raise BadLine(path, line, f"the column name {twice!r} stands there twice")
            continue
        if len(cells) != len(columns):
            raise BadLine(
                path, line, f"has {len(cells)} cells where the first line has {len(columns)}"
            )
        rows.append((line, dict(zip(columns, cells, strict=True))))
    return columns, rows


MARKS = {"mturk": ("MTurk", "AssignmentId"), "toloka": ("Toloka", "ASSIGNMENT:assignment_id")}
"""The name of each platform, and a column that no other has."""


def need(columns: Iterable[str], wanted: Iterable[str], path: str, platform: str) -> None:
    """Raise where a column is missing; say which platform the file looks to be of."""
    there = list(columns)
    missing = [name for name in wanted if name not in there]
    if not missing:
        return
    mine, _ = MARKS[platform]
    other = next((one for one, (_, mark) in MARKS.items() if mark in there and one != platform), "")
    if other:
        name, _ = MARKS[other]
        hint = f"this looks like a result file of {name}, not of {mine}: use --platform {other}"
    else:
        hint = (
            f"a result file of {mine} has them; where columns were renamed, say so: "
            f"--columns {missing[0]}=NAME-IN-THE-FILE"
        )
    raise MissingColumns(missing, there, path, hint=hint)


def once(assignments: list[Assignment], problems: Problems) -> list[Assignment]:
    """Return each assignment once; one that comes again with other answers is not used at all."""
    seen: dict[str, Assignment] = {}
    odd: set[str] = set()
    for one in assignments:
        first = seen.setdefault(one.id, one)
        if first is one:
            continue
        if (first.worker, first.hit, dict(first.labels)) == (one.worker, one.hit, dict(one.labels)):
            problems.add(
                "repeated assignment", one.line, f"{one.id} stands there again; taken once"
            )
        else:
            odd.add(one.id)
            problems.unread[one.id] = one.line
            problems.add(
                "conflicting assignment",
                one.line,
                f"{one.id} stands there again with other answers (first on line {first.line}); "
                "neither is used",
            )
    return [one for key, one in seen.items() if key not in odd]


def number(text: str) -> float | None:
    """Return a number of seconds, None where there is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e9 else None


_ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "EST": -5, "EDT": -4}


def when(text: str) -> datetime | None:
    """Return a time of MTurk (``Mon Jan 05 12:00:00 PST 2026``) or an ISO one, in UTC."""
    words = text.split()
    try:
        if len(words) == 6 and words[4] in _ZONES:
            offset = f"{_ZONES[words[4]]:+03d}00"
            day = " ".join([*words[1:4], words[5], offset])
            return datetime.strptime(day, "%b %d %H:%M:%S %Y %z").astimezone(UTC)
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
