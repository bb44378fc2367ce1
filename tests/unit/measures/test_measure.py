import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire import plugins
from venire.errors import BadSetting, UnknownName
from venire.measures import parse
from venire.measures.family import find_family

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
    name=st.sampled_from(sorted(plugins.names("measure"))),
    cutoff=st.integers(1, 1000) | st.integers(1, 10**9),
    recall=st.floats(0, 1),
    values=st.fixed_dictionaries(
        {
            "rel": st.integers(1, 4),
            "judged_only": st.booleans(),
            "corrected": st.booleans(),
            "dcg": st.sampled_from(("log2", "exp-log2")),
            "highest": st.integers(1, 50),
            "p": st.floats(0, 1, exclude_min=True, exclude_max=True),
            "beta": st.floats(0, exclude_min=True, allow_infinity=False) | st.integers(1, 9),
        }
    ),
)
def test_what_is_printed_is_read_as_the_same(name, cutoff, recall, values):
    family = find_family(name)
    words = [f"{key}={values[key]!r}" for key in family.rules]
    end = ""
    if family.cutoff is not None:
        end = f"@{cutoff}" if family.cutoff.type is int else f"@{recall:.9f}"
    measure = parse(f"{name}({','.join(words)}){end}")
    assert parse(str(measure)) == measure
    assert hash(parse(str(measure))) == hash(measure)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("nDGC@10", UnknownName, "Did you mean 'nDCG@10'"),
        ("AP(real=2)", UnknownName, "Did you mean 'rel'"),
        ("P", BadSetting, "P@10"),
        ("P@0", BadSetting, r"P@0: `cutoff` must be >= 1 \(got 0\)"),
        ("P@2.5", BadSetting, r"P@2.5: `cutoff` must be a whole number >= 1 \(got 2.5\)"),
        ("P@1.2.3", BadSetting, "'1.2.3' is not a number"),
        ("IPrec@1.5", BadSetting, r"`recall` must be between 0 and 1 \(got 1.5\)"),
        ("IPrec", BadSetting, "IPrec@0.1"),
        ("Bpref@10", BadSetting, "Bpref has no cutoff. Leave out the @10"),
        ("nDCG(dcg='log3')", BadSetting, "Unknown dcg 'log3'. Choose from exp-log2, log2"),
        ("nDCG(dcg=[1])", BadSetting, "`dcg` must be text"),
        ("AP(rel=1.0)", BadSetting, r"`rel` must be a whole number \(got 1.0\)"),
        ("AP(judged_only=1)", BadSetting, "`judged_only` must be true or false"),
        ("ERR(highest=51)", BadSetting, r"`highest` must be between 1 and 50 \(got 51\)"),
        ("SetF(beta=0)", BadSetting, r"`beta` must be > 0 \(got 0\)"),
        ("SetF(beta=1e999)", BadSetting, "`beta` must be finite"),
        ("RBP(p=1.5)", BadSetting, r"RBP\(p=1.5\): `p` must be > 0 and < 1 \(got 1.5\)"),
        ("AP(2)", BadSetting, "name=value"),
        ("AP(rel=__import__('os'))", BadSetting, "name=value"),
        ("", BadSetting, "'' is not a measure"),
    ],
)
def test_bad_measures_are_refused_in_words(text, error, words):
    with pytest.raises(error, match=words):
        parse(text)
