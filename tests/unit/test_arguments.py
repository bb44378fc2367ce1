"""The verbs refuse arguments of wrong types in one sentence, before any work begins."""

import inspect
import math
from contextlib import suppress

import polars as pl
import pytest

import venire
from venire.errors import BadSetting, UnknownName, VenireError
from venire.measures import parse

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
LABELS = {
    "query_id": ["q1"] * 4 + ["q2"] * 4,
    "doc_id": ["a", "a", "b", "b"] * 2,
    "annotator_id": ["x", "y"] * 4,
    "label": [1, 1, 0, 1, 1, 1, 0, 0],
}
RUNS = {
    "query_id": ["q1", "q1", "q2", "q2"] * 2,
    "doc_id": ["a", "b"] * 4,
    "score": [2.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 2.0],
    "run_id": ["good"] * 4 + ["poor"] * 4,
}
VERBS = sorted(
    name for name in venire._PUBLIC if name.islower() and inspect.isfunction(getattr(venire, name))
)


def make_arguments(folder):
    """Return arguments that each verb takes, quickly."""
    ranking = {"qrels": QRELS, "runs": RUNS}
    known = {"truth": QRELS, "runs": RUNS}
    collection = folder / "collection"
    (collection / "runs").mkdir(parents=True)
    (collection / "qrels").mkdir()
    venire.Runs.of(pl.DataFrame(RUNS)).write(collection / "runs" / "all.run")
    venire.Qrels.from_dict(QRELS).write(collection / "qrels" / "all.qrels")
    (collection / "topics.tsv").write_text("query_id\ttitle\nq1\ta\nq2\tb\n")
    (collection / "documents.tsv").write_text("doc_id\ttext\na\ta b\nb\tb c\n")
    return {
        "aggregate": {"judgments": LABELS, "model": "majority"},
        "compare": {**ranking, "permutations": 10},
        "evaluate": ranking,
        "measure_agreement": {"judgments": LABELS, "bootstrap": 0},
        "measure_repeatability": {
            "campaigns": {"a": LABELS, "b": LABELS}, "runs": RUNS, "permutations": 10,
        },
        "pool": {"runs": RUNS},
        "read_collection": {"folder": collection},
        "retrieve": {"collection": collection, "systems": "bm25"},
        "simulate_annotators": {"judgments": LABELS, "runs": RUNS, "most": 2, "draws": 3},
        "simulate_assessors": {**known, "keep": 0.9, "seeds": 2},
        "simulate_campaign": {**known, "replays": 1, "depth": 1, "overlap": 1, "gold": 0},
        "simulate_grouping": {"collection": collection, "methods": "none", "repetitions": 1},
        "simulate_pools": {**known, "depth": 1},
        "trust": {**ranking, "permutations": 10},
        "write_report": {
            "result": venire.aggregate(LABELS, "majority"), "folder": folder / "report",
        },
    }  # fmt: skip


def test_every_verb_is_tried(tmp_path):
    assert sorted(make_arguments(tmp_path)) == VERBS


def test_an_object_is_no_argument_of_any_verb(tmp_path):
    """The type is refused before the verb begins: no verb runs here."""
    for verb, arguments in make_arguments(tmp_path).items():
        for name in inspect.signature(getattr(venire, verb)).parameters:
            for value in (object(), b"x", {1: object()}, pytest):
                with pytest.raises(VenireError) as caught:
                    getattr(venire, verb)(**{**arguments, name: value})
                assert "\n" not in str(caught.value), (verb, name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_value_ends_in_an_error_of_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = [2.5, -3, 0, [], "", None, True, math.nan, math.inf, "no such", [None], {},
              venire.Runs.of(pl.DataFrame(RUNS)), lambda: 0]  # fmt: skip
    for verb, arguments in make_arguments(tmp_path).items():
        for name in inspect.signature(getattr(venire, verb)).parameters:
            for value in values:
                with suppress(VenireError):
                    getattr(venire, verb)(**{**arguments, name: value})


def test_an_unknown_argument_is_a_type_error():
    with pytest.raises(TypeError, match="measure"):
        venire.evaluate(QRELS, RUNS, measure="AP")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: venire.trust(QRELS, RUNS, measure=["AP"]),
            "`measure` must be a measure such as 'AP' or 'nDCG@10' (got ['AP'])",
        ),
        (
            lambda: venire.pool(RUNS, depth=2.5),
            "`depth` must be a whole number or a list of whole numbers or None (got 2.5)",
        ),
        (
            lambda: venire.aggregate(LABELS, settings="restarts=3"),
            "`settings` must be a mapping or None (got 'restarts=3')",
        ),
        (
            lambda: venire.aggregate(LABELS, columns=["query_id"]),
            "`columns` must be a mapping of texts or text or None (got ['query_id'])",
        ),
        (
            lambda: venire.simulate_campaign(QRELS, RUNS, overlap="three"),
            "`overlap` must be a whole number or a list of whole numbers (got 'three')",
        ),
        (lambda: venire.aggregate(LABELS, threads=0), "`threads` must be >= 1 (got 0)"),
        (
            lambda: venire.pool(RUNS, depth=5, budget=3),
            "`budget` cannot be used with strategy 'depth'. It is a setting of fused, "
            "move-to-front, bandit-max-mean, bandit-thompson, bandit-nonstationary, stratified.",
        ),
        (
            lambda: venire.write_report(3, "out"),
            "There is no report for an int. Reports exist for Aggregation, Posterior, Agreement, "
            "Trust, Repeatability, AnnotatorsNeeded, GroupingSimulation, Forecast.",
        ),
        (
            lambda: venire.evaluate(QRELS, RUNS, measures=[]),
            "`measures` must name at least one measure (got an empty list)",
        ),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(call, message):
    with pytest.raises(VenireError) as caught:
        call()
    assert str(caught.value) == message


def test_a_collection_is_no_table_but_has_some(tmp_path):
    folder = make_arguments(tmp_path)["read_collection"]["folder"]
    collection = venire.read_collection(folder)
    with pytest.raises(BadSetting, match=r"\(got a Collection\)\. Pass one of its `qrels`: all\."):
        venire.evaluate(collection, RUNS)
    with pytest.raises(BadSetting, match=r"\(got a Collection\)\. Pass its `runs`\."):
        venire.evaluate(QRELS, collection)
    with pytest.raises(BadSetting, match=r"\(got an Aggregation\)\. Pass its `qrels\(\)`\."):
        venire.evaluate(venire.aggregate(LABELS, "majority"), RUNS)


def test_measures_are_taken_as_text_as_values_and_from_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    expected = venire.evaluate(QRELS, RUNS, ["AP", "nDCG@10"]).rows
    for measures in (
        [parse("AP"), parse("nDCG@10")],
        (ir_measures.AP, ir_measures.nDCG @ 10),
        {"AP": 1, "nDCG@10": 2}.keys(),
    ):
        assert venire.evaluate(QRELS, RUNS, measures).rows == expected
    single = venire.evaluate(QRELS, RUNS, "AP").rows
    for measure in (ir_measures.AP, parse("AP"), ["AP"]):
        assert venire.evaluate(QRELS, RUNS, measure).rows == single
    assert venire.evaluate(QRELS, RUNS, None).measures == venire.evaluate(QRELS, RUNS).measures
    text = venire.trust(QRELS, RUNS, "RR", permutations=10)
    assert venire.trust(QRELS, RUNS, ir_measures.RR, permutations=10).rows == text.rows


# Names as trec_eval 9 prints them and as its -m option takes them, and their measures in
# ir_measures (ir_measures/providers/pytrec_eval_provider.py).
TREC_EVAL = {
    "map": "AP",
    "map_cut_100": "AP@100",
    "ndcg": "nDCG",
    "ndcg_cut_10": "nDCG@10",
    "ndcg_cut.10": "nDCG@10",
    "P_10": "P@10",
    "P.5": "P@5",
    "recall_100": "R@100",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "success_1": "Success@1",
    "iprec_at_recall_0.10": "IPrec@0.1",
    "iprec_at_recall_0.00": "IPrec@0",
    "num_rel_ret": "NumRet(rel=1)",
    "num_rel": "NumRel",
    "num_ret": "NumRet",
    "bpref": "Bpref",
    "ndcg@10": "nDCG@10",
    "mrr": "RR",
}


@pytest.mark.parametrize(("name", "measure"), TREC_EVAL.items())
def test_names_of_trec_eval_are_answered_with_the_measure(name, measure):
    if name == measure:
        assert str(parse(name)) == measure
        return
    with pytest.raises(UnknownName, match="Unknown measure") as caught:
        venire.evaluate(QRELS, RUNS, [name])
    assert caught.value.nearest == measure
    assert str(parse(measure)) == measure
