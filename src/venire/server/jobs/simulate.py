"""The job ``simulate``: which grouping of the study's pools saves time; units kept as they come."""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from venire import plugins
from venire.errors import BadSetting, DataError, UnknownName
from venire.formats.study_settings import StudySettings
from venire.grouping.settings import Setting, parse_methods, read_caps
from venire.progress import Progress
from venire.report.grouping import GroupingReport, grouping_page
from venire.report.grouping_words import doubts, explanations, plan, verdict
from venire.server.jobs import queue as jobs
from venire.server.jobs.encode import HASH
from venire.server.jobs.inputs import checked, parquet, plain
from venire.server.jobs.queue import Work, forget, keep
from venire.server.store.session import Store
from venire.server.studies.pools import pooled, read_vectors, titles
from venire.server.studies.results import judgments
from venire.server.studies.studies import get_study, read_qrels
from venire.simulation.grouping.annotators import (
    BOUNDS,
    DEFAULT,
    GroupedAnnotator,
    annotator,
    with_bounds,
)
from venire.simulation.grouping.pilot import majority_truth
from venire.simulation.grouping.pools import GroupedPools, Groupings, near_queries, with_always
from venire.simulation.grouping.recommend import Recommendation, recommend
from venire.simulation.grouping.replay import REPETITIONS, Unit, expected_seconds, results
from venire.simulation.grouping.replay import simulate as replay_all
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels

SETTINGS: dict[str, Any] = {
    "truth": "pilot",
    "campaign": None,
    "encoder": "",
    "methods": "",
    "caps": "none",
    "annotators": [],
    "queries": None,
    "repetitions": REPETITIONS,
    "bootstrap": 1000,
    "seed": 0,
}
KEEP_SECONDS = 1.0
QRELS = "qrels:"


@dataclass(frozen=True)
class Asked:
    """What is to be simulated, read from the study."""

    groupings: Groupings
    settings: list[Setting]
    people: list[GroupedAnnotator]
    chosen: list[str]
    repetitions: int
    bootstrap: int
    seed: int
    notes: list[str]

    @property
    def print(self) -> str:
        """A hash of all that decides a unit: what was kept under another one is of no use."""
        pools = self.groupings.pools
        said = [pools.queries, pools.documents, [one.settings for one in self.people]]
        found = hashlib.sha256(json.dumps([*said, self.seed, self.repetitions]).encode())
        for array in (pools.start, pools.relevant, pools.nearness, *self.groupings.arrays):
            found.update(array.tobytes())
        return found.hexdigest()[:16]

    @property
    def sentence(self) -> str:
        """What will run."""
        return plan(
            self.settings,
            self.people,
            queries=len(self.groupings.pools.queries),
            repetitions=self.repetitions,
        )


def read_truth(
    session: Any, study_id: str, truth: str, campaign: str | None = None
) -> tuple[Qrels, Judgments | None]:
    """The labels to compare against, and the pilot's judgments where there are any.

    ``truth`` is ``pilot``, the majority of the judgments that count, or ``qrels:NAME``.
    """
    least = StudySettings.of(get_study(session, study_id).settings).relevant_from
    judged: Judgments | None = judgments(session, study_id, campaign)
    if judged is not None and not len(judged):
        judged = None
    if truth.startswith(QRELS):
        return read_qrels(session, study_id, truth.removeprefix(QRELS)), judged
    if truth != "pilot":
        raise UnknownName("truth", truth, ("pilot", "qrels:NAME"))
    if judged is None:
        raise DataError("there is no pilot: no judgment counts yet; choose qrels")
    return majority_truth(judged, relevant_from=least), judged


def asked(session: Any, study_id: str, settings: Mapping[str, Any]) -> Asked:
    """Read pools, truth and vectors of a study, and the settings and types to try.

    Raises
    ------
    VenireError
        For what cannot be simulated, in words.
    """
    given = checked(settings, SETTINGS)
    study = StudySettings.of(get_study(session, study_id).settings)
    pool = pooled(session, study_id)
    if pool.is_empty():
        raise DataError("the study has no pool yet; build it on the Pool page")
    truth, _ = read_truth(session, study_id, given["truth"], given["campaign"])
    pools = GroupedPools.of(
        pool, truth, relevant_from=study.relevant_from, queries=given["queries"], seed=given["seed"]
    )
    name = given["encoder"]
    if not name:
        raise BadSetting("name the encoder whose vectors are compared")
    vectors, _ = read_vectors(session, study_id, name)
    if name in plugins.names("encoder"):
        encoder = plugins.load("encoder", name)
        if hasattr(encoder, "encode_queries"):
            pools = near_queries(encoder(), titles(session, study_id), pools, vectors)
    current = study.grouping.get("setting")
    tried = parse_methods(given["methods"], read_caps(given["caps"])) if given["methods"] else []
    every = with_always(tried, Setting.parse(current) if current else None)
    hashes = None
    if any(one.grouper.needs == "hashes" for one in every):
        hashes = vectors if name == HASH else read_vectors(session, study_id, HASH)[0]
    groupings = Groupings(pools, vectors, hashes)
    groupings.check(every)
    people = with_bounds([_annotator(one) for one in given["annotators"]])
    chosen = [one.name for one in people if not one.bound]
    if not chosen:
        raise BadSetting("choose at least one annotator type; the bounds do not count")
    return Asked(
        groupings, every, people, chosen,
        given["repetitions"], given["bootstrap"], given["seed"],
        [*truth.notes, *groupings.notes],
    )  # fmt: skip


def _annotator(values: Mapping[str, Any]) -> GroupedAnnotator:
    """One type from its values; those that are not given are Typical's, or the bound's."""
    if not isinstance(values, Mapping) or not str(values.get("name", "")).strip():
        raise BadSetting("each annotator type is an object with a name and its values")
    defaults = annotator("typical").settings
    out = {}
    for name, value in values.items():
        like = defaults.get(name, value)
        number = isinstance(like, int | float) and not isinstance(like, bool)
        if number:
            wrong = isinstance(value, bool) or not isinstance(value, int | float)
        else:
            wrong = type(value) is not type(like)
        if wrong or (type(like) is int and value != int(value)):
            raise BadSetting(f"{values['name']}: {name} is {value!r}; it must be like {like!r}")
        out[name] = int(value) if type(like) is int else float(value) if number else value
    out["name"] = str(values["name"]).strip()
    return annotator(out["name"] if out["name"] in BOUNDS else DEFAULT, **out)


def estimate(session: Any, study_id: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What will run, in a sentence with about how long it takes; nothing is kept."""
    what = asked(session, study_id, settings)
    seconds = expected_seconds(
        what.groupings, what.settings, what.people, repetitions=what.repetitions
    )
    sentence = plan(
        what.settings,
        what.people,
        queries=len(what.groupings.pools.queries),
        repetitions=what.repetitions,
        seconds=seconds,
    )
    return {
        "plan": sentence,
        "seconds": seconds,
        "settings": [str(one) for one in what.settings],
        "annotators": [one.name for one in what.people],
        "queries": len(what.groupings.pools.queries),
        "notes": what.notes,
    }


def check(session: Any, study_id: str, settings: Mapping[str, Any]) -> None:
    """Refuse what cannot be simulated before the job waits."""
    asked(session, study_id, settings)


def run(
    store: Store, job: Work, progress: Progress, should_stop: Callable[[], bool]
) -> dict[str, Any]:
    """Replay every setting with every type, and recommend; see the page on choosing a grouping.

    ``truth`` is pilot or qrels:NAME; ``annotators`` are objects with a name and values;
    ``methods`` and ``caps`` are written as ``venire simulate grouping`` reads them. Finished
    units are kept as they come: a job that was stopped goes on where it was.
    """
    with store.reading() as session:
        what = asked(session, job.study_id, job.settings)
        mine = [one for one in jobs.parts(session, job.id) if one.startswith(f"units-{what.print}")]
        tables = [
            pl.read_parquet(io.BytesIO(jobs.part(session, job.id, one))) for one in sorted(mine)
        ]
    tables += _replay(store, job, what, tables, progress)
    table = pl.concat(tables)
    found = recommend(table, what.chosen, bootstrap=what.bootstrap, seed=what.seed)
    _keep(store, job, what, table, found)
    with store.reading() as session:
        names = [one for one in jobs.parts(session, job.id) if one.startswith("units-")]
    forget(store, job, names)
    words = explanations(found)
    return {
        "verdict": verdict(found),
        "doubts": doubts(found),
        "setting": found.setting,
        "chosen": list(found.chosen),
        "points": found.points,
        "encoder": job.settings["encoder"],
        "plan": what.sentence,
        "rows": plain(found.settings.to_dicts()),
        "types": plain(found.types.to_dicts()),
        "explanations": words,
        "queries": list(what.groupings.pools.queries),
        "notes": what.notes,
        "seed": found.seed,
        "version": found.version,
    }


def _replay(
    store: Store, job: Work, what: Asked, there: list[pl.DataFrame], progress: Progress
) -> list[pl.DataFrame]:
    """Replay what is left; whatever happens, units that were finished are kept."""
    done = {
        pair for table in there for pair in table.select("setting", "annotator").unique().rows()
    }
    made: list[pl.DataFrame] = []
    waiting: list[Unit] = []
    number, kept = len(there), time.monotonic()

    def put_away() -> None:
        nonlocal number, kept
        if waiting:
            made.append(results(waiting))
            waiting.clear()
            keep(store, job, f"units-{what.print}-{number:06d}", parquet(made[-1]))
            number, kept = number + 1, time.monotonic()

    units = replay_all(
        what.groupings,
        what.settings,
        what.people,
        seed=what.seed,
        repetitions=what.repetitions,
        done=done,
        progress=progress,
    )
    try:
        for unit in units:
            waiting.append(unit)
            if time.monotonic() - kept > KEEP_SECONDS:
                put_away()
    except jobs.Stopped:
        put_away()
        raise
    put_away()
    return made


def _keep(store: Store, job: Work, what: Asked, table: pl.DataFrame, found: Recommendation) -> None:
    report = GroupingReport(
        found=found,
        results=table,
        annotators=what.people,
        cosines=what.groupings.cosines(),
        plan=what.sentence,
        seed=what.seed,
        notes=[verdict(found), *doubts(found), *what.notes],
    )
    page = grouping_page(report).render(f"Venire {found.version}, seed {found.seed}")
    keep(store, job, "report.html", page.encode())
    frames = {
        "settings": found.settings,
        "types": found.types,
        "queries": table,
        "annotators": pl.DataFrame([one.settings for one in what.people]),
        "cosines": report.cosines,
    }
    for name, frame in frames.items():
        keep(store, job, f"{name}.parquet", parquet(frame))


run.check = check  # type: ignore[attr-defined]
