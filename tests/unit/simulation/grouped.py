"""Made-up pools, and a person who judges them image by image, for the tests of the simulator."""

import numpy as np
import polars as pl

from venire import Qrels
from venire.simulation.grouping.pools import GroupedPools


def pools_of(sizes, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    rows = [(f"q{q}", f"q{q}d{d}") for q, size in enumerate(sizes) for d in range(size)]
    grades = (rng.random(len(rows)) < share).astype(int)
    grades[0] = 1
    pool = pl.DataFrame(rows, schema=["query_id", "doc_id"], orient="row")
    truth = Qrels.of(pool.with_columns(pl.Series("relevance", grades)))
    return GroupedPools.of(pool, truth)


def labels_of(pools, groups, seed=0):
    """Random groups within each query, some images in none, numbered through."""
    rng = np.random.default_rng(seed)
    out, number = np.full(len(pools), -1, np.int64), 0
    for at in range(len(pools.queries)):
        begin, end = pools.start[at], pools.start[at + 1]
        drawn = rng.integers(-1, groups, end - begin)
        for group in range(groups):
            inside = begin + np.flatnonzero(drawn == group)
            if inside.size >= 2:
                out[inside] = number
                number += 1
    return out


def by_hand(pools, labels, person, chance, repetition):
    """Do what the manual says a person does, one step after another; a row a query."""
    rows = []
    for at, query in enumerate(pools.queries):
        images = range(pools.start[at], pools.start[at + 1])
        truth = {i: bool(pools.relevant[i]) for i in images}
        sees = {}
        for i in images:
            accuracy = person.accuracy_relevant if truth[i] else person.accuracy_not_relevant
            right = chance.perceive[repetition, i] < accuracy
            sees[i] = truth[i] if right else not truth[i]
        seconds, final, looked = 0.0, {}, set()
        did = dict.fromkeys(
            ("judged", "labelled", "corrected", "split", "glances_relevant",
             "glances_not_relevant"), 0
        )  # fmt: skip

        def glance(i, did=did, truth=truth, looked=looked):
            looked.add(i)
            did["glances_relevant" if truth[i] else "glances_not_relevant"] += 1
            return person.glance_relevant_seconds if truth[i] else (
                person.glance_not_relevant_seconds
            )  # fmt: skip

        for i in images:  # 1. the ungrouped images, one by one
            if labels[i] < 0:
                final[i] = sees[i]
                looked.add(i)
                did["judged"] += 1
                seconds += person.judge_seconds
        for group in sorted({int(labels[i]) for i in images if labels[i] >= 0}):  # 2. the groups
            members = [i for i in images if labels[i] == group]
            first = min(members, key=lambda i: pools.nearness[i])
            if person.one_glance:
                some = [first]
            elif len(members) <= person.check_all:
                some = members
            else:
                some = [
                    i for i in members if chance.check[repetition, i] < person.check_probability
                ] or [first]
            seconds += sum(glance(i) for i in some)
            yes = sum(sees[i] for i in some)
            no = len(some) - yes
            label = yes > no or (yes == no and person.tie == "relevant")
            seconds += person.label_seconds
            did["labelled"] += 1
            final |= dict.fromkeys(members, label)
            wrong = [i for i in some if sees[i] != label]
            final |= {i: sees[i] for i in wrong}
            cost = len(wrong) * person.correct_seconds
            if person.split and cost > person.split_seconds + person.label_seconds:
                did["split"] += 1
                did["labelled"] += 1
                seconds += person.split_seconds + person.label_seconds
            else:
                did["corrected"] += len(wrong)
                seconds += cost
        if person.review == "all" and not person.one_glance:  # 3. the review round
            for i in images:
                if i not in looked:
                    seconds += glance(i)
                    if sees[i] != final[i]:
                        final[i] = sees[i]
                        did["corrected"] += 1
                        seconds += person.correct_seconds
        relevant = sum(truth.values())
        found = sum(final[i] and truth[i] for i in images)
        called = sum(final.values())
        rows.append(
            {
                "query_id": query,
                "images": len(images),
                "relevant": relevant,
                "seconds": seconds,
                **did,
                "never_looked": len(images) - len(looked),
                "found": found,
                "called": called,
                "recall": found / relevant if relevant else None,
                "precision": found / called if called else None,
            }
        )
    return rows
