"""Settings of a study and of a campaign, checked where they come in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from venire.errors import BadSetting, UnknownName

#: Why a document cannot be judged; a study may name its own.
CANNOT = ("broken", "wrong language", "offensive", "other")
MATCHES = ("side", "exact", "near")
TOPICS = ("auto", "one", "mixed")


class _Checked:
    """Settings from a mapping: unknown names are refused with a hint, types are checked."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Make settings; what is not given has its default."""
        known = {one.name: one for one in fields(cls)}  # type: ignore[arg-type]
        for name in given:
            if name not in known:
                raise UnknownName("setting", name, known)
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """All settings as plain values, for JSON."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]


def _whole(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadSetting(f"{name} is {value!r}; it must be a whole number from {least} to {most}")


def _number(name: str, value: Any, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise BadSetting(f"{name} is {value!r}; it must be a number from {least:g} to {most:g}")


@dataclass(frozen=True, kw_only=True)
class CampaignSettings(_Checked):
    """How a campaign hands out documents and checks what comes back.

    Parameters
    ----------
    overlap : int
        How many annotators judge each document (k).
    batch_size, gold_size : int
        Real and gold documents in a batch.
    minutes : int
        How long a document is kept for an annotator who does nothing.
    gold_errors : int
        Gold a batch may have wrong before it is rejected.
    gold_match : str
        When gold is right: ``side`` (relevant or not), ``exact``, or ``near`` (one grade off).
    min_seconds : float
        Least median active time a document; 0 is no rule.
    max_same_share : float
        Greatest share of one label in a batch of eight or more; 1 is no rule.
    topics : str
        ``one`` topic a batch, ``mixed``, or ``auto``: one where that topic has gold of its own,
        else mixed, so that gold does not stand out by its topic.
    practice_size : int
        Documents with known grades and feedback before the first batch; 0 is none.
    qualification_size, qualification_needed, qualification_tries : int
        A first batch of gold only, how many must be right, how often it may be tried.
    pause_below, pause_sure : float
        An annotator is paused where the chance that their accuracy on gold is below
        ``pause_below`` reaches ``pause_sure``; 0 is no rule.
    """

    overlap: int = 3
    batch_size: int = 10
    gold_size: int = 2
    minutes: int = 60
    gold_errors: int = 0
    gold_match: str = "side"
    min_seconds: float = 0.0
    max_same_share: float = 1.0
    topics: str = "auto"
    practice_size: int = 2
    qualification_size: int = 0
    qualification_needed: int = 0
    qualification_tries: int = 1
    pause_below: float = 0.0
    pause_sure: float = 0.95

    def __post_init__(self) -> None:
        _whole("overlap", self.overlap, 1, 1000)
        _whole("batch_size", self.batch_size, 1, 500)
        _whole("gold_size", self.gold_size, 0, 100)
        _whole("minutes", self.minutes, 1, 60 * 24 * 30)
        _whole("gold_errors", self.gold_errors, 0, 100)
        _number("min_seconds", self.min_seconds, 0, 3600)
        _number("max_same_share", self.max_same_share, 0, 1)
        _whole("practice_size", self.practice_size, 0, 50)
        _whole("qualification_size", self.qualification_size, 0, 100)
        _whole("qualification_needed", self.qualification_needed, 0, self.qualification_size)
        _whole("qualification_tries", self.qualification_tries, 1, 20)
        _number("pause_below", self.pause_below, 0, 1)
        _number("pause_sure", self.pause_sure, 0.5, 1)
        if self.gold_match not in MATCHES:
            raise UnknownName("gold_match", self.gold_match, MATCHES)
        if self.topics not in TOPICS:
            raise UnknownName("topics", self.topics, TOPICS)


@dataclass(frozen=True, kw_only=True)
class Grade:
    """One grade of a study: its value, its name, and one line that says what it means."""

    value: int
    name: str
    definition: str = ""


@dataclass(frozen=True, kw_only=True)
class StudySettings(_Checked):
    """What holds for a whole study.

    Parameters
    ----------
    grades : list of dict
        ``value``, ``name``, ``definition`` of each grade, from lowest to highest.
    relevant_from : int
        Grades from here on count as relevant.
    cannot_judge : list of str
        Reasons why a document cannot be judged.
    languages : list of str
        Languages of labels of entities, best first.
    show_links : bool
        Whether addresses in entities are links, which open in a window of their own.
    campaign : dict
        Defaults of new campaigns.
    grouping : dict
        The grouping of pools; empty is one document at a time.
    """

    grades: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"value": 0, "name": "Not relevant", "definition": "Does not answer the need."},
            {"value": 1, "name": "Partly relevant", "definition": "Answers a part of it."},
            {"value": 2, "name": "Relevant", "definition": "Answers the need."},
        ]
    )
    relevant_from: int = 1
    cannot_judge: list[str] = field(default_factory=lambda: list(CANNOT))
    languages: list[str] = field(default_factory=lambda: ["en"])
    show_links: bool = False
    campaign: dict[str, Any] = field(default_factory=dict)
    grouping: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            grades = [Grade(**grade) for grade in self.grades]
        except TypeError:
            raise BadSetting("each grade has a value, a name and a definition") from None
        values = [grade.value for grade in grades]
        if not 2 <= len(values) <= 10:
            raise BadSetting(f"a scale has 2 to 10 grades (one key each), not {len(values)}")
        for value in values:
            _whole("the value of a grade", value, -100, 1000)
        if values != sorted(set(values)):
            raise BadSetting("the values of the grades must rise")
        if any(not isinstance(grade.name, str) or not grade.name.strip() for grade in grades):
            raise BadSetting("each grade needs a name")
        _whole("relevant_from", self.relevant_from, values[0], values[-1])
        if not self.cannot_judge or not all(
            isinstance(reason, str) and reason.strip() for reason in self.cannot_judge
        ):
            raise BadSetting("cannot_judge needs at least one reason, each of them text")
        CampaignSettings.of(self.campaign)

    @property
    def values(self) -> list[int]:
        """The values of the grades, from lowest to highest."""
        return [grade["value"] for grade in self.grades]
