"""The option ``--database``, and how commands open the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from venire.errors import DataError

if TYPE_CHECKING:
    from venire.server.store.session import Store

DATABASE = click.option(
    "--database",
    metavar="DIR|URL",
    envvar="VENIRE_DATABASE",
    default="venire-data",
    show_default=True,
    help="Folder with venire.db and media/, or a URL: sqlite:///... or postgresql://...",
)


@contextmanager
def open_store(database: str, *, make: bool = False) -> Iterator[Store]:
    """Open the store of a folder or a URL, its tables up to date; only ``make`` creates one."""
    from venire.server.store.schema import upgrade
    from venire.server.store.session import Store

    if "://" in database:
        store = Store(database)
    else:
        file = Path(database) / "venire.db"
        if not make and not file.is_file():
            raise DataError(
                f"{database}: no venire.db in this folder",
                hint=f"Create a study first: venire study new NAME --database {database}",
            )
        store = Store.at(database)
    try:
        upgrade(store)
        yield store
    finally:
        store.close()


def media_of(database: str, media: str | None) -> Path:
    """Return the folder of images."""
    from venire.formats.source import folder_at

    if media is not None:
        return folder_at(media)
    if "://" in database:
        return Path("venire-data") / "media"
    return Path(database) / "media"
