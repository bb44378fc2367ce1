"""``venire trust --campaign``: files and campaigns of a study as groups of annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import venire
from venire.cli.shared.database import open_store
from venire.cli.shared.output import emit, write_folder
from venire.errors import BadSetting
from venire.reliability.repeatability import MEASURES

if TYPE_CHECKING:
    from venire.reliability.repeatability import Group
    from venire.tables.runs import Runs


def compare_campaigns(
    campaigns: tuple[str, ...],
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    *,
    study: str | None,
    database: str,
    relevant_from: int | None,
    output: str | None,
    form: str,
    **options: Any,
) -> None:
    """Compare the groups, and print one row per measure and two groups."""
    groups: dict[str, Group | str] = dict(_read_campaigns(campaigns, study))
    ranked: Runs | tuple[str, ...] = runs
    notes: list[str] = []
    if study is not None:
        ranked, notes = _load_study(groups, runs, study, database, options["model"])
    if relevant_from is not None:
        options["relevant_from"] = relevant_from
    result = venire.measure_repeatability(groups, ranked, measures or MEASURES, **options)
    emit(
        "trust",
        result.orders,
        form=form,
        settings={
            **result.settings,
            "model": options["model"],
            "study": study,
            "seed": result.seed,
        },
        notes=[result.sentence, *notes, *result.notes, *write_folder(result, output, form)],
    )


def _read_campaigns(campaigns: tuple[str, ...], study: str | None) -> dict[str, str]:
    """Return the file of each group, empty for a campaign of the study."""
    files: dict[str, str] = {}
    for text in campaigns:
        name, equals, path = (part.strip() for part in text.partition("="))
        if not name or (equals and not path):
            raise BadSetting(f"must be NAME=FILE (got {text!r})", argument="campaigns")
        if not equals and study is None:
            raise BadSetting(
                f"must be NAME=FILE (got {text!r}).",
                argument="campaigns",
                hint="For a campaign of a study, name the study with --study.",
            )
        if name in files:
            raise BadSetting(f"must have different names (got {name} twice)", argument="campaigns")
        files[name] = path
    return files


def _load_study(
    groups: dict[str, Group | str], runs: tuple[str, ...], study: str, database: str, model: str
) -> tuple[Runs | tuple[str, ...], list[str]]:
    """Load campaigns without a file, and runs unless they are files; return runs and notes."""
    from venire.server.jobs.repeatability import read_study_group
    from venire.server.studies.files import read_runs
    from venire.server.studies.studies import find_study

    notes: list[str] = []
    with open_store(database) as store, store.reading() as session:
        study_id = find_study(session, study).id
        for name, path in groups.items():
            if not path:
                groups[name] = read_study_group(session, study_id, name, model, notes)
        return runs or read_runs(session, study_id), notes
