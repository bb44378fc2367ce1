"""Compare the order of systems under several groups of annotators: waves, crowds, experts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from venire.agreement.strictness import agreements, strictest, strictness
from venire.arrays import Longs, Mask
from venire.errors import BadSetting, NoOverlap
from venire.evaluation.ranks import ABSENT, RankTable
from venire.evaluation.score import Scores, parse_measures, rank, require_whole_grades, score
from venire.measures import Measure
from venire.reliability.group_orders import Options, compare_orders
from venire.reliability.order_sentence import describe_order
from venire.short_repr import list_names, write_repr
from venire.stats.proportion import Proportion, difference
from venire.stats.rank_correlation import rank_scores
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR, express

Row = dict[str, Any]
PAIRS = ("shared", "own")
MEASURES = ("AP", "nDCG", "P@10")


@dataclass(frozen=True, eq=False)
class Group:
    """One group of annotators: its grades, and what is known of its work.

    Attributes
    ----------
    qrels : Qrels
        Whole grades on the scale that all groups share.
    judgments : Judgments, optional
        Judgments that the qrels were made from; give the agreement within the group.
    rejected : Proportion, optional
        Share of rejected batches among those decided.
    """

    qrels: Qrels
    judgments: Judgments | None = None
    rejected: Proportion | None = None


@dataclass(frozen=True, eq=False)
class Repeatability:
    """Scores and order of the same systems under every group.

    Attributes
    ----------
    groups, runs : tuple of str
    measures : tuple of Measure
    orders : list of dict
        One row per measure and two groups: ``measure, first, second, tau, tau_low, tau_high,
        tau_ap, pairs, swapped, matter, largest_shift``. ``matter`` counts the swapped pairs of
        systems that are significantly different under either group.
    swaps : list of dict
        One row per swapped pair of systems: ``measure, first, second, better, worse,
        told_apart_by``.
    scores : polars.DataFrame
        ``measure, run_id`` and for each group its score and rank.
    strictness : list of dict
        See :func:`venire.agreement.strictness.strictness`.
    agreement : list of dict
        Within each group and between two: ``first, second, measure, value, low, high``.
    rates : list of dict
        ``group, pairs, judgments, annotators, rejected, low, high, batches``; ``differs``,
        whether Newcombe's 95% interval of the difference from the group before excludes 0.
    sentence : str
    notes : tuple of str
    settings : dict
    seed : int
    version : str
    """

    groups: tuple[str, ...]
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    orders: list[Row]
    swaps: list[Row]
    scores: pl.DataFrame
    strictness: list[Row]
    agreement: list[Row]
    rates: list[Row]
    sentence: str
    notes: tuple[str, ...]
    settings: Row
    seed: int
    version: str

    def __repr__(self) -> str:
        return write_repr(
            self, f"{list_names(self.groups)}, {list_names(self.measures)}", self.sentence
        )


def compare_groups(
    groups: Mapping[str, Group],
    runs: Runs,
    measures: Sequence[str | Measure] = MEASURES,
    *,
    pairs: str = "shared",
    relevant_from: float = 1,
    topics: str = "qrels",
    ties: str = "trec",
    permutations: int = 1000,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Repeatability:
    """Score and rank systems under each group, and measure whether the order repeats.

    Computes tau-b, tau_ap,b and swapped pairs of systems for every two groups, with a 95%
    confidence interval of tau by bootstrap over topics. Where the interval is undefined, or fewer
    than six topics count, the sentence says first that there is too little data. Two systems are
    told apart by a group where the randomised Tukey HSD over all systems (Carterette, ACM TOIS 30,
    2012) has p < .05. The design is that of Blanco et al., "Repeatable and reliable semantic search
    evaluation" (J. Web Semantics 21, 2013).

    Parameters
    ----------
    groups : mapping
        Two or more groups by name.
    runs : Runs
    measures : sequence
    pairs : "shared" or "own"
        Score on the pairs that all groups judged, so that only grades differ, or each group on
        its own pairs.
    relevant_from : float
        Smallest relevant grade, for agreement.
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.
    permutations, bootstrap : int
        Number of permutations per test, and of bootstrap samples per interval.
    seed : int

    Raises
    ------
    BadSetting
        Fewer than two groups, or two runs.
    NoOverlap
        The groups share no pair.

    Examples
    --------
    >>> crowd = Group(Qrels.from_dict({"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 1}}))
    >>> expert = Group(Qrels.from_dict({"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 0}}))
    >>> one = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}, "r": {"b": 2.0}}, run_id="one")
    >>> two = Runs.from_dict({"q": {"b": 2.0, "a": 1.0}, "r": {"a": 2.0}}, run_id="two")
    >>> both = Runs(pl.concat([one.frame, two.frame]))
    >>> compare_groups({"crowd": crowd, "expert": expert}, both, ["AP"]).orders[0]["tau"]
    1.0
    """
    options = Options(
        pairs=pairs,
        relevant_from=relevant_from,
        topics=topics,
        ties=ties,
        permutations=permutations,
        bootstrap=bootstrap,
        seed=seed,
    )
    parsed = _check(groups, measures, options)
    names = tuple(groups)
    table = _rank_all_pairs(groups, runs, ties)
    grades = _stack_grades(table, groups)
    is_shared = (grades != ABSENT).all(axis=0)
    if not is_shared.any():
        raise NoOverlap(f"the groups {', '.join(names)} share no judged pair")
    shared_pairs = express(int(is_shared.sum()), "pair")
    scores = _score_groups(table, grades, is_shared, parsed, options)
    is_counted = np.logical_and.reduce([group.counted.all(axis=0) for group in scores])
    orders, swaps = compare_orders(names, scores, is_counted, options)
    common = grades[:, is_shared]
    offsets = strictness(names, common, table.topic[is_shared], bootstrap=bootstrap, seed=seed)
    agreement, agreement_notes = agreements(
        names,
        common,
        table.pairs.filter(pl.Series(is_shared)),
        {name: group.judgments for name, group in groups.items() if group.judgments is not None},
        relevant_from,
        bootstrap=bootstrap,
        seed=seed,
    )
    notes = _describe_pairs(names, table, grades, is_shared, shared_pairs, pairs)
    notes += dict.fromkeys(note for group in scores for note in group.notes)
    return Repeatability(
        groups=names,
        runs=tuple(table.runs),
        measures=tuple(parsed),
        orders=orders,
        swaps=swaps,
        scores=_tabulate_scores(names, scores),
        strictness=offsets,
        agreement=agreement,
        rates=_compare_rates(groups),
        sentence=describe_order(
            names, orders, strictest(names, offsets), int(is_counted.sum()), shared_pairs
        ),
        notes=(*notes, *agreement_notes),
        settings={
            "groups": list(names),
            "measures": [str(measure) for measure in parsed],
            **{name: value for name, value in asdict(options).items() if name != "seed"},
        },
        seed=seed,
        version=version("venire"),
    )


def _check(
    groups: Mapping[str, Group], measures: Sequence[str | Measure], options: Options
) -> list[Measure]:
    """Return the measures as values; refuse settings that cannot be used."""
    if len(groups) < 2:
        raise BadSetting("repeatability needs at least two groups of annotators")
    if options.pairs not in PAIRS:
        raise BadSetting(
            f"must be {' or '.join(PAIRS)} (got {options.pairs!r})",
            argument="pairs",
            value=options.pairs,
        )
    parsed = parse_measures(measures)
    if not parsed:
        raise BadSetting("must name at least one measure (got none)", argument="measures")
    return parsed


def _rank_all_pairs(groups: Mapping[str, Group], runs: Runs, ties: str) -> RankTable:
    """Return where the runs rank the pairs that any group judged."""
    pairs = pl.concat([group.qrels.frame.select(PAIR) for group in groups.values()])
    pairs = pairs.unique(maintain_order=True).with_columns(pl.lit(0).alias("relevance"))
    table = rank(Qrels(pairs), runs, ties=ties)
    if len(table.runs) < 2:
        raise BadSetting("the order of systems needs at least two runs")
    return table


def _stack_grades(table: RankTable, groups: Mapping[str, Group]) -> Longs:
    """Return each group's grades [G, P], ``ABSENT`` where there is none."""
    for name, group in groups.items():
        require_whole_grades(group.qrels, name)
    grades = np.stack([table.grades(group.qrels) for group in groups.values()])
    grades[grades < 0] = ABSENT
    return grades


def _score_groups(
    table: RankTable, grades: Longs, is_shared: Mask, measures: list[Measure], options: Options
) -> list[Scores]:
    """Return the scores of the runs under each group."""
    return [
        score(
            table,
            np.where(is_shared, row, ABSENT) if options.pairs == "shared" else row,
            measures,
            topics=options.topics,
        )
        for row in grades
    ]


def _describe_pairs(
    names: Sequence[str],
    table: RankTable,
    grades: Longs,
    is_shared: Mask,
    shared_pairs: str,
    pairs: str,
) -> list[str]:
    """Return notes that count the pairs that all groups judged, and the others."""
    topics = express(np.unique(table.topic[is_shared]).size, "topic")
    verb = "was" if is_shared.sum() == 1 else "were"
    notes = [f"{shared_pairs} of {topics} {verb} judged by all groups"]
    for name, row in zip(names, grades, strict=True):
        others = int(((row != ABSENT) & ~is_shared).sum())
        if others:
            used = "not used" if pairs == "shared" else "used for its own scores"
            notes.append(f"{name}: {express(others, 'pair')} that not all groups judged, {used}")
    return notes


def _tabulate_scores(names: Sequence[str], scores: list[Scores]) -> pl.DataFrame:
    """Return one row per measure and run: the score and rank under each group."""
    parts = []
    for m, measure in enumerate(scores[0].measures):
        runs = scores[0].runs
        columns: dict[str, Any] = {"measure": [str(measure)] * len(runs), "run_id": runs}
        for name, group in zip(names, scores, strict=True):
            columns[name] = group.mean[m]
            columns[f"{name} rank"] = rank_scores(group.mean[m])
        parts.append(pl.DataFrame(columns).sort(f"{names[0]} rank", "run_id"))
    return pl.concat(parts)


def _compare_rates(groups: Mapping[str, Group]) -> list[Row]:
    """Return one row per group: its size, and its share of rejected batches."""
    rows: list[Row] = []
    previous: Proportion | None = None
    for name, group in groups.items():
        rate, judgments = group.rejected, group.judgments
        differs = None
        if rate is not None and rate.tries and previous is not None and previous.tries:
            _, low, high = difference(rate, previous)
            differs = low > 0 or high < 0
        rows.append(
            {
                "group": name,
                "pairs": len(group.qrels),
                "judgments": None if judgments is None else len(judgments),
                "annotators": None if judgments is None else judgments.codes.n_annotators,
                "rejected": None if rate is None else rate.value,
                "low": None if rate is None else rate.low,
                "high": None if rate is None else rate.high,
                "batches": None if rate is None else rate.tries,
                "differs": differs,
            }
        )
        previous = rate if rate is not None and rate.tries else previous
    return rows
