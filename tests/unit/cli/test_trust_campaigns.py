import pytest


def qrels(grades):
    return "".join(f"q{at} 0 {doc} {grade}\n" for at in range(6) for doc, grade in grades.items())


def run_text(name, *docs):
    return "".join(
        f"q{at} Q0 {doc} {place} {-place} {name}\n"
        for at in range(6)
        for place, doc in enumerate(docs, 1)
    )


@pytest.fixture
def files(tmp_path):
    raw = "query_id,doc_id,annotator_id,label,counts,batch_id,batch_valid,batch_kind\n"
    for at in range(6):
        good = at != 5
        for who in "xy":
            for doc, label in (("a", 1), ("b", 0), ("c", 1)):
                raw += f"q{at},{doc},{who},{label},{str(good).lower()},b{who}{at},{good},work\n"
    (tmp_path / "wave.csv").write_text(raw)
    (tmp_path / "expert").write_text(qrels({"a": 1, "b": 0, "c": 0}))
    (tmp_path / "good.run").write_text(run_text("good", "a", "c", "b"))
    (tmp_path / "poor.run").write_text(run_text("poor", "b", "c", "a"))
    return tmp_path


@pytest.fixture
def arguments(files):
    return ["trust", "--campaign", f"wave={files / 'wave.csv'}",
            "--campaign", f"expert={files / 'expert'}",
            files / "good.run", files / "poor.run"]  # fmt: skip


def test_a_row_a_measure_and_two_groups(venire_json, arguments, files):
    result = venire_json(*arguments, "-o", files / "out")
    assert [row["measure"] for row in result["rows"]] == ["AP", "nDCG", "P@10"]
    assert result["rows"][0]["tau"] == 1.0
    assert "the same under wave and expert" in result["notes"][0]
    rates = (files / "out" / "rates.csv").read_text().splitlines()
    # Rows of the two rejected batches do not count; 2 of 12 batches were rejected.
    assert rates[1].startswith("wave,15,30,2,0.1666")
    assert "Strictness" in (files / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--campaign", "other"], "name the study with --study"),
        (["--campaign", "=x"], "NAME=FILE"),
        (["--campaign", "wave=again"], "got wave twice"),
        (["--judgments", "x"], "cannot be used with --campaign"),
    ],
)
def test_wrong_campaigns_are_told(venire_error, arguments, more, said):
    assert said in venire_error(*arguments, *more)


def test_options_of_campaigns_need_campaigns(venire_error, files):
    assert "--campaign" in venire_error("trust", files / "expert")
    plain = ["trust", files / "expert", files / "good.run", files / "poor.run"]
    assert "needs --campaign" in venire_error(*plain, "--relevant-from", "1")
    assert "one measure" in venire_error(*plain, "-m", "AP", "-m", "P@1")
