"""What each annotator of a study did, how well, how fast, and what is unusual."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

import polars as pl
from sqlalchemy import Integer, case, func, literal_column, select
from sqlalchemy.orm import Session

from venire.agreement.breakdown import by_annotator
from venire.agreement.counts import first_relevant
from venire.formats.study_settings import CampaignSettings, StudySettings
from venire.server.judging.review import is_right
from venire.server.store.judging import Batch, Campaign, Judgment, Lease
from venire.server.store.people import Membership, User
from venire.server.studies.judgments import read_judgments
from venire.server.studies.listing import Row
from venire.server.studies.studies import get_study
from venire.stats.proportion import Z99, Proportion, difference, wilson

STEP_MS = 500
MAX_MS = 60_000
MIN_JUDGMENTS = 20
"""Smallest number of labels, and twice the smallest number of gold labels, for a flag."""
FAST_SHARE = 1 / 3
SAME_LABEL_SHARE = 0.95
MIN_GOLD_ACCURACY = 0.7
FLAG_RULES = {
    "fast": "mean active time per document (capped at one minute) is below a third of the other "
    f"annotators' median (at least {MIN_JUDGMENTS} judgments, three annotators)",
    "one label": f"more than {SAME_LABEL_SHARE:.0%} of judgments have the same label (at least "
    f"{MIN_JUDGMENTS} judgments)",
    "gold": f"the 95% interval of the accuracy on gold is below {MIN_GOLD_ACCURACY:.0%}",
    "drift": "accuracy on gold in the last wave differs from that in earlier waves: "
    "Newcombe's 99% interval of the difference excludes 0",
}


@dataclass
class _Work:
    """Counts of the work of one annotator."""

    labels: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    answers: int = 0
    timed: int = 0
    capped_ms: int = 0
    accepted: int = 0
    rejected: int = 0
    undecided: int = 0
    gold: dict[int, list[int]] = field(default_factory=dict)

    @property
    def seconds(self) -> float | None:
        """Mean active time; of each answer a minute at most."""
        return self.capped_ms / 1000 / self.timed if self.timed else None

    @property
    def most(self) -> tuple[int | None, float | None]:
        """The label given most, and its share."""
        total = sum(self.labels.values())
        if not total:
            return None, None
        label = max(sorted(self.labels), key=lambda key: self.labels[key])
        return label, self.labels[label] / total

    def accuracy(self) -> Proportion:
        """The share of gold that was right, over all waves."""
        right = sum(key[0] for key in self.gold.values())
        return wilson(right, sum(key[1] for key in self.gold.values()))


class AnswerCount(NamedTuple):
    """Number of answers with one label by an annotator in a campaign, and their active time."""

    campaign_id: str
    annotator_id: str
    label: int | None
    answers: int
    timed: int
    active_ms: int
    capped_ms: int


def count_answers(session: Session, study_id: str) -> list[AnswerCount]:
    """Count all answers of a study in index order, without sorting."""
    ms = Judgment.active_ms
    capped = case((ms > MAX_MS, MAX_MS), else_=ms)
    rows = session.execute(
        select(
            Judgment.campaign_id,
            Judgment.annotator_id,
            Judgment.label,
            func.count(),
            func.count(ms),
            func.coalesce(func.sum(ms), 0),
            func.coalesce(func.sum(capped), 0),
        )
        .where(Judgment.campaign_id.in_(select(Campaign.id).where(Campaign.study_id == study_id)))
        .group_by(Judgment.campaign_id, Judgment.annotator_id, Judgment.label)
    )
    return [
        AnswerCount(campaign, annotator, label, answers, timed, int(active), int(capped_ms))
        for campaign, annotator, label, answers, timed, active, capped_ms in rows
    ]


def _read_medians(session: Session, study_id: str) -> dict[str, float]:
    """Return the median active seconds per annotator, interpolated in steps of 0.5 s."""
    ours = Judgment.campaign_id.in_(select(Campaign.id).where(Campaign.study_id == study_id))
    # Divided and floored by both databases alike: a whole number by a whole number.
    step = literal_column(f"judgment.active_ms / {STEP_MS}", Integer)
    timed = Judgment.active_ms.is_not(None) & Judgment.label.is_not(None)
    who = Judgment.annotator_id
    steps: dict[str, dict[int, int]] = defaultdict(dict)
    for annotator, number, n in session.execute(
        select(who, step, func.count()).where(ours, timed).group_by(who, step)
    ):
        steps[annotator][number] = n
    return {annotator: _interpolate_median(counts) for annotator, counts in steps.items()}


def _interpolate_median(steps: dict[int, int]) -> float:
    half, passed = sum(steps.values()) / 2, 0
    for step, n in sorted(steps.items()):
        if passed + n >= half:
            return (step + (half - passed) / n) * STEP_MS / 1000
        passed += n
    raise ValueError("no times")


def _read_work(session: Session, study_id: str, answers: Sequence[AnswerCount]) -> dict[str, _Work]:
    """Return the work of each annotator of a study."""
    work_by_annotator: dict[str, _Work] = defaultdict(_Work)
    for count in answers:
        work = work_by_annotator[count.annotator_id]
        work.answers += count.answers
        if count.label is not None:
            work.labels[count.label] += count.answers
            work.timed += count.timed
            work.capped_ms += count.capped_ms
    batches = session.execute(
        select(
            Batch.annotator_id,
            Campaign.wave,
            func.sum(case((Batch.valid & (Batch.kind == "work"), 1), else_=0)),
            func.sum(case((~Batch.valid & (Batch.kind == "work"), 1), else_=0)),
            func.sum(case((Batch.valid.is_(None), 1), else_=0)),
            func.sum(case((Batch.kind == "practice", 0), else_=Batch.gold_right)),
            func.sum(case((Batch.kind == "practice", 0), else_=Batch.gold_asked)),
        )
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .where(Campaign.study_id == study_id, Batch.state != "returned")
        .group_by(Batch.annotator_id, Campaign.wave)
    )
    for annotator, wave, accepted, rejected, undecided, right, asked in batches:
        work = work_by_annotator[annotator]
        work.accepted += accepted
        work.rejected += rejected
        work.undecided += undecided
        if asked:
            work.gold[wave] = [int(right), int(asked)]
    return work_by_annotator


def _find_flags(work: dict[str, _Work]) -> dict[str, list[tuple[str, str]]]:
    """Return the flags of each annotator: kind and text."""
    times = {
        who: own.seconds
        for who, own in work.items()
        if own.seconds is not None and sum(own.labels.values()) >= MIN_JUDGMENTS
    }
    out: dict[str, list[tuple[str, str]]] = {}
    for who, own in work.items():
        flags: list[tuple[str, str]] = []
        others = [seconds for other, seconds in times.items() if other != who and seconds]
        seconds_taken = times.get(who)
        if (
            seconds_taken is not None
            and len(others) >= 2
            and seconds_taken < FAST_SHARE * median(others)
        ):
            flags.append(
                (
                    "fast",
                    f"{seconds_taken:.1f} s per document (others: {median(others):.1f} s)",
                )
            )
        label, share = own.most
        if (
            share is not None
            and share > SAME_LABEL_SHARE
            and sum(own.labels.values()) >= MIN_JUDGMENTS
        ):
            flags.append(("one label", f"label {label} in {share:.0%} of judgments"))
        gold = own.accuracy()
        if (
            gold.high is not None
            and gold.high < MIN_GOLD_ACCURACY
            and gold.tries >= MIN_JUDGMENTS // 2
        ):
            flags.append(
                ("gold", f"{gold.hits} of {gold.tries} gold right (upper limit {gold.high:.0%})")
            )
        flags += _find_drift(own)
        out[who] = flags
    return out


def _find_drift(work: _Work) -> Iterator[tuple[str, str]]:
    if len(work.gold) < 2:
        return
    *before, last = (work.gold[wave] for wave in sorted(work.gold))
    earlier = wilson(sum(cell[0] for cell in before), sum(cell[1] for cell in before))
    latest = wilson(last[0], last[1])
    _, low, high = difference(latest, earlier, Z99)
    if low > 0 or high < 0:
        yield (
            "drift",
            f"{latest.value:.0%} of gold right in the last wave, {earlier.value:.0%} before",
        )


def find_flagged(
    session: Session, study_id: str, answers: Sequence[AnswerCount] | None = None
) -> list[Row]:
    """Return annotators with flags who are not paused: ``annotator_id, name, flags, text``."""
    answers = count_answers(session, study_id) if answers is None else answers
    flags = {
        who: findings
        for who, findings in _find_flags(_read_work(session, study_id, answers)).items()
        if findings
    }
    rows = session.execute(
        select(User.id, User.name)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.study_id == study_id, Membership.paused_at.is_(None))
        .order_by(User.name)
    )
    return [
        {
            "annotator_id": who,
            "name": name,
            "flags": [kind for kind, _ in flags[who]],
            "text": "; ".join(text for _, text in flags[who]),
        }
        for who, name in rows
        if who in flags
    ]


def list_annotators(session: Session, study_id: str, *, agreement: bool = True) -> list[Row]:
    """Return one row per annotator.

    Counts and speed are over all that was answered, also in rejected batches; agreement is over
    the judgments that count. Accuracy on gold is by the campaigns' own rule, where "cannot
    judge" is wrong, with Wilson's 95% interval.

    Returns
    -------
    list of dict
        ``annotator_id, name, role, judgments, cannot_judge, accepted, rejected, undecided``
        (batches), ``gold, gold_relevant, gold_not_relevant`` (each ``hits, tries, value, low,
        high``), ``median_seconds, label, label_share, items, kappa, quadratic_kappa, leniency``
        (with the others), ``flags`` (each ``kind, text, rule``), ``paused_at, pause_reason``,
        ``holds_browser`` (whether a browser holds the worker ID).
    """
    work = _read_work(session, study_id, count_answers(session, study_id))
    flags = _find_flags(work)
    medians = _read_medians(session, study_id)
    sides = _read_gold_by_side(session, study_id)
    rest = _read_agreement(session, study_id) if agreement else {}
    people = session.execute(
        select(User.id, User.name, User.browser_hash.is_not(None), Membership)
        .join(Membership, Membership.user_id == User.id)
        .where(Membership.study_id == study_id)
        .order_by(User.name, User.id)
    ).all()
    rows = []
    for who, name, holds_browser, member in people:
        if member.role != "annotator" and who not in work:
            continue
        own = work.get(who, _Work())
        label, share = own.most
        rows.append(
            {
                "annotator_id": who,
                "name": name,
                "role": member.role,
                "holds_browser": bool(holds_browser),
                "judgments": sum(own.labels.values()),
                "cannot_judge": own.answers - sum(own.labels.values()),
                "accepted": own.accepted,
                "rejected": own.rejected,
                "undecided": own.undecided,
                "gold": _to_row(own.accuracy()),
                "gold_relevant": _to_row(sides.get((who, True), wilson(0, 0))),
                "gold_not_relevant": _to_row(sides.get((who, False), wilson(0, 0))),
                "median_seconds": medians.get(who),
                "label": label,
                "label_share": share,
                **rest.get(who, dict.fromkeys(_AGREEMENT)),
                "flags": [
                    {"kind": kind, "text": text, "rule": FLAG_RULES[kind]}
                    for kind, text in flags.get(who, [])
                ],
                "paused_at": member.paused_at,
                "pause_reason": member.pause_reason,
            }
        )
    return rows


_AGREEMENT = ("items", "kappa", "quadratic_kappa", "leniency")


def _to_row(rate: Proportion) -> Row:
    return dict(vars(rate))


def _read_agreement(session: Session, study_id: str) -> dict[str, Row]:
    table = read_judgments(session, study_id)
    if not len(table):
        return {}
    frame: pl.DataFrame = by_annotator(table, first_relevant(table.scale, None))
    return {
        row["annotator_id"]: {name: row[name] for name in _AGREEMENT}
        for row in frame.iter_rows(named=True)
    }


def _read_gold_by_side(session: Session, study_id: str) -> dict[tuple[str, bool], Proportion]:
    """Return the accuracy of each annotator on relevant and on not relevant gold."""
    study = StudySettings.of(get_study(session, study_id).settings)
    rows = session.execute(
        select(
            Lease.annotator_id,
            Lease.gold_grade,
            Judgment.label,
            Campaign.id,
            Campaign.settings,
            func.count(),
        )
        .select_from(Lease)
        .join(Batch, Batch.id == Lease.batch_id)
        .join(Campaign, Campaign.id == Batch.campaign_id)
        .outerjoin(Judgment, Judgment.seq == Lease.judgment_seq)
        .where(Campaign.study_id == study_id, Lease.gold_grade.is_not(None))
        .where(Batch.kind != "practice", Batch.valid.is_not(None))
        .where(Lease.state.not_in(("live", "expired", "returned")))
        .group_by(Lease.annotator_id, Lease.gold_grade, Judgment.label, Campaign.id)
    )
    cells: dict[tuple[str, bool], list[int]] = defaultdict(lambda: [0, 0])
    for annotator, grade, label, _, settings, n in rows:
        match = CampaignSettings.of(settings).gold_match
        cell = cells[annotator, grade >= study.relevant_from]
        cell[1] += n
        if label is not None and is_right(label, grade, match, study):
            cell[0] += n
    return {key: wilson(right, asked) for key, (right, asked) in cells.items()}
