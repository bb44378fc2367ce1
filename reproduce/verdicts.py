"""Simulate every verdict of Venire where the truth is known: false alarms, coverage and power.

    python reproduce/verdicts.py [NAME...] [--quick] [--seed N]

NAME is a module of ``reproduce/verdicts``; all of them by default. ``--quick`` runs a few
simulations of each, to see that they work. Writes ``reproduce/output/verdicts.csv``.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import pkgutil
import time
from pathlib import Path

import verdicts

COLUMNS = (
    "verdict", "world", "simulations", "false_alarms", "coverage", "standard_error", "power",
)  # fmt: skip
OUT = Path(__file__).parent / "output"


def show(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def main():
    known = [module.name for module in pkgutil.iter_modules(verdicts.__path__)]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*known, []], metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for name in options.names or known:
        start = time.monotonic()
        module = importlib.import_module(f"verdicts.{name}")
        new = module.run(options.quick, options.seed)
        print(f"\n{name} ({time.monotonic() - start:.0f} s)")
        table = [COLUMNS, *([show(row.get(column)) for column in COLUMNS] for row in new)]
        widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
        for row in table:
            cells = (value.ljust(width) for value, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip(), flush=True)
        rows += new
    OUT.mkdir(exist_ok=True)
    with (OUT / "verdicts.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
