"""The web application as a process of its own."""

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path


class Server:
    """The web application in a process of its own, on a port of its own."""

    def __init__(self, database, folder, *more):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = [
            *(sys.executable, "-c", "from venire.cli.main import entry; entry()"),
            *("serve", str(folder), "--database", database, "--port", str(self.port), *more),
        ]
        self._log = Path(folder) / "server.log"
        self.start()

    def start(self):
        """Start, and wait until it answers."""
        with self._log.open("a") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/sign-in", timeout=5).close()
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
            else:
                return
        raise RuntimeError(self._log.read_text())

    def kill(self):
        """Die at once, as in a power cut."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """End as a user would end it."""
        self.process.terminate()
        self.process.wait(30)
