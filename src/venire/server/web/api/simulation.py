"""The simulation of grouped judging: its inputs, its plan, and uploads of vectors."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, UploadFile

from venire.server.jobs.simulation_plan import SimulationSettings, estimate_plan
from venire.server.jobs.simulation_start import describe_start
from venire.server.jobs.vector_upload import add_vectors_file
from venire.server.web.api.forms import example, read_form
from venire.server.web.api.job_forms import Simulation
from venire.server.web.api.uploads import on_disk
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession
from venire.server.web.route import Route

router = APIRouter(route_class=Route, prefix="/api/studies/{study_id}", tags=["simulation"])
Name = Annotated[str, Query(max_length=300)]
_PLAN = "24 settings x 3 annotator types x 20 queries x 3 repetitions, about 40 seconds"
_REPORT = {"kind": "vectors", "name": "my-encoder", "rows": 1797, "added": 1, "notes": []}


@router.get(
    "/simulation", responses=example({"queries": 20, "labels": 2000, "pilots": [], "cosines": []})
)
def get_start(
    member: CurrentMember, session: ReadSession, truth: Name, encoder: Name = ""
) -> dict[str, Any]:
    """Measure the pilot against the labels; count the queries, the labels and the cosines."""
    return describe_start(session, member.study_id, truth, encoder)


@router.post("/simulation/plan", responses=example({"plan": _PLAN, "seconds": 40.0}))
def estimate_simulation(
    owner: CurrentOwner, session: ReadSession, form: Simulation
) -> dict[str, Any]:
    """Return what a simulation will run and about how long it takes; nothing is stored."""
    return estimate_plan(session, owner.study_id, SimulationSettings.of(read_form(form)))


@router.post("/vectors", responses=example(_REPORT))
def upload_vectors(owner: CurrentOwner, store: AppStore, file: UploadFile) -> dict[str, Any]:
    """Add precomputed vectors: .parquet (doc_id, vector), or .npy in the order of the study."""
    name = file.filename or "vectors.parquet"
    with on_disk(file, name) as path:
        return store.write(lambda session: add_vectors_file(session, owner.study_id, path, name))
