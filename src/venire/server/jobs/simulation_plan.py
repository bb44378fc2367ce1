"""What a simulation of grouped judging will run: pools, truth, vectors, groupings, annotators."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from venire import plugins
from venire.errors import BadSetting, DataError
from venire.formats.study_settings import StudySettings
from venire.grouping.settings import Setting, parse_methods, read_caps
from venire.grouping.vectors import Vectors
from venire.server.jobs.encode import HASH
from venire.server.jobs.setting_rules import BOOTSTRAP, SEED
from venire.server.jobs.simulation_labels import PILOT, read_relevant_from, read_truth
from venire.server.studies.files import read_vectors
from venire.server.studies.pools import read_pools
from venire.server.studies.studies import get_study
from venire.server.studies.topics import read_titles
from venire.settings import Settings, setting
from venire.simulation.grouping.annotators import (
    BOUNDS,
    DEFAULT,
    GroupedAnnotator,
    annotator,
    with_bounds,
)
from venire.simulation.grouping.explanations import plan
from venire.simulation.grouping.pools import GroupedPools, Groupings, near_queries, with_always
from venire.simulation.grouping.replay import REPETITIONS, expected_seconds

MAX_ANNOTATORS = 50
MAX_METHODS = 10_000
"""Most characters of the methods."""


@dataclass(frozen=True, kw_only=True)
class SimulationSettings(Settings):
    """Settings of a simulation of grouped judging."""

    truth: str = setting(
        PILOT, words="Labels to compare with: pilot or qrels:NAME.", label="Ground truth"
    )
    campaign: str | None = setting(
        None, words="ID of the campaign that is the pilot; null: all campaigns.", label="Campaign"
    )
    encoder: str = setting("", words="Encoder of the vectors that are compared.", label="Encoder")
    methods: str = setting(
        "",
        words="Grouping methods with the values to try, for example leader(cosine=0.9|0.8).",
        label="Grouping methods",
    )
    caps: str = setting(
        "none", words="Maximum group sizes to try, for example 8,16,none.", label="Maximum sizes"
    )
    annotators: list[dict[str, bool | int | float | str]] = setting(
        words="Annotator types: objects with a name and the values that differ from the defaults.",
        label="Simulated annotators",
        default_factory=list,
    )
    queries: int | None = setting(
        None,
        words="Number of queries to replay; null: all queries with labels.",
        label="Queries to replay",
        least=1,
        most=100_000,
    )
    repetitions: int = setting(
        REPETITIONS,
        words="Repetitions per query, for annotators that decide at random.",
        label="Repetitions per query",
        least=1,
        most=100,
    )
    bootstrap: int = setting(1000, **BOOTSTRAP)
    seed: int = setting(0, **SEED)

    def __post_init__(self) -> None:
        """Check every field by its rule, and the number of annotator types and methods."""
        super().__post_init__()
        if len(self.annotators) > MAX_ANNOTATORS:
            raise BadSetting(
                f"must have at most {MAX_ANNOTATORS} types (got {len(self.annotators)})",
                argument="annotators",
            )
        if len(self.methods) > MAX_METHODS:
            raise BadSetting(
                f"must have at most {MAX_METHODS:,} characters (got {len(self.methods):,})",
                argument="methods",
            )


@dataclass(frozen=True)
class SimulationPlan:
    """All that a simulation needs, read from a study.

    Attributes
    ----------
    groupings : Groupings
        The pools with their vectors.
    settings : list of Setting
        The groupings to try.
    people : list of GroupedAnnotator
        The chosen types, and the bounds.
    chosen : list of str
        Names of the types that the recommendation is based on.
    repetitions, bootstrap, seed : int
    notes : list of str
    """

    groupings: Groupings
    settings: list[Setting]
    people: list[GroupedAnnotator]
    chosen: list[str]
    repetitions: int
    bootstrap: int
    seed: int
    notes: list[str] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides the result of a unit: units under another hash are not reused.

        A unit is one setting replayed by one annotator type.
        """
        pools = self.groupings.pools
        values = [pools.queries, pools.documents, [person.settings for person in self.people]]
        hashed = hashlib.sha256(json.dumps([*values, self.seed, self.repetitions]).encode())
        for array in (pools.start, pools.relevant, pools.nearness, *self.groupings.arrays):
            hashed.update(array.tobytes())
        return hashed.hexdigest()[:16]

    @property
    def sentence(self) -> str:
        """What will run, in a sentence."""
        return self.describe()

    def describe(self, seconds: float | None = None) -> str:
        """Return what will run, in a sentence; with ``seconds``, also about how long it takes."""
        return plan(
            self.settings,
            self.people,
            queries=len(self.groupings.pools.queries),
            repetitions=self.repetitions,
            seconds=seconds,
        )


def read_plan(session: Session, study_id: str, job: SimulationSettings) -> SimulationPlan:
    """Read all that a simulation needs from a study.

    Raises
    ------
    VenireError
        The study lacks something, or a setting is wrong.
    """
    people = with_bounds([parse_annotator(values) for values in job.annotators])
    pools, notes = _read_pools(session, study_id, job)
    if not job.encoder:
        raise BadSetting(
            "is missing. Choose the encoder whose vectors to compare.", argument="encoder"
        )
    vectors, _ = read_vectors(session, study_id, job.encoder)
    pools = _rank_by_queries(session, study_id, job.encoder, pools, vectors)
    settings = _list_settings(session, study_id, job)
    groupings = _read_groupings(session, study_id, job.encoder, pools, vectors, settings)
    chosen = [person.name for person in people if not person.bound]
    if not chosen:
        raise BadSetting(
            "must have at least one annotator type besides the bounds", argument="annotators"
        )
    return SimulationPlan(
        groupings, settings, people, chosen, job.repetitions, job.bootstrap, job.seed,
        [*notes, *groupings.notes],
    )  # fmt: skip


def _read_pools(
    session: Session, study_id: str, job: SimulationSettings
) -> tuple[GroupedPools, Sequence[str]]:
    pairs = read_pools(session, study_id)
    if pairs.is_empty():
        raise DataError("The study has no pool yet. Build it on the Pool page.")
    truth, _ = read_truth(session, study_id, job.truth, job.campaign)
    least = read_relevant_from(session, study_id)
    pools = GroupedPools.of(pairs, truth, relevant_from=least, queries=job.queries, seed=job.seed)
    return pools, truth.notes


def _rank_by_queries(
    session: Session, study_id: str, name: str, pools: GroupedPools, vectors: Vectors
) -> GroupedPools:
    """Rank the documents of a pool by their query, if the encoder can encode queries."""
    if name not in plugins.names("encoder"):
        return pools
    encoder = plugins.load("encoder", name)
    if not hasattr(encoder, "encode_queries"):
        return pools
    return near_queries(encoder(), read_titles(session, study_id), pools, vectors)


def _list_settings(session: Session, study_id: str, job: SimulationSettings) -> list[Setting]:
    """Return the groupings to try, among them one at a time and the current one of the study."""
    current = StudySettings.of(get_study(session, study_id).settings).grouping.get("setting")
    settings = parse_methods(job.methods, read_caps(job.caps)) if job.methods else []
    return with_always(settings, Setting.parse(current) if current else None)


def _read_groupings(
    session: Session,
    study_id: str,
    encoder: str,
    pools: GroupedPools,
    vectors: Vectors,
    settings: Sequence[Setting],
) -> Groupings:
    hashes = None
    if any(setting.grouper.needs == "hashes" for setting in settings):
        hashes = vectors if encoder == HASH else read_vectors(session, study_id, HASH)[0]
    groupings = Groupings(pools, vectors, hashes)
    groupings.check(settings)
    return groupings


def parse_annotator(values: Mapping[str, Any]) -> GroupedAnnotator:
    """Return an annotator type; values that are not given are Typical's, or those of the bound.

    Raises
    ------
    BadSetting
        No name, or a value of the wrong type.
    UnknownName
        A value that annotator types do not have.
    """
    name = str(values.get("name", "")).strip()
    if not name:
        raise BadSetting(
            "must be objects with a name (got an empty name). Enter a name per type.",
            argument="annotators",
        )
    defaults = annotator("typical").settings
    typed: dict[str, Any] = {}
    for key, value in values.items():
        default = defaults.get(key, value)
        if not _has_type_of(default, value):
            raise BadSetting(
                f"{name}: {key} must have the type of {default!r} (got {value!r})", value=value
            )
        if isinstance(default, int | float) and not isinstance(default, bool):
            typed[key] = type(default)(value)
        else:
            typed[key] = value
    typed["name"] = name
    return annotator(name if name in BOUNDS else DEFAULT, **typed)


def _has_type_of(default: object, value: object) -> bool:
    """Tell whether a value has the type of a default; a whole number may be written as 3.0."""
    if not isinstance(default, int | float) or isinstance(default, bool):
        return type(value) is type(default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(default, float) or value == int(value)


def estimate_plan(session: Session, study_id: str, job: SimulationSettings) -> dict[str, Any]:
    """Return what a simulation will run and about how many seconds it takes; store nothing."""
    what = read_plan(session, study_id, job)
    seconds = expected_seconds(
        what.groupings, what.settings, what.people, repetitions=what.repetitions
    )
    return {
        "plan": what.describe(seconds),
        "seconds": seconds,
        "settings": [str(setting) for setting in what.settings],
        "annotators": [person.name for person in what.people],
        "queries": len(what.groupings.pools.queries),
        "notes": what.notes,
    }
