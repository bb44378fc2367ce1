"""Progress of long work: a callable that takes events.

Long work calls ``progress(Event(...))``. The terminal draws a bar from the events, the web
application stores them, and ``silent`` (the default) drops them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple


class Event(NamedTuple):
    """The progress of a task."""

    task: str
    """Description of the task."""
    done: float
    """Units finished."""
    total: float | None
    """Units in total, or None if unknown."""
    detail: str = ""
    """A short phrase: the log-likelihood, the file, the model."""


Progress = Callable[[Event], None]


def silent(event: Event) -> None:
    """Report nothing."""


def tell_reader(event: Event) -> None:
    """Write the task on standard error, once per process, if a person reads it.

    That is a terminal or a notebook; scripts and pipes stay silent.
    """
    is_read = sys.stderr.isatty() or "ipykernel" in sys.modules
    if is_read and event.task not in _written:
        _written.add(event.task)
        sys.stderr.write(f"venire: {event.task} (about a minute) ...\n")


_written: set[str] = set()
