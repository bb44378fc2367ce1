"""Finished pieces of a job, saved every few seconds so that a restart loses little."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

from venire.server.jobs.claims import JobStopped
from venire.server.jobs.work import Work

Piece = TypeVar("Piece")


class PartWriter(Generic[Piece]):
    """Save pieces of work as parts PREFIX000000, PREFIX000001, ...; also when the job is stopped.

    Parameters
    ----------
    work : Work
    prefix : str
        Start of the names of the parts.
    encode : callable
        Returns some pieces as the bytes of one part.
    seconds : float
        Seconds between two parts: a worker that dies loses at most this much work.
    """

    def __init__(
        self, work: Work, prefix: str, encode: Callable[[list[Piece]], bytes], seconds: float
    ) -> None:
        self._work, self._prefix, self._encode, self._seconds = work, prefix, encode, seconds
        self._number = len(work.list_parts(prefix))
        self._unsaved: list[Piece] = []
        self._saved_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None or issubclass(kind, JobStopped):
            self._save()

    def add(self, piece: Piece) -> None:
        """Add a finished piece; save all unsaved pieces if the last save is long enough ago."""
        self._unsaved.append(piece)
        if time.monotonic() - self._saved_at > self._seconds:
            self._save()

    def _save(self) -> None:
        if self._unsaved:
            content = self._encode(self._unsaved)
            self._work.save_part(f"{self._prefix}{self._number:06d}", content)
            self._number += 1
            self._unsaved = []
            self._saved_at = time.monotonic()
