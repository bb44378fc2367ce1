"""Batches out to MTurk and Toloka, answered by a script, and back."""

import csv
import io
from collections import Counter
from datetime import timedelta

import polars as pl
import pytest
from sqlalchemy import func, select

from platforms_for_tests import write_mturk, write_toloka
from studies_for_tests import AT, make_study
from venire.cli.shared.error_text import render
from venire.cli.study.crowd import import_command
from venire.errors import BadLine, Conflict, MissingColumns
from venire.server.judging.review import REJECTION_OTHERWISE, REJECTIONS, decide
from venire.server.platforms.decisions import decide_assignments
from venire.server.platforms.result_import import import_results
from venire.server.platforms.task_export import export_tasks
from venire.server.store.judging import Batch, BatchReason, Judgment, Lease, Task
from venire.server.store.people import User
from venire.server.store.studies import Document, Pair, Topic
from venire.server.studies.judgments import read_judgments

LATER = AT + timedelta(hours=2)
SETTINGS = {"batch_size": 4, "overlap": 2}


@pytest.fixture(params=["mturk", "toloka"])
def platform(request):
    return request.param


@pytest.fixture
def study(store):
    return make_study(store, documents=6, people=0, campaign=SETTINGS)


def export(store, wave, platform, at=AT, **options):
    return store.write(lambda session: export_tasks(session, wave, platform, at, **options))


def take_in(store, wave, platform, path, at=LATER, **options):
    return store.write(
        lambda session: import_results(session, wave, platform, str(path), at, **options)
    )


def documents(store, wave):
    """HIT -> [(query, doc, gold grade)] by position."""
    out = {}
    with store.reading() as session:
        rows = session.execute(
            select(Batch, Lease, Topic.query_id, Document.doc_id)
            .join(Lease, Lease.batch_id == Batch.id)
            .join(Pair, Pair.id == Lease.pair_id)
            .join(Topic, Topic.id == Pair.topic_id)
            .join(Document, Document.id == Pair.document_id)
            .where(Batch.campaign_id == wave)
            .order_by(Batch.id, Lease.position)
        )
        for batch, lease, query, doc in rows:
            cells = out.setdefault(batch.outside["hit"], {})
            cells[lease.position + 1] = (query, doc, lease.gold_grade)
    return out


def answer(hits, per_hit=2, bad=(), truth=lambda q, d: (len(q) + int(d[1:])) % 3):
    """Every HIT by so many workers: [(assignment, worker, hit, {position: label})]."""
    out = []
    for n, (hit, cells) in enumerate(sorted(hits.items())):
        for w in range(per_hit):
            name = f"A{n}-{w}"
            labels = {
                at: str((2 - gold if name in bad else gold) if gold is not None else truth(q, d))
                for at, (q, d, gold) in cells.items()
            }
            out.append((name, f"W{w}", hit, labels))
    return out


def mturk_file(answers, status="Submitted", extra=()):
    return write_mturk([(*answer, status) for answer in answers], extra)


def toloka_file(answers, status="SUBMITTED"):
    return write_toloka([(*answer, status) for answer in answers])


def results(platform, answers, **options):
    return (mturk_file if platform == "mturk" else toloka_file)(answers, **options)


def state(store):
    with store.reading() as session:
        return (
            session.scalar(select(func.count()).select_from(Judgment)),
            session.execute(select(Batch.id, Batch.valid, Batch.state, Batch.payment)
                            .order_by(Batch.id)).all(),
            session.execute(select(Task.id, Task.taken).order_by(Task.id)).all(),
            session.scalar(select(func.count()).select_from(User)),
        )  # fmt: skip


def test_round_trip_gives_exactly_the_answers(store, study, platform, tmp_path):
    study_id, wave, _ = study
    made = export(store, wave, platform)
    # 12 documents in fours, each HIT for two workers, two gold in each.
    assert made.rows[0] | {"file": ""} == {
        "file": "", "hits": 3, "assignments": 2, "documents": 12, "gold": 6,
    }  # fmt: skip
    with pytest.raises(Conflict, match="Nothing is left"):
        export(store, wave, platform)
    hits = documents(store, wave)
    answers = answer(hits)
    path = tmp_path / "results"
    path.write_text(results(platform, answers))
    done = take_in(store, wave, platform, path)
    assert done.problems == []
    assert done.counts == {
        # A row of MTurk is an assignment, one of Toloka an answer.
        "rows": 6 if platform == "mturk" else 36, "repeated": 0, "without_ids": 0,
        "assignments": 6, "imported": 6, "already": 0, "unused": 0, "judgments": 36, "cannot": 0,
        "unanswered": 0, "accepted": 6, "rejected": 0, "held": 0,
    }  # fmt: skip
    with store.reading() as session:
        table = read_judgments(session, study_id, wave)
        names = dict(session.execute(select(User.id, User.worker)).all())
        assert session.scalar(select(func.count()).select_from(User)) == 2
    got = sorted(
        (q, d, names[who], label)
        for q, d, who, label in table.frame.select(
            "query_id", "doc_id", "annotator_id", "label"
        ).iter_rows()
    )
    expected = sorted(
        (q, d, worker, int(labels[at]))
        for _, worker, hit, labels in answers
        for at, (q, d, gold) in hits[hit].items()
        if gold is None
    )
    assert got == expected
    assert table.frame["seconds"].to_list() == [10.0] * 24
    before = state(store)
    again = take_in(store, wave, platform, path)
    assert again.counts["already"] == 6
    assert again.counts["imported"] == again.counts["judgments"] == 0
    assert state(store) == before


def test_documents_of_a_rejected_assignment_are_judged_again(store, study, platform, tmp_path):
    _, wave, _ = study
    export(store, wave, platform)
    hits = documents(store, wave)
    path = tmp_path / "results"
    path.write_text(results(platform, answer(hits, bad={"A1-0"})))
    done = take_in(store, wave, platform, path)
    assert (done.counts["accepted"], done.counts["rejected"]) == (5, 1)
    made = store.write(lambda s: decide_assignments(s, wave, platform, str(path)))
    assert Counter(row["approve"] for row in made.rows) == {True: 5, False: 1}
    assert made.undecided == []
    # The owner reads which rule it was; the worker nothing of gold.
    (bad,) = [row for row in made.rows if not row["approve"]]
    assert bad["reason"] == "2 of 2 gold wrong (0 allowed)"
    text = made.file.decode()
    assert "gold" not in text
    if platform == "mturk":
        table = list(csv.DictReader(io.StringIO(text)))
        rejected = [row for row in table if not row["Approve"]]
        assert [row["AssignmentId"] for row in rejected] == ["A1-0"]
        assert rejected[0]["Reject"] == REJECTIONS[BatchReason.GOLD_WRONG]
    else:
        assert f"A1-0\t-\t{REJECTIONS[BatchReason.GOLD_WRONG]}" in text
        assert text.count("\t+\t") == 5
    old = set(hits)
    again = export(store, wave, platform, at=LATER)
    assert again.rows[0] | {"file": ""} == {
        "file": "", "hits": 1, "assignments": 1, "documents": 4, "gold": 2,
    }  # fmt: skip
    fresh = {hit: cells for hit, cells in documents(store, wave).items() if hit not in old}
    (cells,) = fresh.values()
    bad_hit = sorted(hits)[1]
    real = lambda these: {cell[:2] for cell in these.values() if cell[2] is None}  # noqa: E731
    assert real(cells) == real(hits[bad_hit])
    # The same worker again is not taken for a second opinion; another one is.
    redo = [("B0", "W0", next(iter(fresh)), dict.fromkeys(cells, "1"))]
    path.write_text(results(platform, redo))
    done = take_in(store, wave, platform, path, at=LATER)
    assert {row["kind"] for row in done.problems} == {"judged before"}
    again = export(store, wave, platform, at=LATER)
    assert again.rows[0]["documents"] == 4


def test_work_rejected_on_the_platform_does_not_count(store, study, platform, tmp_path):
    _, wave, _ = study
    export(store, wave, platform)
    hits = documents(store, wave)
    answers = answer(hits)
    path = tmp_path / "results"
    path.write_text(results(platform, answers))
    take_in(store, wave, platform, path)
    word = "Rejected" if platform == "mturk" else "REJECTED"
    path.write_text(results(platform, answers[:1], status=word))
    done = take_in(store, wave, platform, path)
    assert done.counts["already"] == 1
    with store.reading() as session:
        bad = session.scalars(select(Batch).where(Batch.valid.is_(False))).all()
        assert [(one.payment, one.reason) for one in bad] == [
            ("refused", "rejected on the platform")
        ]
    assert export(store, wave, platform, at=LATER).rows[0]["documents"] == 4
    made = store.write(lambda s: decide_assignments(s, wave, platform, str(path)))
    assert made.rows == []
    assert [row["kind"] for row in made.undecided] == ["rejected before"]


def test_wrong_rows_are_named_counted_and_not_guessed(store, study, tmp_path):
    _, wave, _ = study
    export(store, wave, "mturk")
    hits = documents(store, wave)
    a, b, c, *rest = answer(hits)
    odd = dict(a[3])
    first, second = [at for at, cell in hits[a[2]].items() if cell[2] is None][:2]
    odd[first] = "7"
    odd[second] = "2.0"
    del b[3][next(at for at, cell in hits[b[2]].items() if cell[2] is None)]
    given = [
        (*a[:3], odd),
        b,
        c,
        c,
        (c[0], c[1], c[2], {**c[3], 1: "cannot: broken"}),
        ("X1", "W9", "nowhere", {1: "1"}),
        ("", "W9", c[2], {1: "1"}),
        ("X2", "", c[2], {1: "1"}),
        (rest[0][0], "W1", rest[0][2], rest[0][3]),
        ("X3", "W1", rest[0][2], rest[0][3]),
        ("X4", "W7", a[2], {}),
    ]
    path = tmp_path / "results.csv"
    path.write_text(mturk_file(given))
    done = take_in(store, wave, "mturk", path)
    kinds = Counter(row["kind"] for row in done.problems)
    assert kinds == {
        "label outside the scale": 2,
        "missing answers": 1,
        "repeated assignment": 1,
        "conflicting assignment": 1,
        "unknown HIT": 1,
        "row without ids": 2,
        "worker twice": 1,
        "too many assignments": 1,
    }
    assert all(row["line"] and row["line"] >= 2 for row in done.problems)
    assert "'7'" in next(r["text"] for r in done.problems if r["kind"].startswith("label"))
    assert done.counts["imported"] == 3
    assert done.counts["unanswered"] == 3
    # Every row of the file is somewhere, and every one that is not used has its note.
    counts = done.counts
    assert counts["rows"] == len(given) == 11
    assert counts["rows"] == counts["assignments"] + counts["repeated"] + counts["without_ids"]
    assert counts["assignments"] == counts["imported"] + counts["already"] + counts["unused"]
    unused = [row for row in done.problems if str(row["text"]).endswith(("not used", "is used"))
              and row["kind"] != "label outside the scale"]  # fmt: skip
    assert len(unused) == counts["unused"] + counts["without_ids"] == 6
    # What is approved, rejected or in neither file are all there are, each once.
    made = store.write(lambda s: decide_assignments(s, wave, "mturk", str(path)))
    assert len(made.rows) == counts["imported"]
    assert Counter(row["kind"] for row in made.undecided) == {
        "conflicting assignment": 1,
        "row without ids": 2,
        "unknown HIT": 1,
        "worker twice": 1,
        "too many assignments": 1,
    }


def test_rows_of_toloka_that_contradict_each_other_are_counted(store, study, tmp_path):
    _, wave, _ = study
    export(store, wave, "toloka")
    (one, two, *_) = answer(documents(store, wave))
    text = toloka_file([one, two])
    rows = [line for line in text.splitlines() if line]
    again = next(row for row in rows if one[0] in row).split("\t")
    other = next(row for row in rows if two[0] in row).split("\t")
    other[3] = str((int(other[3]) + 1) % 3)
    path = tmp_path / "results"
    path.write_text("\n".join([*rows, "\t".join(again), "\t".join(other)]) + "\n")
    done = take_in(store, wave, "toloka", path)
    assert (done.counts["rows"], done.counts["repeated"]) == (len(rows) + 1, 1)
    assert [done.counts[name] for name in ("assignments", "imported", "unused")] == [2, 1, 1]
    made = store.write(lambda s: decide_assignments(s, wave, "toloka", str(path)))
    assert len(made.rows) == 1
    assert [(row["assignment"], row["kind"]) for row in made.undecided] == [
        (two[0], "conflicting assignment")
    ]


def test_work_that_is_not_imported_yet_is_in_neither_file(store, study, platform, tmp_path):
    _, wave, _ = study
    export(store, wave, platform)
    answers = answer(documents(store, wave))
    path = tmp_path / "results"
    path.write_text(results(platform, answers[:2]))
    made = store.write(lambda s: decide_assignments(s, wave, platform, str(path)))
    assert (made.rows, [row["kind"] for row in made.undecided]) == ([], ["not imported"] * 2)
    take_in(store, wave, platform, path)
    # A third worker of a HIT for two.
    third = (answers[0][0] + "x", "W9", *answers[0][2:])
    path.write_text(results(platform, [*answers[:2], third]))
    made = store.write(lambda s: decide_assignments(s, wave, platform, str(path)))
    assert len(made.rows) == 2
    assert [(row["assignment"], row["kind"]) for row in made.undecided] == [
        (third[0], "too many assignments")
    ]
    # An assignment that stands there twice is uploaded once.
    path.write_text(results(platform, [answers[0], answers[0]]))
    made = store.write(lambda s: decide_assignments(s, wave, platform, str(path)))
    assert made.file.decode().count(answers[0][0]) == 1


def test_an_owner_s_words_are_not_for_workers(store, study, platform, tmp_path):
    _, wave, _ = study
    export(store, wave, platform)
    (one, *_) = answer(documents(store, wave))
    path = tmp_path / "results"
    path.write_text(results(platform, [one]))
    take_in(store, wave, platform, path)
    with store.writing() as session:
        batch = session.scalars(select(Batch).where(Batch.valid)).one()
        decide(session, batch.id, False, "his gold is luck", None, LATER)
    made = store.write(lambda s: decide_assignments(s, wave, platform, str(path)))
    assert (made.rows[0]["reason"], made.rows[0]["message"]) == (
        "his gold is luck",
        REJECTION_OTHERWISE,
    )
    assert REJECTION_OTHERWISE in made.file.decode()


def test_cannot_judge_comes_back_with_its_reason(store, study, platform, tmp_path):
    _, wave, _ = study
    export(store, wave, platform)
    hits = documents(store, wave)
    (one, *_) = answer(hits)
    at = next(at for at, cell in hits[one[2]].items() if cell[2] is None)
    one[3][at] = "cannot: wrong language"
    path = tmp_path / "results"
    path.write_text(results(platform, [one]))
    done = take_in(store, wave, platform, path)
    assert done.counts["cannot"] == 1
    with store.reading() as session:
        reasons = session.scalars(select(Judgment.reason).where(Judgment.label.is_(None))).all()
        assert reasons == ["wrong language"]


def test_what_a_spreadsheet_does_to_a_file(store, study, platform, tmp_path):
    """A byte order mark, semicolons, quotes, another order of columns, CRLF."""
    _, wave, _ = study
    export(store, wave, platform)
    answers = answer(documents(store, wave))
    text = results(platform, answers)
    table = list(csv.reader(io.StringIO(text), delimiter="\t" if platform == "toloka" else ","))
    table = [row for row in table if row]
    out = io.StringIO()
    csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(
        [row[::-1] for row in table]
    )
    path = tmp_path / "results.csv"
    path.write_bytes(b"\xef\xbb\xbf" + out.getvalue().encode())
    done = take_in(store, wave, platform, path)
    assert done.problems == []
    assert done.counts["imported"] == 6


def test_columns_that_were_renamed_or_are_missing(store, study, tmp_path):
    _, wave, _ = study
    export(store, wave, "mturk")
    text = mturk_file(answer(documents(store, wave))).replace('"WorkerId"', '"who"')
    path = tmp_path / "results.csv"
    path.write_text(text)
    with pytest.raises(MissingColumns, match="WorkerId"):
        take_in(store, wave, "mturk", path)
    done = take_in(store, wave, "mturk", path, columns={"WorkerId": "who"})
    assert done.counts["imported"] == 6
    made = store.write(
        lambda s: decide_assignments(s, wave, "mturk", str(path), columns={"WorkerId": "who"})
    )
    assert len(made.rows) == 6
    assert made.file.decode().startswith('"HITId","Input.hit","WorkerId","AssignmentId"')
    path.write_text("a,b\n1,2,3\n")
    with pytest.raises(BadLine, match="3 cells"):
        take_in(store, wave, "mturk", path)
    path.write_text('a,b\n1,"2\n')
    with pytest.raises(BadLine, match="cannot be read"):
        take_in(store, wave, "mturk", path)


def test_a_file_of_the_other_platform_says_so(store, study, platform, tmp_path):
    _, wave, _ = study
    export(store, wave, platform)
    answers = answer(documents(store, wave))
    path = tmp_path / "results"
    path.write_text(results(platform, answers))
    other = {"mturk": "toloka", "toloka": "mturk"}[platform]
    for work in (
        lambda: take_in(store, wave, other, path),
        lambda: store.write(lambda s: decide_assignments(s, wave, other, str(path))),
    ):
        with pytest.raises(MissingColumns) as caught:
            work()
        assert caught.value.code == "missing-result-columns"
        assert caught.value.likely_platform == platform
        assert f"Choose the platform {platform!r}" in str(caught.value)
        assert f"use --platform {platform}" in render(caught.value, import_command)
        assert "query_id" not in str(caught.value)
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(MissingColumns) as caught:
        take_in(store, wave, platform, path)
    assert "`columns=" in str(caught.value)
    said = render(caught.value, import_command)
    assert "--columns" in said
    assert "gold" not in said
    assert "query_id" not in said


def test_what_is_not_answered_in_time_is_free_again(store, study, tmp_path):
    _, wave, _ = study
    export(store, wave, "mturk", days=1)
    hits = documents(store, wave)
    late = AT + timedelta(days=2)
    assert export(store, wave, "mturk", at=late).rows[0]["documents"] == 12
    # The first HITs come back after all: the places are given out, so nothing is filled twice.
    path = tmp_path / "results.csv"
    path.write_text(mturk_file(answer(hits)))
    done = take_in(store, wave, "mturk", path, at=late)
    assert {row["kind"] for row in done.problems} == {"answer refused"}
    with store.reading() as session:
        assert all(task.taken <= task.overlap for task in session.scalars(select(Task)))


def test_html_of_documents_is_safe_and_platform_marks_mean_nothing(store, tmp_path):
    from venire.server.studies.documents import put_documents

    study_id, wave, _ = make_study(store, topics=1, documents=2, people=0,
                                   campaign={"gold_size": 0, "batch_size": 2})  # fmt: skip
    with store.writing() as session:
        put_documents(session, study_id, pl.DataFrame({
            "doc_id": ["d0", "d1"], "kind": "text", "title": ["<script>x</script>", "${hit}"],
            "body": ["a\tb\n\nc ${documents} {{x}}", "<img src=x onerror=y>"],
        }))  # fmt: skip
    made = export(store, wave, "mturk")
    text = made.files["mturk-3.csv"].decode()
    assert "<script>x" not in text
    assert "${" not in text
    assert "<img" not in text
    assert "gold" not in text.lower()
    with store.reading() as session:
        lease = session.scalars(select(Lease)).first()
        assert lease.id not in text
