"""Requests for jobs; their description comes from the settings of each kind of job."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ConfigDict, Field

from venire.server.jobs.kinds import find_kind, list_kinds
from venire.server.jobs.simulation_plan import SimulationSettings
from venire.server.web.api.forms import Form
from venire.server.web.api.settings_models import make_model

if TYPE_CHECKING:
    Simulation: TypeAlias = Form
else:
    Simulation = make_model(
        SimulationSettings, "Simulation", Form, "A simulation of grouped judging."
    )


def _describe_kinds(schema: dict[str, Any]) -> None:
    """Replace the schema of a job by one schema per kind of job."""
    description = schema.get("description", "")
    schema.clear()
    schema.update(
        {
            "title": "NewJob",
            "description": description,
            "oneOf": [_describe_kind(name) for name in list_kinds()],
        }
    )


def _describe_kind(name: str) -> dict[str, Any]:
    kind = find_kind(name)
    words = (inspect.getdoc(kind) or "").partition("\n")[0]
    settings = make_model(kind, f"Settings of {name}", Form, words).model_json_schema()
    return {
        "title": name,
        "description": words,
        "type": "object",
        "additionalProperties": False,
        "required": ["kind"],
        "properties": {"kind": {"const": name}, "settings": {**settings, "default": {}}},
    }


class NewJob(Form):
    """A job to queue."""

    model_config = ConfigDict(json_schema_extra=_describe_kinds)

    kind: str = Field(max_length=100)
    settings: dict[str, Any] = Field(default_factory=dict)

    def list_values(self) -> dict[str, Any]:
        """Return the settings; an empty field of a form has its default."""
        return {name: value for name, value in self.settings.items() if value not in (None, "")}
