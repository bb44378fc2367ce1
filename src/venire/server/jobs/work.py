"""What a running job works with: its study, the judgments, and the parts it saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from venire.errors import DataError
from venire.formats.parquet import write_parquet
from venire.server.jobs import parts
from venire.server.jobs.claims import Claim
from venire.server.store.session import Store
from venire.server.studies.judgments import read_judgments
from venire.tables.judgments import Judgments


@dataclass(frozen=True)
class Work:
    """A claimed job, as the kind that does it sees it.

    Attributes
    ----------
    store : Store
        The database.
    claim : Claim
        The job and the worker that runs it.
    """

    store: Store
    claim: Claim

    @property
    def id(self) -> str:
        """ID of the job."""
        return self.claim.id

    @property
    def study_id(self) -> str:
        """ID of the study."""
        return self.claim.study_id

    def save_part(self, name: str, content: bytes) -> None:
        """Save a part; it replaces a part of the same name and survives a restart."""
        parts.save_part(self.store, self.claim, name, content)

    def save_table(self, name: str, frame: pl.DataFrame) -> None:
        """Save a table as the part NAME.parquet."""
        self.save_part(f"{name}.parquet", to_parquet(frame))

    def save_page(self, html: str) -> None:
        """Save the report of the job as the part report.html."""
        self.save_part("report.html", html.encode())

    def list_parts(self, prefix: str = "") -> list[str]:
        """Return the names of the saved parts that start with a prefix, in alphabetical order."""
        with self.store.reading() as session:
            names = parts.list_parts(session, self.id)
        return [name for name in names if name.startswith(prefix)]

    def read_part(self, name: str) -> bytes:
        """Return the content of a saved part."""
        with self.store.reading() as session:
            return parts.read_part(session, self.id, name)

    def delete_parts(self, names: Sequence[str]) -> None:
        """Delete saved parts."""
        parts.delete_parts(self.store, self.claim, names)

    def read_judgments(self, campaign: str | None, *, gold: bool = False) -> Judgments:
        """Return the judgments that count, of one campaign or of all.

        Raises
        ------
        DataError
            No judgment counts yet.
        """
        with self.store.reading() as session:
            table = read_judgments(session, self.study_id, campaign, gold=gold)
        if not len(table):
            raise DataError("No judgment counts yet. Wait until a batch is accepted.")
        return table


def to_parquet(frame: pl.DataFrame) -> bytes:
    """Return a table as the bytes of a Parquet file."""
    return write_parquet(frame, statistics=False)
