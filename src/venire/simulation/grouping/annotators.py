"""Simulated people who judge grouped images: what they see, what they look at, what it costs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any

from venire.errors import BadSetting, UnknownName

TYPES = ("novice", "typical", "expert")
BOUNDS = ("perfect", "group-only")
"""Always simulated, and never a reason for a recommendation."""
DEFAULT = "typical"
TIES = ("relevant", "not-relevant")
REVIEWS = ("looked-at", "all")


@dataclass(frozen=True, kw_only=True)
class GroupedAnnotator:
    """One annotator type.

    It perceives each image once, right with the accuracy of the image's truth. Ungrouped images
    are judged one by one. In a group of at most ``check_all`` images it looks at all, in a larger
    one at each with ``check_probability``, and at the one nearest the query where chance chose
    none. The group gets the label that most of those looked at appear to have, and those that
    appear otherwise are corrected.

    Attributes
    ----------
    name : str
    accuracy_relevant, accuracy_not_relevant : float
        Probability of perceiving a relevant, a not relevant image as what it is.
    check_all : int
        Largest group checked image by image.
    check_probability : float
        Of looking at an image of a larger group.
    judge_seconds, label_seconds, correct_seconds, split_seconds : float
        To judge one image, label a group, correct one image, split a group.
    glance_relevant_seconds, glance_not_relevant_seconds : float
        To look at an image in a group, by its true label.
    one_glance : bool
        Look only at the image of a group that is nearest the query, and correct nothing.
    tie : "relevant" or "not-relevant"
        The label of a group of which as many appear relevant as not.
    review : "looked-at" or "all"
        What the review round shows. Images looked at are known: they cost nothing again, and
        nothing changes. The others cost a glance each, and a correction where they appear
        to be otherwise.
    split : bool
        Split a group, and label the part that was split off, where that costs less than the
        corrections it saves.

    Examples
    --------
    >>> annotator("typical").accuracy_relevant
    0.68
    """

    name: str
    accuracy_relevant: float
    accuracy_not_relevant: float
    check_all: int
    check_probability: float
    judge_seconds: float
    label_seconds: float
    correct_seconds: float
    split_seconds: float
    glance_relevant_seconds: float
    glance_not_relevant_seconds: float
    one_glance: bool = False
    tie: str = "relevant"
    review: str = "looked-at"
    split: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no probability, no time, no size, no word."""
        for name in ("accuracy_relevant", "accuracy_not_relevant", "check_probability"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadSetting(f"{self.name}: {name} is 0 to 1, not {getattr(self, name):g}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_seconds") and not 0 <= value < float("inf"):
                raise BadSetting(f"{self.name}: {field.name} is 0 or more, not {value:g}")
        if self.check_all < 0:
            raise BadSetting(f"{self.name}: check_all is 0 or more, not {self.check_all}")
        for name, known in (("tie", TIES), ("review", REVIEWS)):
            if getattr(self, name) not in known:
                raise UnknownName(name, getattr(self, name), known)

    @property
    def random(self) -> bool:
        """Whether chance has a say; where not, one repetition says all."""
        sure = self.accuracy_relevant in (0.0, 1.0) and self.accuracy_not_relevant in (0.0, 1.0)
        return not (sure and (self.one_glance or self.check_probability in (0.0, 1.0)))

    @property
    def bound(self) -> bool:
        """Whether this is one of the two bounds."""
        return self.name in BOUNDS

    @property
    def settings(self) -> dict[str, Any]:
        """Every value, by name."""
        return asdict(self)


@cache
def numbers() -> dict[str, list[dict[str, Any]]]:
    """Return the file of all numbers: ``values`` and ``times``, each with words and source."""
    return {kind: rows for kind, rows in _file().items() if kind != "references"}


def references() -> list[str]:
    """Return what the sources of the numbers stand for."""
    return list(_file()["references"])


def _file() -> dict[str, Any]:
    text = (files("venire.simulation.grouping") / "annotator_types.toml").read_text(
        encoding="utf-8"
    )
    return tomllib.loads(text)


def annotator(kind: str, /, **changes: Any) -> GroupedAnnotator:
    """Return a type by its name, with some values changed.

    Raises
    ------
    UnknownName, BadSetting

    Examples
    --------
    >>> annotator("expert", name="quick expert", judge_seconds=3.0).judge_seconds
    3.0
    """
    if kind not in (*TYPES, *BOUNDS):
        raise UnknownName("annotator type", kind, (*TYPES, *BOUNDS))
    data = numbers()
    values = {row["key"]: row[kind] for row in data["values"]}
    values |= {row["key"]: row[DEFAULT] for row in data["times"]}
    made = GroupedAnnotator(name=kind, one_glance=kind == "group-only", **values)
    known = [field.name for field in fields(made)]
    for change in changes:
        if change not in known:
            raise UnknownName("value of an annotator type", change, known)
    return replace(made, **changes)


def parse_annotators(text: str) -> list[GroupedAnnotator]:
    """Read ``novice,typical(check_all=12),mine(accuracy_relevant=0.9)``.

    A name that is no type is one's own: Typical's values, with those that are named changed.
    A type with changed values keeps its name.

    Raises
    ------
    BadSetting
        Not so written; a name twice; a bound, which is always simulated.
    UnknownName
        For a value; and for a name without values that is no type.

    Examples
    --------
    >>> [one.accuracy_relevant for one in parse_annotators("expert,mine(accuracy_relevant=0.9)")]
    [0.85, 0.9]
    """
    out: dict[str, GroupedAnnotator] = {}
    for part in re.split(r",(?![^()]*\))", text):
        if not part.strip():
            continue
        match = re.fullmatch(r"\s*([^(),=]+?)\s*(?:\(([^()]*)\))?\s*", part)
        if match is None:
            raise BadSetting(f"an annotator type is name or name(value=number), not {part!r}")
        name, inside = match[1], match[2]
        if name in BOUNDS:
            raise BadSetting(f"{name} is always simulated, as a bound; name other types")
        if name in out:
            raise BadSetting(f"{name} is named twice")
        changes = dict(_change(name, item) for item in (inside or "").split(",") if item.strip())
        base = name if name in TYPES or not changes else DEFAULT
        out[name] = annotator(base, **{"name": name, **changes})
    if not out:
        raise BadSetting(f"no annotator type is named; there are {', '.join(TYPES)}")
    return list(out.values())


def with_bounds(chosen: Sequence[GroupedAnnotator]) -> list[GroupedAnnotator]:
    """Return the types and the two bounds, which have their own values where none are given.

    Raises
    ------
    BadSetting
        For a name twice.
    """
    bounds = {kind.name: kind for kind in chosen if kind.bound}
    every = [
        *(kind for kind in chosen if not kind.bound),
        *(bounds.get(name) or annotator(name) for name in BOUNDS),
    ]
    names = [kind.name for kind in every]
    for name in names:
        if names.count(name) > 1:
            raise BadSetting(f"two annotator types are named {name}")
    return every


def types_table() -> list[dict[str, str]]:
    """Return the values of the three types, a row a value, as the documentation shows them."""
    rows = []
    for row in numbers()["values"]:
        values = {name.title(): _number(row[name]) for name in TYPES}
        rows.append({"Value": row["words"], **values, "Source": row["source"]})
    return rows


def times_table() -> list[dict[str, str]]:
    """Return the six times, a row an action, as the documentation shows them."""
    return [
        {"Action": row["words"], "Typical": f"{row[DEFAULT]:g} s", "Source": row["source"]}
        for row in numbers()["times"]
    ]


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return (
        f"{value:.1f}" if round(value, 1) == value and value in (0.5, 0.7, 0.9) else f"{value:.2f}"
    )


def _change(name: str, item: str) -> tuple[str, Any]:
    key, equals, text = (word.strip() for word in item.partition("="))
    if not equals or not text:
        raise BadSetting(f"{name}: {item.strip()!r} is not written value=number")
    kinds = {field.name: field.type for field in fields(GroupedAnnotator)}
    kind = kinds.get(key, "float")
    words = {"true": True, "yes": True, "false": False, "no": False}
    try:
        if kind == "bool":
            return key, words[text.lower()]
        if kind == "str":
            return key, text
        return key, int(text) if kind == "int" else float(text)
    except (KeyError, ValueError):
        what = {"bool": "yes or no", "int": "a whole number"}.get(str(kind), "a number")
        raise BadSetting(f"{name}: {key}={text} is not {what}") from None
