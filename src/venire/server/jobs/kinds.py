"""Kinds of jobs: a frozen dataclass of settings per kind, with the methods that check and run it.

The entry point group ``venire.jobs`` gives each kind its name. See "Add a kind of job" in the
documentation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from sqlalchemy.orm import Session

from venire import plugins
from venire.progress import Progress
from venire.server.jobs.work import Work
from venire.settings import Rule, Settings, rules


class JobKind(Settings, ABC):
    """Base of all kinds of jobs: the fields are the settings of a job.

    The form of the API, its description and the ranges that pages offer are derived from the
    rules of the fields (see :mod:`venire.settings`).
    """

    def check(self, session: Session, study_id: str) -> None:
        """Refuse a job that cannot be done, before it is queued.

        Raises
        ------
        VenireError
        """

    @abstractmethod
    def run(self, work: Work, progress: Progress) -> Mapping[str, object]:
        """Do the work and return the result, of plain values.

        ``progress`` may raise :class:`~venire.server.jobs.claims.JobStopped`. After a restart
        ``run`` starts again: parts saved with :meth:`Work.save_part` are still there.
        """


def find_kind(name: str) -> type[JobKind]:
    """Return the kind of that name.

    Raises
    ------
    UnknownName
        No kind has that name.
    """
    kind: type[JobKind] = plugins.load("job", name)
    return kind


def list_kinds() -> list[str]:
    """Return the names of all kinds."""
    return plugins.names("job")


def find_rules(name: str) -> dict[str, Rule]:
    """Return the rules of the settings of a kind, by the name of the setting."""
    return {rule.name: rule for rule in rules(find_kind(name))}
