"""The `Platform` interface: what Venire must know about a crowd platform, and the data it handles.

A platform gives a batch of documents, there called a HIT or a task suite, to each worker at most
once. Batches go out as a task file and come back as a result file; decisions about payment go out
as a third file. Add a platform by an entry point in the group ``venire.platforms``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from venire.server.platforms.result_file import Problems

CANNOT = "cannot: "
"""Prefix of an answer that gives the reason why a document cannot be judged."""


class AssignmentStatus(StrEnum):
    """State of an assignment on the platform."""

    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    NOT_SUBMITTED = "not submitted"

    @classmethod
    def parse(cls, text: str) -> AssignmentStatus:
        """Return the status of that name in any case; NOT_SUBMITTED for any other text."""
        name = text.strip().lower()
        return cls(name) if name in list(cls) else cls.NOT_SUBMITTED


@dataclass(frozen=True)
class Assignment:
    """The answers of one worker to one HIT, from a result file.

    Parameters
    ----------
    id : str
        Identifier given by the platform.
    worker : str
        Worker identifier given by the platform.
    hit : str
        Identifier of the HIT, as in the task file.
    status : AssignmentStatus
    line : int
        Line of the file where the assignment starts.
    labels : mapping
        Position of the document in the HIT (from 1) -> answer: a grade, or :data:`CANNOT` followed
        by a reason.
    seconds : float or None
        Time from start to submission.
    submitted_at : datetime or None
        In UTC.
    status_text : str
        The status as in the file, for messages.
    """

    id: str
    worker: str
    hit: str
    status: AssignmentStatus
    line: int
    labels: Mapping[int, str]
    seconds: float | None = None
    submitted_at: datetime | None = None
    status_text: str = ""


@dataclass(frozen=True)
class Question:
    """One document of a HIT.

    Parameters
    ----------
    topic : mapping
        ``title, description, narrative`` as plain text.
    document : str
        Safe HTML on one line.
    """

    topic: Mapping[str, str]
    document: str


@dataclass(frozen=True)
class Hit:
    """A batch in a task file."""

    id: str
    questions: Sequence[Question]


@dataclass(frozen=True)
class StudyTexts:
    """What workers read in every HIT of a study.

    Parameters
    ----------
    name : str
        Name of the study.
    instructions : str
        Safe HTML.
    grades : sequence of mapping
        ``value, name, definition, key``.
    reasons : sequence of str
        Why a document may not be judged.
    """

    name: str
    instructions: str
    grades: Sequence[Mapping[str, Any]]
    reasons: Sequence[str]


@dataclass(frozen=True)
class TaskFile:
    """A task file, and the number of its HITs that exceed the size limit of the platform."""

    content: bytes
    too_large: int = 0


@dataclass(frozen=True)
class Decision:
    """Whether to approve an assignment; ``message`` tells the worker why it is rejected."""

    approve: bool
    message: str = ""


@dataclass(frozen=True)
class WorkerLink:
    """The query parameters by which a platform tells a page who opens it.

    Parameters
    ----------
    worker : tuple of str
        Parameters with the worker identifier.
    assignment : tuple of str
        Parameters with the assignment identifier.
    preview : str
        Value of ``assignment`` while a worker only looks at a task.
    """

    worker: tuple[str, ...]
    assignment: tuple[str, ...] = ()
    preview: str = ""


class Platform(Protocol):
    """A crowd platform.

    Attributes
    ----------
    name : str
        What users type; also the first part of file names.
    label : str
        What users read.
    task_columns : tuple of str
        Columns of the task file.
    task_suffix : str
        Suffix of the task file, such as ``".csv"``.
    size_limit : int or None
        Most bytes of one HIT.
    result_columns : tuple of str
        Columns that a result file must have.
    marker_column : str
        One of ``result_columns`` that no result file of another platform has.
    worker_link : WorkerLink or None
        None where workers cannot be sent to a page of Venire.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def label(self) -> str: ...  # noqa: D102
    @property
    def task_columns(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def task_suffix(self) -> str: ...  # noqa: D102
    @property
    def size_limit(self) -> int | None: ...  # noqa: D102
    @property
    def result_columns(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def marker_column(self) -> str: ...  # noqa: D102
    @property
    def worker_link(self) -> WorkerLink | None: ...  # noqa: D102

    def write_tasks(self, hits: Sequence[Hit], texts: StudyTexts) -> TaskFile:
        """Return the task file of HITs, in order."""
        ...

    def write_layout(self, texts: StudyTexts) -> bytes:
        """Return the page of the project in which the platform shows a HIT."""
        ...

    def read_results(
        self, path: str, columns: Mapping[str, str], problems: Problems
    ) -> list[Assignment]:
        """Read a result file, whatever the order of its columns.

        Parameters
        ----------
        path : str
        columns : mapping
            The platform's name of a column -> its name in the file, where it was renamed.
        problems : Problems
            Takes the number of rows, and what is wrong with any of them.

        Raises
        ------
        BadLine, MissingColumns
        """
        ...

    def write_decisions(
        self, path: str, columns: Mapping[str, str], decisions: Mapping[str, Decision]
    ) -> bytes:
        """Return the file that tells the platform what to approve and what to reject.

        Parameters
        ----------
        path : str
            The result file.
        columns : mapping
            As for :meth:`read_results`.
        decisions : mapping
            Assignment -> decision; assignments without one are left out of the file.
        """
        ...
