import json

import pytest

from venire.cli.main import main

CSV = """query_id,doc_id,annotator_id,label
q1,a,x,2
q1,a,y,2
q1,b,x,0
q1,b,y,1
q2,c,x,1
q2,c,y,0
"""


@pytest.fixture
def judgments(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def venire(capsys):
    """Run a command; return exit status, standard output and standard error."""

    def run(*arguments):
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def venire_json(venire):
    def run(*arguments):
        status, out, err = venire(*arguments, "--format", "json")
        assert status == 0, err
        return json.loads(out)

    return run


@pytest.fixture
def venire_error(venire):
    """Run a command that a user got wrong; return what it was told."""

    def run(*arguments):
        status, _, err = venire(*arguments)
        assert status == 2, err
        return err

    return run
