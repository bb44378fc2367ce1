import csv
import io
import json

import pytest

from venire.cli.shared.output import emit, show_progress
from venire.progress import Event

ROWS = [{"name": "a", "value": 0.123456789, "n": 1234}, {"name": "b,c", "value": None, "n": 5}]


def emitted(capsys, **options):
    emit("test", ROWS, settings={}, notes=["one", "two"], **options)
    return capsys.readouterr()


def test_a_table_is_aligned_and_says_undefined(capsys):
    out, err = emitted(capsys, form="table")
    assert out.splitlines() == [
        "name      value      n",
        "----  ---------  -----",
        "a        0.1235  1,234",
        "b,c   undefined      5",
    ]
    assert err == "note: one\nnote: two\n"


def test_json_has_full_precision_and_null(capsys):
    out, err = emitted(capsys, form="json")
    document = json.loads(out)
    assert document["rows"][0]["value"] == 0.123456789
    assert document["rows"][1]["value"] is None
    assert document["notes"] == ["one", "two"]
    assert err == ""


def test_csv_quotes(capsys):
    out, _ = emitted(capsys, form="csv")
    assert list(csv.reader(io.StringIO(out)))[2] == ["b,c", "", "5"]


def test_output_goes_to_a_file(capsys, tmp_path):
    path = tmp_path / "out.json"
    out, _ = emitted(capsys, form="json", output=str(path))
    assert out == ""
    assert json.loads(path.read_text())["command"] == "test"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_never_says_nan(capsys, value):
    emit("test", [{"x": value}], form="json", settings={}, notes=[])
    assert json.loads(capsys.readouterr().out)["rows"] == [{"x": None}]


def test_a_task_is_said_once_where_there_is_no_terminal(capsys):
    with show_progress(enabled=False) as progress:
        for done in range(50):
            progress(Event("a long task", done, None, f"{done} steps"))
        progress(Event("another", 0, None))
        progress(Event("a counted task", 0, 10))
    assert capsys.readouterr().err.splitlines() == ["a long task ...", "another ..."]
