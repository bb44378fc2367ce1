"""Errors carry a code and facts, and are said in the words of who reads them."""

import inspect

import pytest

from venire import errors
from venire.errors import BadLine, BadSetting, MissingColumns, NotFound, UnknownLabel, UnknownName

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.VenireError)
]


def test_every_class_has_a_code_of_its_own():
    codes = [kind.code for kind in CLASSES]
    assert len(set(codes)) == len(codes)


def test_an_error_names_arguments_in_python_and_what_a_reader_calls_them_elsewhere():
    error = BadSetting("must be >= 0 (got -1)", argument="strength", value=-1)
    assert str(error) == "`strength` must be >= 0 (got -1)"
    assert error.render(lambda name: f"--{name}") == "--strength must be >= 0 (got -1)"
    assert error.facts == {"value": -1, "argument": "strength"}


def test_a_hint_is_the_readers():
    error = UnknownLabel("7", ("0", "1"), "labels.csv", 3)
    assert str(error) == (
        "labels.csv, line 3: label '7' is not on the scale 0, 1. "
        "Leave it out with `drop_labels=['7']`, or pass the whole `scale`."
    )
    assert error.render(hint="Choose another file.").endswith("scale 0, 1. Choose another file.")
    assert error.facts["line"] == 3
    assert error.facts["scale"] == ["0", "1"]


@pytest.mark.parametrize(
    ("error", "code", "fact"),
    [
        (BadLine("a.csv", 2, "is empty"), "bad-line", ("line", 2)),
        (MissingColumns(["label"], ["x"], "a.csv"), "missing-columns", ("missing", ["label"])),
        (UnknownName("model", "meen", ["mean"]), "unknown-name", ("nearest", "mean")),
        (NotFound("batch", "b1"), "not-found", ("kind", "batch")),
    ],
)
def test_programs_read_code_and_facts(error, code, fact):
    assert error.code == code
    assert error.facts[fact[0]] == fact[1]
