"""``venire serve``: the web application."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import click

from venire.errors import BadSetting

LOCALHOST = "127.0.0.1"


@click.command("serve")
@click.argument("folder", metavar="[DIR]", default="venire-data", type=click.Path())
@click.option(
    "--database",
    metavar="URL",
    help="URL of a database instead of DIR/venire.db: postgresql://user@host/name or "
    "sqlite:///file.",
)
@click.option(
    "--media",
    metavar="DIR|URL",
    help="Folder or bucket for images instead of DIR/media, for example s3://bucket/folder.",
)
@click.option("--host", default=LOCALHOST, show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8000,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Number of processes; more than one needs PostgreSQL.",
)
@click.option(
    "--url",
    metavar="URL",
    help="Address that people open, for example https://venire.example.org: links begin with it.",
)
@click.option(
    "--shutdown-seconds",
    default=30,
    show_default=True,
    type=click.IntRange(1, 3600),
    help="Seconds that open requests have to end when the server is stopped.",
)
@click.option(
    "--behind-proxy", is_flag=True, help="Trust the forwarding headers of a proxy on this machine."
)
def command(
    folder: str,
    database: str | None,
    media: str | None,
    host: str,
    port: int,
    workers: int,
    url: str | None,
    shutdown_seconds: int,
    behind_proxy: bool,
) -> None:
    """Serve the studies in DIR, which holds the database and the images.

    The first start prints a link that creates the owner's account; it works once.
    """
    from venire.formats.source import folder_at
    from venire.server.store.session import Store
    from venire.server.web.app import create_app
    from venire.server.web.serving import open_socket, run_server

    if url is not None and not re.fullmatch(r"https?://[^/\s]+(/[^\s?#]*)?", url):
        raise BadSetting(f"must begin with https:// or http:// (got {url!r})", argument="url")
    if workers > 1 and not (database or "").startswith("postgres"):
        raise BadSetting(
            f"must be 1 with SQLite (got {workers})",
            argument="workers",
            hint="Pass --database postgresql://user@host/name.",
        )
    # Before the database is touched: a second server must not replace the first account's link.
    listener = open_socket(host, port)
    port = listener.getsockname()[1]
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    database_url = database or f"sqlite:///{root / 'venire.db'}"
    pictures, exports = media or str(root / "media"), root / "exports"
    app = create_app(Store(database_url), media=folder_at(pictures), exports=exports, address=url)
    address = url or f"http://{'localhost' if host == LOCALHOST else host}:{port}"
    address = address.rstrip("/")
    click.echo(f"Venire serves {database or root} at {address}")
    if app.state.first:
        click.echo(f"Create the owner's account (once, within a day): {address}{app.state.first}")
    if host != LOCALHOST:
        click.echo("Others can reach this address: put a proxy with https in front of it.")
    proxies: dict[str, Any] = {"proxy_headers": behind_proxy, "forwarded_allow_ips": LOCALHOST}
    quiet: dict[str, Any] = {"log_level": "warning", "server_header": False, **proxies}
    # Longer than an annotator reads a document, so that the next request does not meet a connection
    # that closes.
    quiet["timeout_keep_alive"] = 75
    quiet["timeout_graceful_shutdown"] = shutdown_seconds
    if workers == 1:
        run_server(app, listener, workers=1, **quiet)
        return
    app.state.store.close()
    os.environ["VENIRE_DATABASE"], os.environ["VENIRE_URL"] = database_url, url or ""
    os.environ["VENIRE_MEDIA"], os.environ["VENIRE_EXPORTS"] = pictures, str(exports)
    run_server("venire.server.web.app:from_environment", listener, workers=workers, **quiet)
