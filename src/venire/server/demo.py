"""A small campaign played by simulated annotators through the real service, over HTTP."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

import polars as pl
import uvicorn
from sqlalchemy import select

from venire.errors import Conflict, StoreError
from venire.progress import Event, Progress, silent
from venire.server.store.judging import Batch, Lease
from venire.server.store.people import User
from venire.server.store.schema import upgrade
from venire.server.store.session import Store
from venire.server.store.studies import Document, Pair, Study, Topic
from venire.server.studies.campaigns import create_campaign, open_campaign
from venire.server.studies.documents import put_documents
from venire.server.studies.files import put_file
from venire.server.studies.gold import put_gold
from venire.server.studies.invitations import create_invitation
from venire.server.studies.pools import build_pool
from venire.server.studies.studies import create_study
from venire.server.studies.topics import put_topics
from venire.server.web.app import create_app
from venire.simulation.crowds.annotators import confusion_of, kind_named
from venire.simulation.crowds.collection import SCALE, Collection
from venire.tables.qrels import Qrels

NAME = "Demo: twelve old crafts"
DEPTH = 3
PEOPLE = {"careful": 4, "typical": 6, "lenient": 2, "strict": 2, "random": 3, "clicker": 1}
_INSTRUCTIONS = """Say how well each text answers the question.

- **Not relevant**: another subject.
- **Related**: the subject is touched, the question is not answered.
- **Relevant**: answers a part of the question.
- **Highly relevant**: answers all of it.
"""


def play(
    folder: Path, collection: Collection, *, seed: int = 0, progress: Progress = silent
) -> list[dict[str, Any]]:
    """Make a study in ``folder`` and let a crowd judge it through a server on this machine.

    A third of the crowd does not read: hidden gold rejects most of their batches, and others
    judge their documents again. Which documents meet in a batch is drawn by chance that nobody
    can guess, so the counts differ a little from run to run.

    Returns
    -------
    list of dict
        By type of annotator: ``type, annotators, batches, rejected``.

    Raises
    ------
    Conflict
        The folder holds a played study already.
    """
    store = Store.at(folder)
    upgrade(store)
    try:
        with store.writing() as session:
            if session.scalar(select(Study.id).where(Study.name == NAME)) is not None:
                raise Conflict(f"{folder} holds the demo's study already; give another folder")
            study_id = _study(session, collection)
            campaign = create_campaign(session, study_id, "Wave 1", {"practice_size": 0})
            open_campaign(session, campaign.id)
            secret = create_invitation(session, study_id, "annotator", campaign_id=campaign.id)
        with _run_server(store, folder / "media") as address:
            _judge_all(store, address, secret, campaign.id, collection, seed, progress)
        return _by_type(store, campaign.id)
    finally:
        store.close()


def _study(session: Any, collection: Collection) -> str:
    grades = [
        {"value": int(value), "name": name.capitalize(), "definition": ""}
        for value, name in zip(SCALE.values, SCALE.names, strict=True)
    ]
    study = create_study(
        session, NAME, settings={"grades": grades, "relevant_from": 2}, instructions=_INSTRUCTIONS
    )
    put_topics(session, study.id, collection.topics)
    documents = collection.documents.rename({"text": "body"})
    put_documents(session, study.id, documents.with_columns(kind=pl.lit("text")))
    for (name,), frame in collection.runs.frame.group_by("run_id", maintain_order=True):
        put_file(session, study.id, "run", str(name), frame, [])
    put_file(session, study.id, "qrels", "truth", collection.truth.frame, [])
    build_pool(session, study.id, "depth", {"depth": DEPTH})
    put_gold(session, study.id, _gold(collection))
    return study.id


def _gold(collection: Collection) -> Qrels:
    """Clear cases only: of each topic two of the best and two irrelevant documents.

    None of them is on top of a system, so that gold takes nothing from the pool.
    """
    top = collection.runs.with_ranks().filter(pl.col("rank") <= DEPTH).select("query_id", "doc_id")
    rest = collection.truth.frame.join(top, on=["query_id", "doc_id"], how="anti")
    ends = [rest.filter(pl.col("relevance") == grade) for grade in (SCALE.values[-1], 0)]
    return Qrels.of(
        pl.concat([end.group_by("query_id", maintain_order=True).head(2) for end in ends])
    )


@contextmanager
def _run_server(store: Store, media: Path) -> Iterator[str]:
    """Run a server on a free port of this machine while the block runs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        # A connection that rests while others judge must not be closed under the next request.
        config = uvicorn.Config(
            create_app(store, media=media), log_level="error", timeout_keep_alive=600
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        for _ in range(600):
            if server.started:
                break
            time.sleep(0.05)
        else:
            raise StoreError("The server did not start within 30 seconds. Try again.")
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)


def _judge_all(
    store: Store,
    address: str,
    secret: str,
    campaign_id: str,
    collection: Collection,
    seed: int,
    progress: Progress,
) -> None:
    """Let one after another take a batch, until nothing is left for anybody."""
    rng = random.Random(seed)
    truth = {(query, doc): int(grade) for query, doc, grade in collection.truth.frame.iter_rows()}
    names = [f"{kind}-{place + 1}" for kind, count in PEOPLE.items() for place in range(count)]
    # One browser per worker: each keeps its own cookies.
    browsers = {name: build_opener(HTTPCookieProcessor()) for name in names}
    for name, browser in browsers.items():
        browser.open(f"{address}/c/{secret}?workerId={quote(name)}", timeout=60).close()
    at_work = list(names)
    done = 0
    while at_work:
        rng.shuffle(at_work)
        for name in list(at_work):
            answer = _post(browsers[name], f"{address}/judge/{campaign_id}/next", {})
            if answer["state"] == "batch":
                _judge(store, browsers[name], address, answer["batch"], name, truth, rng)
                done += 1
                progress(Event("a campaign over HTTP", done, None, f"{done} batches"))
            else:
                at_work.remove(name)


def _post(browser: OpenerDirector, url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = Request(  # the address is that of the demo's own server
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with browser.open(request, timeout=60) as answer:
        values: dict[str, Any] = json.load(answer)
    return values


def _judge(
    store: Store,
    browser: OpenerDirector,
    address: str,
    batch: dict[str, Any],
    name: str,
    truth: dict[tuple[str, str], int],
    rng: random.Random,
) -> None:
    """Judge as this type of person would: they see the true grade with their kind of error."""
    kind, _, number = name.rpartition("-")
    table = confusion_of(kind_named(kind), len(SCALE.values), favourite=int(number) % 4)
    with store.reading() as session:
        rows = session.execute(
            select(Lease.id, Topic.query_id, Document.doc_id)
            .join(Pair, Pair.id == Lease.pair_id)
            .join(Topic, Topic.id == Pair.topic_id)
            .join(Document, Document.id == Pair.document_id)
            .where(Lease.batch_id == batch["batch"])
        )
        pairs = {lease: (query, doc) for lease, query, doc in rows}
    events = []
    for item in batch["items"]:
        chances = table[truth[pairs[item["lease"]]]]
        label = rng.choices(range(len(chances)), weights=list(chances))[0]
        seconds = rng.uniform(1, 3) if kind in ("random", "clicker") else rng.uniform(5, 20)
        events.append(
            {
                "id": str(uuid.UUID(int=rng.getrandbits(128), version=4)),
                "kind": "label",
                "lease": item["lease"],
                "label": int(SCALE.values[label]),
                "active_ms": int(seconds * 1000),
            }
        )
    events.append({"id": str(uuid.UUID(int=rng.getrandbits(128), version=4)), "kind": "finish"})
    _post(browser, f"{address}/judge/batches/{batch['batch']}/events", {"events": events})


def _by_type(store: Store, campaign_id: str) -> list[dict[str, Any]]:
    with store.reading() as session:
        rows = session.execute(
            select(User.worker, Batch.valid)
            .join(Batch, Batch.annotator_id == User.id)
            .where(Batch.campaign_id == campaign_id)
        ).all()
    types = []
    for kind, people in PEOPLE.items():
        theirs = [valid for worker, valid in rows if (worker or "").startswith(f"{kind}-")]
        types.append(
            {
                "type": kind,
                "annotators": people,
                "batches": len(theirs),
                "rejected": sum(valid is False for valid in theirs),
            }
        )
    return types
