"""Who opens the link of a campaign: the worker that a platform names in the address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from venire.server.platforms.base import WorkerLink
from venire.server.platforms.registry import list_platforms, load_platform

_GENERAL = ("worker",)
_ASSIGNMENT = ("assignment", "SESSION_ID")
_OTHERS = ("PROLIFIC_PID", "worker_id", "assignment_worker")
"""Parameters of platforms that need no task files: the link is all they use."""


def find_worker(parameters: Mapping[str, str]) -> str:
    """Return the worker identifier among the query parameters of a link; empty if none has one."""
    names = [*_GENERAL, *(name for link in _list_links() for name in link.worker), *_OTHERS]
    return next((parameters[name] for name in names if parameters.get(name)), "")


def find_assignment(parameters: Mapping[str, str]) -> str:
    """Return the assignment identifier among the query parameters of a link; empty without one."""
    names = [*_ASSIGNMENT, *(name for link in _list_links() for name in link.assignment)]
    return next((parameters[name] for name in names if parameters.get(name)), "")


def is_preview(parameters: Mapping[str, str]) -> bool:
    """Return whether a worker only looks at the task, and has not accepted it."""
    return any(
        link.preview and parameters.get(name) == link.preview
        for link in _list_links()
        for name in link.assignment
    )


def _list_links() -> Iterator[WorkerLink]:
    for name in list_platforms():
        link = load_platform(name).worker_link
        if link is not None:
            yield link
