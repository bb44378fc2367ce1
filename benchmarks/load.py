"""Measure the time of a save with 200 simulated annotators over HTTP on PostgreSQL.

``python benchmarks/load.py [annotators] [seconds] [reading]``. The server runs two workers on this
machine; the annotators run on the same machine, so their load is included. Each annotator reads a
document for five seconds on average (the time to judge an image in the table of simulated
annotators) or for the given time, then saves a label; every twentieth save is sent twice.
"""

import asyncio
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path

import httpx2
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from studies_for_tests import make_study  # noqa: E402
from venire.server.store.schema import upgrade  # noqa: E402
from venire.server.store.session import Store  # noqa: E402
from venire.server.studies import accounts  # noqa: E402

READING = float(sys.argv[3]) if len(sys.argv) > 3 else 5.0


async def annotator(client, campaign, cookie, until, seed, times, errors):
    rng = random.Random(seed)
    headers = {"cookie": f"venire_session={cookie}"}

    async def ask(kind, method, path, body=None):
        began = time.perf_counter()
        try:
            answer = await client.request(method, path, json=body, headers=headers)
        except httpx2.TransportError as error:
            errors.append(f"{kind}: {error!r}")
            return None
        times[kind].append(time.perf_counter() - began)
        if answer.status_code != 200:
            errors.append(f"{kind}: {answer.status_code} {answer.text[:80]}")
            return None
        return answer.json()

    await asyncio.sleep(rng.uniform(0, READING))
    while time.monotonic() < until:
        found = await ask("next", "POST", f"/judge/{campaign}/next", {})
        if not found or found["state"] != "batch":
            await asyncio.sleep(1)
            continue
        batch = found["batch"]
        path = f"/judge/batches/{batch['batch']}/events"
        for item in batch["items"]:
            if item["state"] != "live":
                continue
            if time.monotonic() > until:
                return
            await ask("document", "GET", f"/judge/documents/{item['lease']}")
            await asyncio.sleep(rng.expovariate(1 / READING))
            label = {
                "id": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
                "kind": "label",
                "lease": item["lease"],
                "label": rng.randrange(3),
                "active_ms": 3000,
            }
            for _ in range(2 if rng.random() < 0.05 else 1):
                await ask("save", "POST", path, {"events": [label]})
        finish = {"id": str(uuid.UUID(int=rng.getrandbits(128), version=4)), "kind": "finish"}
        await ask("save", "POST", path, {"events": [finish]})


async def load(url, campaign, cookies, seconds):
    times = {"next": [], "document": [], "save": []}
    errors = []
    limits = httpx2.Limits(max_connections=len(cookies), max_keepalive_connections=len(cookies))
    async with httpx2.AsyncClient(base_url=url, timeout=30, limits=limits) as client:
        until = time.monotonic() + seconds
        await asyncio.gather(
            *(
                annotator(client, campaign, cookie, until, seed, times, errors)
                for seed, cookie in enumerate(cookies)
            )
        )
    return times, errors


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 120.0
    server = subprocess.Popen(
        [
            sys.executable,
            ROOT / "tests" / "postgres_server.py",
            tempfile.mkdtemp(prefix="venire-pg-"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    url = server.stdout.readline().strip()
    store = Store(url)
    upgrade(store)
    _, campaign, persons = make_study(
        store, topics=50, documents=400, gold=6, people=number, campaign={"gold_errors": 2}
    )
    with store.writing() as session:
        cookies = [accounts.sign_in(session, person) for person in persons]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="venire-load-")
    command = [sys.executable, "-c", "from venire.cli.main import entry; entry()", "serve", folder]
    command += ["--database", url, "--port", str(port), "--workers", "2"]
    web = subprocess.Popen(command)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/sign-in", timeout=2).close()
                break
            except OSError:
                time.sleep(0.2)
        times, errors = asyncio.run(load(f"http://127.0.0.1:{port}", campaign, cookies, seconds))
    finally:
        web.terminate()
        web.wait(30)
        store.close()
        server.communicate("stop\n", timeout=60)
    print(f"{number} annotators, {seconds:g} s, {READING:g} s a document, 2 workers, PostgreSQL")
    print(f"{len(errors)} errors")
    print(f"{'':10} {'requests':>9} {'a second':>9} {'median ms':>10} {'p95 ms':>8} {'p99 ms':>8}")
    for kind, found in times.items():
        ms = np.array(found) * 1000
        print(
            f"{kind:10} {len(ms):9} {len(ms) / seconds:9.1f} {statistics.median(ms):10.1f} "
            f"{np.percentile(ms, 95):8.1f} {np.percentile(ms, 99):8.1f}"
        )
    for error in errors[:5]:
        print("error:", error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
