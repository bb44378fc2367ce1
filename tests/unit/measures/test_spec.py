import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.errors import BadSetting, UnknownName
from venire.measures import parse
from venire.measures.spec import FAMILIES

# The name, then what ir_measures prints for it.
SPELLINGS = {
    "nDCG( dcg = 'exp-log2' )@10": "nDCG(dcg='exp-log2')@10",
    "AP(rel=1)": "AP",
    "AP(rel=2)": "AP(rel=2)",
    "P(rel=2)@10": "P(rel=2)@10",
    "nDCG(judged_only=True)@10": "nDCG(judged_only=True)@10",
    "RBP(p=0.8,rel=2)": "RBP(rel=2)",
    "IPrec@0.1": "IPrec@0.1",
    "NumRet(rel=1)": "NumRet(rel=1)",
    "Judged@10": "Judged@10",
    "infAP": "infAP",
    "MAP": "AP",
    "MRR@10": "RR@10",
    "NDCG@10": "nDCG@10",
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_measure_prints_as_ir_measures_prints_it(text):
    assert str(parse(text)) == SPELLINGS[text]
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    assert str(ir_measures.parse_measure(text.replace(" ", ""))) == SPELLINGS[text]


@given(
    name=st.sampled_from(sorted(FAMILIES)),
    cutoff=st.integers(1, 1000),
    rel=st.integers(1, 4),
    judged_only=st.booleans(),
)
def test_what_is_printed_is_read_as_the_same(name, cutoff, rel, judged_only):
    family = FAMILIES[name]
    words = []
    if "rel" in family.parameters:
        words.append(f"rel={rel}")
    if "judged_only" in family.parameters:
        words.append(f"judged_only={judged_only}")
    end = {"cutoff": f"@{cutoff}", "recall": f"@{cutoff / 1000}", None: ""}[family.at]
    measure = parse(f"{name}({','.join(words)}){end}")
    assert parse(str(measure)) == measure
    assert hash(parse(str(measure))) == hash(measure)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("nDGC@10", UnknownName, "Did you mean 'nDCG'"),
        ("AP(real=2)", UnknownName, "Did you mean 'rel'"),
        ("P", BadSetting, "P@10"),
        ("P@0", BadSetting, "whole number of at least 1"),
        ("P@2.5", BadSetting, "whole number"),
        ("IPrec@1.5", BadSetting, "between 0 and 1"),
        ("Bpref@10", BadSetting, "no number after @"),
        ("nDCG(dcg='log3')", BadSetting, "dcg='log3' cannot be"),
        ("RBP(p=1.5)", BadSetting, "p=1.5 cannot be"),
        ("AP(2)", BadSetting, "name=value"),
        ("AP(rel=__import__('os'))", BadSetting, "name=value"),
        ("", BadSetting, "cannot read the measure"),
    ],
)
def test_bad_measures_are_refused_in_words(text, error, words):
    with pytest.raises(error, match=words):
        parse(text)
