"""Settings of a study and of its campaigns.

Description, label, range, choices and default of a setting are declared once, on its field. API
requests, study.toml, the Annotation page and the reference page are derived from the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from venire.errors import BadSetting, VenireError
from venire.settings import Settings, setting

CANNOT_JUDGE = ("broken", "wrong language", "offensive", "other")
"""Default reasons why a document cannot be judged."""
GOLD_MATCHES = ("side", "exact", "near")
BATCH_TOPICS = ("auto", "one", "mixed")
MOST_GRADES = 10
"""Maximum number of grades of a study: each has a key on the judge page."""

_BATCHES = "Batches"
_GOLD = "Gold"
_REJECT = "Rules that reject or hold a batch"
_PAUSE = "Rule that pauses an annotator"
_START = "Before the first batch"


@dataclass(frozen=True, kw_only=True)
class CampaignSettings(Settings):
    """How a campaign hands out documents and reviews batches."""

    overlap: int = setting(
        3,
        words="Number of annotators who judge each document.",
        label="Judgments per document",
        group=_BATCHES,
        least=1,
        most=1000,
    )
    batch_size: int = setting(
        10,
        words="Number of documents in a batch, without gold.",
        label="Documents per batch",
        group=_BATCHES,
        least=1,
        most=500,
    )
    gold_size: int = setting(
        2,
        words="Number of hidden documents with a known grade in a batch.",
        label="Gold per batch",
        group=_GOLD,
        least=0,
        most=100,
    )
    minutes: int = setting(
        60,
        words="Minutes without activity after which a batch ends and its documents are free again.",
        label="Minutes until a batch expires",
        group=_BATCHES,
        least=1,
        most=60 * 24 * 30,
    )
    gold_errors: int = setting(
        0,
        words="Number of gold documents a batch may have wrong. With more, it is rejected.",
        label="Gold errors allowed",
        group=_GOLD,
        least=0,
        most=100,
    )
    gold_match: str = setting(
        "side",
        words="When a label on gold is right: side (both relevant or both not), exact (the same "
        "grade), or near (at most one grade apart).",
        label="Gold is right if",
        group=_GOLD,
        choices=GOLD_MATCHES,
    )
    min_seconds: float = setting(
        0.0,
        words="Minimum median active time per document, in seconds. 0 turns the rule off.",
        label="Minimum seconds per document",
        group=_REJECT,
        least=0,
        most=3600,
    )
    max_same_share: float = setting(
        1.0,
        words="Maximum share of one label in a batch with at least 8 labels. 1 turns the rule off.",
        label="Maximum share of one label",
        group=_REJECT,
        least=0,
        most=1,
    )
    max_skipped_share: float = setting(
        0.5,
        words="Maximum share of skipped documents in a batch. With more, the batch is held: its "
        "judgments do not count until you accept it. 1 turns the rule off.",
        label="Maximum share of skipped documents",
        group=_REJECT,
        least=0,
        most=1,
    )
    topics: str = setting(
        "auto",
        words="Topics of a batch: one, mixed, or auto. Auto is one where the topic has enough gold "
        "of its own, else mixed, so that gold does not stand out by its topic.",
        label="Topics per batch",
        group=_BATCHES,
        choices=BATCH_TOPICS,
    )
    practice_size: int = setting(
        2,
        words="Number of practice documents with feedback before the first batch. 0: no practice.",
        label="Practice documents",
        group=_START,
        least=0,
        most=50,
    )
    new_workers_per_hour: int = setting(
        30,
        words="Number of new worker IDs that one address may bring within an hour by the link for "
        "crowd platforms. 0: no limit.",
        label="New workers per address and hour",
        group=_START,
        least=0,
        most=100_000,
    )
    signed_links: bool = setting(
        False,
        words="Whether the link for crowd platforms needs a signature of the platform.",
        label="Signed links only",
        group=_START,
    )
    qualification_size: int = setting(
        0,
        words="Number of gold documents in the qualification, which comes before the first batch. "
        "0: no qualification.",
        label="Qualification documents",
        group=_START,
        least=0,
        most=100,
    )
    qualification_needed: int = setting(
        0,
        words="Number of right answers that pass the qualification.",
        label="Right answers needed",
        group=_START,
        least=0,
        most=100,
    )
    qualification_tries: int = setting(
        1,
        words="Number of times an annotator may try the qualification.",
        label="Tries",
        group=_START,
        least=1,
        most=20,
    )
    pause_below: float = setting(
        0.0,
        words="Accuracy on gold that an annotator needs. 0 turns the rule off.",
        label="Accuracy needed",
        group=_PAUSE,
        least=0,
        most=1,
    )
    pause_sure: float = setting(
        0.95,
        words="An annotator is paused when the probability that their accuracy is too low reaches "
        "this value.",
        label="Probability to pause",
        group=_PAUSE,
        least=0.5,
        most=1,
    )

    def __post_init__(self) -> None:
        """Check every field, and the qualification as a whole."""
        super().__post_init__()
        if self.qualification_needed > self.qualification_size:
            raise BadSetting(
                f"must be <= `qualification_size`, which is {self.qualification_size} "
                f"(got {self.qualification_needed})",
                argument="qualification_needed",
                value=self.qualification_needed,
            )


@dataclass(frozen=True, kw_only=True)
class Grade(Settings):
    """A grade of a study."""

    value: int = setting(
        words="Number that a judgment stores.", label="Grade", least=-100, most=1000
    )
    name: str = setting(words="Name on the button.", label="Name")
    definition: str = setting("", words="One line below the name.", label="Meaning")


_GRADES = (
    Grade(value=0, name="Not relevant", definition="Does not answer the need."),
    Grade(value=1, name="Partly relevant", definition="Answers a part of it."),
    Grade(value=2, name="Relevant", definition="Answers the need."),
)


@dataclass(frozen=True, kw_only=True)
class StudySettings(Settings):
    """Settings of a study."""

    grades: list[dict[str, Any]] = setting(
        default_factory=lambda: [grade.to_dict() for grade in _GRADES],
        words="Value, name and definition of each grade, from lowest to highest.",
        label="Scale",
    )
    relevant_from: int = setting(
        1, words="Lowest grade that counts as relevant.", label="Relevant from grade"
    )
    cannot_judge: list[str] = setting(
        default_factory=lambda: list(CANNOT_JUDGE),
        words="Reasons why a document cannot be judged.",
        label="Reasons why a document cannot be judged",
    )
    languages: list[str] = setting(
        default_factory=lambda: ["en"],
        words="Languages of the labels of entities, preferred first.",
        label="Languages of labels",
    )
    show_links: bool = setting(
        False,
        words="Whether URLs in entities are shown as links, which open in a new window.",
        label="Show URLs in entities as links",
    )
    campaign: dict[str, Any] = setting(
        default_factory=dict,
        words="Default settings of new campaigns.",
        label="Defaults of new campaigns",
    )
    grouping: dict[str, Any] = setting(
        default_factory=dict,
        words="How pools are grouped: the `setting` and its `encoder`. Empty: one document at a "
        "time.",
        label="Grouping",
    )

    def __post_init__(self) -> None:
        """Check every field, the grades against each other, and the defaults of campaigns."""
        super().__post_init__()
        grades = [_check_grade(grade) for grade in self.grades]
        object.__setattr__(self, "grades", [grade.to_dict() for grade in grades])
        values = self.values
        if not 2 <= len(values) <= MOST_GRADES:
            raise BadSetting(
                f"must have between 2 and {MOST_GRADES} grades (got {len(values)})",
                argument="grades",
            )
        if values != sorted(set(values)):
            raise BadSetting(
                f"must have increasing values (got {', '.join(map(str, values))})",
                argument="grades",
            )
        if not values[0] <= self.relevant_from <= values[-1]:
            raise BadSetting(
                f"must be between {values[0]} and {values[-1]}, the lowest and the highest grade "
                f"(got {self.relevant_from})",
                argument="relevant_from",
                value=self.relevant_from,
            )
        if not self.cannot_judge or not all(reason.strip() for reason in self.cannot_judge):
            raise BadSetting(
                "must have at least one reason, and no empty one", argument="cannot_judge"
            )
        CampaignSettings.of(self.campaign)

    @property
    def values(self) -> list[int]:
        """Values of the grades, from lowest to highest."""
        return [grade["value"] for grade in self.grades]


def _check_grade(grade: dict[str, Any]) -> Grade:
    try:
        checked = Grade.of(grade)
    except VenireError as error:
        raise BadSetting(
            f"has a grade that cannot be used: {error}",
            argument="grades",
            hint="Each grade has a `value`, a `name` and a `definition`.",
        ) from None
    if not checked.name.strip():
        raise BadSetting(f"has no name for {checked.value}", argument="grades")
    return checked
