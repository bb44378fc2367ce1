"""Forms that queue jobs offer what the settings allow: ranges, steps and defaults of numbers."""

import re
from html.parser import HTMLParser

import pytest

from venire.server.jobs.forecast import CrowdSettings
from venire.server.jobs.kinds import find_rules
from venire.settings import rules

HTML = {"accept": "text/html"}


class JobForms(HTMLParser):
    """The number inputs of each form that queues a job, by the kind of job."""

    def __init__(self):
        super().__init__()
        self.kind = None
        self.numbers = {}

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self.kind = None
        elif tag == "input" and values.get("name") == "kind":
            self.kind = values["value"]
            self.numbers[self.kind] = {}
        elif tag == "input" and values.get("type") == "number" and self.kind:
            self.numbers[self.kind][values["name"].removeprefix("settings.")] = values


def read_numbers(client, path):
    forms = JobForms()
    answer = client.get(path, headers=HTML)
    assert answer.status_code == 200
    forms.feed(answer.text)
    return forms.numbers


@pytest.mark.parametrize(
    ("page", "kinds"),
    [
        ("agreement", {"agreement": {"bootstrap", "seed"}}),
        ("aggregate", {"aggregate": {"seed"}}),
        ("trust", {"trust": {"depth", "permutations", "seed"}}),
        ("crowd", {
            "repeatability": {"permutations", "seed"},
            "annotators": {"most", "target_tau", "target_sd", "price", "draws", "seed"},
            "next-best": {"budget"},
            "forecast": {
                "replays", "seed", "crowd.spam", "crowd.accuracy", "crowd.seconds", "crowd.price",
                "crowd.fee",
            },
        }),
    ],
)  # fmt: skip
def test_a_number_has_the_range_of_its_setting(world, ada, page, kinds):
    numbers = read_numbers(ada, f"{world.here}/{page}")
    crowd = {f"crowd.{rule.name}": rule for rule in rules(CrowdSettings)}
    for kind, names in kinds.items():
        known = {**find_rules(kind), **crowd}
        shown = {name: values for name, values in numbers[kind].items() if name in known}
        assert set(shown) == names
        for name, values in shown.items():
            rule = known[name]
            low = rule.above if rule.least is None else rule.least
            high = rule.below if rule.most is None else rule.most
            assert values.get("min") == (None if low is None else str(low)), name
            assert values.get("max") == (None if high is None else str(high)), name
            assert values["step"] == ("1" if rule.type is int else "any"), name
            if name in find_rules(kind):
                default = "" if rule.default is None else str(rule.default)
                assert values["value"] == default, name


def test_the_planner_offers_no_number_that_is_refused_later(world, ada):
    assert re.search(
        r'min="2" step="1" name="settings.replays" value="20"',
        ada.get(f"{world.here}/crowd", headers=HTML).text,
    )
    body = {"kind": "forecast", "settings": {"grades": "qrels:x", "replays": 1}}
    answer = ada.post(f"{world.api}/jobs", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"] == "`replays` must be >= 2 (got 1)"
    assert answer.json()["code"] == "bad-setting"
    assert answer.json()["facts"]["argument"] == "replays"


def test_the_simulation_offers_what_its_settings_allow(world, ada):
    text = ada.get(f"{world.here}/simulation", headers=HTML).text
    known = find_rules("simulate")
    for name in ("queries", "repetitions", "seed"):
        rule = known[name]
        assert f'id="{name}" type="number" min="{rule.least}" max="{rule.most}" step="1"' in text
