"""Run the web application: one socket, one process or several, an orderly end."""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import Any

from venire.errors import StoreError

PARENT = "VENIRE_PARENT"
"""Environment variable with the ID of the process that starts the workers."""
PARENT_SECONDS = 1.0
"""Seconds between two looks of a worker process at whether its parent is alive."""


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

    Raises
    ------
    StoreError
        Another program listens there, or the address is not of this machine (code
        ``address-in-use``).
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    new = socket.socket(family)
    try:
        new.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        new.bind((host, port))
        new.listen(2048)  # a socket that only is bound can be bound by another server too
    except OSError as error:
        new.close()
        raise StoreError(
            f"Cannot listen on {host}:{port}: {error.strerror or error}",
            hint="Stop the other program, or pass another --port.",
            code="address-in-use",
        ) from None
    new.set_inheritable(True)
    return new


def run_server(app: Any, listener: socket.socket, *, workers: int, **options: Any) -> None:
    """Serve requests until the process is asked to end.

    Parameters
    ----------
    app : ASGI application, or its import path where ``workers`` is above 1
    listener : socket
        As :func:`open_socket` opens it.
    workers : int
        Number of processes.
    options
        Settings of ``uvicorn.Config``.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    config = uvicorn.Config(app, workers=workers, factory=workers > 1, **options)
    if workers == 1:
        uvicorn.Server(config).run(sockets=[listener])
        return
    os.environ[PARENT] = str(os.getpid())
    Multiprocess(config, sockets=[listener]).run()


def end_with_parent(parent: int, seconds: float = 10.0) -> None:
    """End this process once its parent is gone, even if that was killed: no worker is left over.

    Parameters
    ----------
    parent : int
        ID of the process that started this one. Where it is gone already, this one ends too.
    seconds : float
        Seconds for an orderly end.
    """

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(PARENT_SECONDS)
        os.kill(os.getpid(), signal.SIGTERM)
        pause.wait(seconds)
        os._exit(1)

    threading.Thread(target=watch, name="venire-parent", daemon=True).start()
