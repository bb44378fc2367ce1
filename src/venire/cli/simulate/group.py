"""``venire simulate``: try pools, assessors, campaigns and grouped judging on known grades."""

from __future__ import annotations

import click

from venire.cli.simulate import annotators, assessors, campaign, grouping, pools


@click.group("simulate")
def group() -> None:
    """Simulate pools, assessors, campaigns and grouped judging on known grades."""


for module in (pools, assessors, grouping, annotators, campaign):
    group.add_command(module.command)
