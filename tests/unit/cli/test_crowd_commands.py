"""Commands on crowds: simulate annotators and campaign, study crowd and next, trust --study."""

import csv
import io
import json

import numpy as np
import pytest
from sqlalchemy import select

from studies_for_tests import judge_batch, make_study
from venire import Runs
from venire.server.store.judging import Batch, Campaign
from venire.server.store.people import User
from venire.server.store.schema import upgrade
from venire.server.store.session import Store
from venire.server.studies.files import put_file


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["query_id,doc_id,annotator_id,label"]
    qrels = []
    for topic in range(5):
        for doc in range(8):
            grade = int(doc < 3)
            qrels.append(f"q{topic} 0 d{doc} {grade}")
            for who in "vwxyz":
                label = grade if rng.random() < 0.85 else 1 - grade
                lines.append(f"q{topic},d{doc},{who},{label}")
    (tmp_path / "judged.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels").write_text("\n".join(qrels) + "\n")
    for name, sign in (("good", 1), ("poor", -1)):
        (tmp_path / f"{name}.run").write_text(
            "".join(f"q{t} Q0 d{d} 1 {-sign * d} {name}\n" for t in range(5) for d in range(8))
        )
    return tmp_path


@pytest.fixture
def runs(files):
    return [files / "good.run", files / "poor.run"]


def test_simulate_annotators(venire_json, files, runs):
    found = venire_json(
        "simulate", "annotators", files / "judged.csv", *runs, "-m", "AP", "--most", "4",
        "--draws", "10", "--truth", files / "qrels", "--price", "0.5", "-o", files / "out",
    )  # fmt: skip
    assert [row["judges"] for row in found["rows"]] == [1, 2, 3, 4]
    assert found["rows"][2]["cost"] == 0.5 * 3 * 40
    # One run has the relevant documents first, the other last: any crowd orders them so.
    verdict = found["verdicts"]["AP"]
    assert (verdict["code"], verdict["possible"], verdict["reason"]) == ("enough", 1, "")
    assert verdict["enough"] in (1, 2)
    assert found["compared"] == {"AP": ["good", "poor"]}
    sentence = found["notes"][0]
    assert " per pair " in sentence
    assert " enough for a tau of 0.9" in sentence
    assert (files / "out" / "truth.csv").is_file()
    page = (files / "out" / "report.html").read_text()
    assert "Beside known grades" in page
    assert page.index(sentence) < page.index("<table")
    alone = venire_json("simulate", "annotators", files / "judged.csv", "--truth", files / "qrels")
    assert set(alone["rows"][0]) >= {"judges", "accuracy", "kappa", "error"}
    assert alone["verdicts"] == {}


def test_simulate_annotators_with_one_judgment_per_pair(venire_json, venire_error, files, runs):
    lines = (files / "judged.csv").read_text().splitlines()
    (files / "single.csv").write_text("\n".join([lines[0], *lines[1::5]]) + "\n")
    found = venire_json("simulate", "annotators", files / "single.csv", *runs, "-m", "AP")
    assert found["verdicts"]["AP"]["code"] == "not-checked"
    assert "most pairs have fewer than 2 judgments" in found["notes"][0]
    assert "--most" in venire_error(
        "simulate", "annotators", files / "judged.csv", *runs, "--most", "11"
    )


def test_simulate_campaign(venire_json, venire_error, files, runs):
    found = venire_json("simulate", "campaign", files / "qrels", *runs, "--overlap", "1,3",
                        "--replays", "3", "-o", files / "plan")  # fmt: skip
    assert [row["overlap"] for row in found["rows"]] == [1, 3]
    assert (files / "plan" / "designs.csv").is_file()
    page = (files / "plan" / "report.html").read_text()
    assert found["notes"][0].startswith("Take pool depth 10, ")
    assert page.index(found["notes"][0][:40]) < page.index("<table")
    assert "Pareto front" in page
    pilot = venire_json("simulate", "campaign", files / "qrels", *runs, "--pilot",
                        files / "judged.csv", "--seconds", "9", "--replays", "2")  # fmt: skip
    assert pilot["settings"]["crowd"]["confusion"] is not None
    assert pilot["settings"]["crowd"]["seconds"] == 9
    said = venire_error("simulate", "campaign", files / "qrels", *runs, "--overlap", "one")
    assert "--overlap must be whole numbers" in said


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "data"
    store = Store.at(folder)
    upgrade(store)
    made, wave, people = make_study(
        store, topics=1, documents=6, campaign={"overlap": 2, "batch_size": 6}
    )
    with store.writing() as session:
        for name, sign in (("up", 1), ("down", -1)):
            ranked = {"q0": {f"d{d}": float(sign * d) for d in range(6)}}
            put_file(session, made, "run", name, Runs.from_dict(ranked, run_id=name).frame, [])
    judge_batch(store, wave, people[0], lambda pair: 2 * (pair % 2))
    store.close()
    return folder


def first(path):
    return next(csv.DictReader(io.StringIO(path.read_text())))


def test_a_campaign_by_files(venire_json, venire_error, study, tmp_path):
    where = ["Study", "--campaign", "wave 1", "--platform", "mturk", "--database", study]
    out = tmp_path / "out"
    made = venire_json("study", "crowd", "export", *where, "-o", out)
    assert made["rows"] == [
        {"file": "mturk-1.csv", "hits": 1, "assignments": 1, "documents": 6, "gold": 2}
    ]
    assert "--output must be a new folder" in venire_error(
        "study", "crowd", "export", *where, "-o", out
    )
    hit = first(out / "mturk-1.csv")["hit"]
    grades = {f"Answer.grade_{at}": "1" for at in range(1, 9)}
    row = {"AssignmentId": "A", "WorkerId": "W", "AssignmentStatus": "Submitted",
           "Input.hit": hit, **grades}  # fmt: skip
    with (out / "results.csv").open("w") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)
    command = ["study", "crowd", "import", "Study", out / "results.csv", *where[1:]]
    done = venire_json(*command)
    assert done["rows"][0]["imported"] == 1
    assert done["rows"][0]["judgments"] == 8
    assert venire_json(*command)["rows"][0]["already"] == 1
    decided = venire_json("study", "crowd", "decisions", "Study", out / "results.csv", *where[1:],
                          "-o", out / "up.csv")  # fmt: skip
    # Label 1 is relevant: right for one gold, wrong for the other.
    assert [row["approve"] for row in decided["rows"]] == [False]
    assert decided["rows"][0]["reason"] == "1 of 2 gold wrong (0 allowed)"
    assert len(decided["notes"]) == 1
    assert (
        next(csv.DictReader((out / "up.csv").read_text(encoding="utf-8").splitlines()))["Reject"]
        == "The answers did not meet the quality standard of this task."
    )


def test_next_and_trust_of_a_study(venire_json, study, tmp_path):
    # A second opinion that differs on a few: of one annotator alone nothing can be expected.
    store = Store.at(study)
    with store.reading() as session:
        wave = session.scalars(select(Campaign.id)).one()
        done = session.scalars(select(Batch.annotator_id)).one()
        other = next(one for one in session.scalars(select(User.id)) if one != done)
    judge_batch(store, wave, other, lambda pair: 2 * (pair % 2 or pair % 3 == 0))
    store.close()
    found = venire_json("study", "next", "Study", "--campaign", "wave 1", "--budget", "2",
                        "--apply", "--database", study)  # fmt: skip
    assert len(found["rows"]) == 2
    assert "2 documents get one more judgment" in found["notes"][-1]
    expert = tmp_path / "expert"
    expert.write_text("".join(f"q0 0 d{d} {2 * (d % 2)}\n" for d in range(6)))
    trust = venire_json("trust", "--study", "Study", "--database", study, "--campaign", "wave 1",
                        "--campaign", f"expert={expert}", "-m", "AP")  # fmt: skip
    assert trust["rows"][0]["first"] == "wave 1"
    assert json.dumps(trust["settings"])


def test_decisions_count_what_is_in_neither_file(venire_json, study, tmp_path):
    where = ["--campaign", "wave 1", "--platform", "mturk", "--database", study]
    path = tmp_path / "results.csv"
    path.write_text(
        "AssignmentId,WorkerId,AssignmentStatus,Input.hit,Answer.grade_1\n"
        "A,W,Submitted,nowhere,1\nB,V,Approved,nowhere,1\n"
    )
    made = venire_json("study", "crowd", "decisions", "Study", path, *where, "-o",
                       tmp_path / "up.csv")  # fmt: skip
    assert made["notes"] == [
        f"0 to approve, 0 to reject; written to {tmp_path / 'up.csv'}",
        "2 without a decision: 1 unknown HIT, 1 approved before. Decide open ones on the platform.",
        "line 2: unknown HIT: A: nowhere was not exported by this campaign",
        "line 3: approved before: B: Already decided on the platform. Nothing to do.",
    ]
