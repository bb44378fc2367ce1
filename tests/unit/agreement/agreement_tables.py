import numpy as np

from venire import Judgments

# Krippendorff (2011), four coders on twelve units; "." is missing.
FOUR_CODERS = """
A 1 2 3 3 2 1 4 1 2 . . .
B 1 2 3 3 2 2 4 1 2 5 . 3
C . 3 3 3 2 3 4 2 2 5 1 .
D 1 2 3 3 2 4 4 1 2 5 1 .
"""


def table(rows, **options):
    """Judgments from (query, doc, annotator, label) rows."""
    names = ("query_id", "doc_id", "annotator_id", "label")
    columns = zip(*rows, strict=True) if rows else [[]] * 4
    return Judgments.from_dict(dict(zip(names, map(list, columns), strict=True)), **options)


def counted(cells, **options):
    """Judgments of two annotators x and y from {(label of x, label of y): number of items}."""
    rows = []
    for (mine, theirs), number in cells.items():
        for at in range(number):
            doc = f"{mine}-{theirs}-{at}"
            rows += [("q", doc, "x", mine), ("q", doc, "y", theirs)]
    return table(rows, **options)


def random_rows(seed, *, annotators=5, items=60, grades=4, topics=6, missing=0.4, noise=1.0):
    """Noisy labels of a hidden grade, with gaps."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, grades, items)
    rows = []
    for item in range(items):
        for annotator in range(annotators):
            if random.random() < missing:
                continue
            label = truth[item] + round(random.normal(0, noise))
            label = int(min(max(label, 0), grades - 1))
            rows.append((f"q{item % topics}", f"d{item}", f"a{annotator}", label))
    return rows


def matrix(rows):
    """Annotators x items with nan, as the krippendorff package takes it (tests only)."""
    people = sorted({row[2] for row in rows})
    items = sorted({row[:2] for row in rows})
    out = np.full((len(people), len(items)), np.nan)
    for query, doc, person, label in rows:
        out[people.index(person), items.index((query, doc))] = label
    return out


def four_coders():
    rows = []
    for line in FOUR_CODERS.strip().splitlines():
        name, *labels = line.split()
        rows += [("q", f"u{at:02}", name, int(x)) for at, x in enumerate(labels) if x != "."]
    return rows
