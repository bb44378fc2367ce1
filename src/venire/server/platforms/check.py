"""Check that a platform does what the export and the import of tasks rely on."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from venire.errors import MissingColumns
from venire.server.platforms.base import (
    CANNOT,
    Assignment,
    AssignmentStatus,
    Decision,
    Hit,
    Platform,
    Question,
    StudyTexts,
)
from venire.server.platforms.registry import list_platforms, load_platform
from venire.server.platforms.result_file import ProblemKind, Problems, drop_repeats, read_rows
from venire.testing.rules import Nonconforming, require

ResultWriter = Callable[[Sequence[Assignment]], str]
"""Writes a result file with the answers of assignments, as the platform does."""

_TEXTS = StudyTexts(
    name="A study",
    instructions="<p>Read <em>all</em> of it.</p>",
    grades=[
        {"value": 0, "name": "not relevant", "definition": "", "key": "1"},
        {"value": 1, "name": "relevant", "definition": "On the topic.", "key": "2"},
    ],
    reasons=["broken", "other"],
)
_TOPIC = {"title": "Wings & flutter", "description": "What is flutter?", "narrative": ""}


def check_platform(platform: Platform, write_results: ResultWriter) -> list[str]:
    """Run every check on a platform; return the names of the checks.

    Parameters
    ----------
    platform : Platform
    write_results : callable
        Takes assignments; returns a result file of the platform with their answers.

    Raises
    ------
    Nonconforming
        With the name of the check and what is wrong.
    """
    names = []
    with tempfile.TemporaryDirectory() as folder:
        for name, check in _CHECKS:
            try:
                check(platform, write_results, Path(folder))
            except Nonconforming as error:
                raise Nonconforming(f"{name}: {error}") from None
            names.append(name)
    return names


def _make_hits() -> list[Hit]:
    return [
        Hit(f"hit{number}", [Question(_TOPIC, f"<p>Text {number}-{part}</p>") for part in "abc"])
        for number in range(3)
    ]


def _make_assignments() -> list[Assignment]:
    labels = {1: "0", 2: "1", 3: CANNOT + "other"}
    return [
        Assignment(f"A{hit}{worker}", f"W{worker}", f"hit{hit}", AssignmentStatus.SUBMITTED, 0,
                   labels)
        for hit in range(3) for worker in range(2)
    ]  # fmt: skip


def _read(
    platform: Platform, text: str, folder: Path, columns: dict[str, str] | None = None
) -> tuple[list[Assignment], Problems]:
    path = folder / "results"
    path.write_text(text, encoding="utf-8")
    problems = Problems()
    return platform.read_results(str(path), columns or {}, problems), problems


def _table(text: str, folder: Path) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of a result file."""
    path = folder / "table"
    path.write_text(text, encoding="utf-8")
    columns, rows = read_rows(str(path))
    return columns, [list(row.values()) for _, row in rows]


def _write(columns: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str = ",") -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(columns)
    writer.writerows(rows)
    return buffer.getvalue()


def _answers(assignments: Sequence[Assignment]) -> list[tuple[object, ...]]:
    return [(a.id, a.worker, a.hit, a.status, dict(a.labels)) for a in assignments]


def _check_names(platform: Platform, _: ResultWriter, __: Path) -> None:
    require(bool(re.fullmatch(r"[a-z][a-z0-9-]*", platform.name)), f"name {platform.name!r}")
    require(bool(platform.label), "the label is empty")
    require(platform.task_suffix.startswith("."), f"suffix {platform.task_suffix!r}")
    for columns in (platform.task_columns, platform.result_columns):
        require(len(set(columns)) == len(columns) > 0, f"columns {columns}")
    require(platform.marker_column in platform.result_columns, "marker is not a result column")


def _check_tasks(platform: Platform, _: ResultWriter, __: Path) -> None:
    hits = _make_hits()
    tasks = platform.write_tasks(hits, _TEXTS)
    require(tasks == platform.write_tasks(hits, _TEXTS), "two task files differ")
    text = tasks.content.decode()
    first_line = text.split("\n", 1)[0]
    for column in platform.task_columns:
        require(column in first_line, f"the task file has no column {column}")
    parts = [(hit.id, *(question.document[3:-4] for question in hit.questions)) for hit in hits]
    places = [text.find(part) for hit_parts in parts for part in hit_parts]
    require(-1 not in places, "the task file lacks a HIT or a document")
    require(places == sorted(places), "HITs or documents are not in their order")
    require(tasks.too_large == 0, "small HITs are said to be too large")
    if platform.size_limit is not None:
        long = Question(_TOPIC, "x" * platform.size_limit)
        too_large = platform.write_tasks([*hits, Hit("long", [long])], _TEXTS).too_large
        require(too_large == 1, f"{too_large} HITs are too large instead of 1")


def _check_layout(platform: Platform, _: ResultWriter, __: Path) -> None:
    layout = platform.write_layout(_TEXTS)
    require(bool(layout.strip()), "the layout is empty")
    require(layout == platform.write_layout(_TEXTS), "two layouts differ")
    require(b"src=" not in layout, "the layout loads something")


def _check_results(platform: Platform, write_results: ResultWriter, folder: Path) -> None:
    assignments = _make_assignments()
    read_back, problems = _read(platform, write_results(assignments), folder)
    require(_answers(read_back) == _answers(assignments), "answers read are not those written")
    require(not problems.rows, f"problems: {problems.rows}")
    require(problems.row_count > 0, "rows are not counted")
    require(all(a.line > 1 for a in read_back), "assignments have no line")


def _check_statuses(platform: Platform, write_results: ResultWriter, folder: Path) -> None:
    for status in AssignmentStatus:
        assignments = [replace(a, status=status) for a in _make_assignments()]
        read_back, _ = _read(platform, write_results(assignments), folder)
        require({a.status for a in read_back} == {status}, f"{status} is not read back")


def _check_spreadsheet(platform: Platform, write_results: ResultWriter, folder: Path) -> None:
    assignments = _make_assignments()
    columns, rows = _table(write_results(assignments), folder)
    again = "\ufeff" + _write(columns[::-1], [row[::-1] for row in rows], ";")
    read_back, _ = _read(platform, again, folder)
    require(_answers(read_back) == _answers(assignments), "another column order reads differently")


def _check_columns(platform: Platform, write_results: ResultWriter, folder: Path) -> None:
    assignments = _make_assignments()
    columns, rows = _table(write_results(assignments), folder)
    for column in platform.result_columns:
        renamed = ["renamed" if name == column else name for name in columns]
        text = _write(renamed, rows)
        try:
            _read(platform, text, folder)
        except MissingColumns as error:
            require(column in error.missing, f"{column} is missing, the error names others")
        else:
            raise Nonconforming(f"a file without {column} is read")
        read_back, _ = _read(platform, text, folder, {column: "renamed"})
        require(_answers(read_back) == _answers(assignments), f"{column} cannot be renamed")


def _check_marker(platform: Platform, write_results: ResultWriter, folder: Path) -> None:
    columns, _ = _table(write_results(_make_assignments()), folder)
    require(platform.marker_column in columns, "the marker column is not in a result file")
    for name in list_platforms():
        if name != platform.name:
            marker = load_platform(name).marker_column
            require(marker not in columns, f"a result file has the marker column of {name}")


def _check_rows(platform: Platform, write_results: ResultWriter, folder: Path) -> None:
    assignments = _make_assignments()
    columns, rows = _table(write_results(assignments), folder)
    nameless = ["" for _ in columns]
    nameless[columns.index(platform.result_columns[0])] = "x"
    read_back, problems = _read(platform, _write(columns, [*rows, nameless]), folder)
    require(_answers(read_back) == _answers(assignments), "a row without ids changes the rest")
    require(problems.count(ProblemKind.NO_IDS) == 1, "a row without ids is not counted")
    read_back, problems = _read(platform, _write(columns, [*rows, *rows]), folder)
    read_back = drop_repeats(read_back, problems)
    require(_answers(read_back) == _answers(assignments), "repeated rows change the answers")
    require(problems.count(ProblemKind.REPEATED) > 0, "repeated rows are not counted")
    other = [replace(assignments[0], labels={**assignments[0].labels, 1: "1"})]
    _, others = _table(write_results(other), folder)
    read_back, problems = _read(platform, _write(columns, [*rows, *others]), folder)
    read_back = drop_repeats(read_back, problems)
    require(_answers(read_back) == _answers(assignments[1:]), "a conflicting assignment is used")
    require(list(problems.conflicting) == [assignments[0].id], "a conflict is not recorded")


def _check_decisions(platform: Platform, write_results: ResultWriter, folder: Path) -> None:
    path = folder / "results"
    path.write_text(write_results(_make_assignments()), encoding="utf-8")
    decisions = {"A00": Decision(True), "A11": Decision(False, "Too fast, sorry.")}
    text = platform.write_decisions(str(path), {}, decisions).decode()
    lines = text.splitlines()
    for key in decisions:
        require(sum(key in line for line in lines) == 1, f"{key} is not there once")
    require("A01" not in text, "an assignment without a decision is there")
    rejected = next(line for line in lines if "A11" in line)
    require("Too fast, sorry." in rejected, "the worker is not told why")
    require(text.count("Too fast, sorry.") == 1, "another worker is told too")


_CHECKS: tuple[tuple[str, Callable[[Platform, ResultWriter, Path], None]], ...] = (
    ("names", _check_names),
    ("task file", _check_tasks),
    ("layout", _check_layout),
    ("result file", _check_results),
    ("statuses", _check_statuses),
    ("column order", _check_spreadsheet),
    ("renamed and missing columns", _check_columns),
    ("marker column", _check_marker),
    ("rows that are wrong", _check_rows),
    ("decision file", _check_decisions),
)
