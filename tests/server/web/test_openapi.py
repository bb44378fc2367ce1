"""Whatever a program sends to the API, the server does not break."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from studies_for_tests import make_study
from venire.server.studies import accounts, invitations

schemathesis = pytest.importorskip("schemathesis")


@pytest.fixture
def api(app, own_store):
    """The API of a study, and the headers of its owner."""
    study, _, _ = make_study(own_store)
    with own_store.writing() as session:
        user = accounts.create_user(session, "Ann", "ann", "correct horse", may_create=True)
        invitations._take_unowned_studies(session, user.id)
        _, secret = accounts.create_token(session, user.id, "test")
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    return schema, study, {"Authorization": f"Bearer {secret}"}


@pytest.mark.parametrize(
    "examples", [2, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_no_request_breaks_the_server(api, examples):
    schema, study, headers = api
    seen = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def check(case):
            if "study_id" in (case.path_parameters or {}):
                case.path_parameters["study_id"] = study
            answer = case.call(headers=headers)
            assert answer.status_code < 500, (case.as_curl_command(), answer.text)

        check()
        seen += 1
    assert seen > 30
