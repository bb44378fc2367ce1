"""The simulation of grouped judging: what it starts from, and what a run of it would take."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, UploadFile

from venire.server.jobs import simulation_inputs as simulation
from venire.server.jobs.simulate import estimate
from venire.server.web.api.forms import Simulation, example, read_form
from venire.server.web.api.uploads import on_disk
from venire.server.web.deps import AppStore, CurrentMember, CurrentOwner, ReadSession

router = APIRouter(prefix="/api/studies/{study_id}", tags=["simulation"])
Name = Annotated[str, Query(max_length=300)]
_PLAN = "24 settings x 3 annotator types x 20 queries x 3 repetitions, about 40 seconds"
_REPORT = {"kind": "vectors", "name": "my-encoder", "rows": 1797, "added": 1, "notes": []}


@router.get(
    "/simulation", responses=example({"queries": 20, "labels": 2000, "pilots": [], "cosines": []})
)
def get_start(
    member: CurrentMember, session: ReadSession, truth: Name, encoder: Name = ""
) -> dict[str, Any]:
    """The pilot's annotators measured against the truth; the queries with labels; the cosines."""
    return simulation.start(session, member.study_id, truth, encoder)


@router.post("/simulation/plan", responses=example({"plan": _PLAN, "seconds": 40.0}))
def post_plan(owner: CurrentOwner, session: ReadSession, form: Simulation) -> dict[str, Any]:
    """What a run would be, and about how long it would take here; nothing is kept."""
    return estimate(session, owner.study_id, read_form(form))


@router.post("/vectors", responses=example(_REPORT))
def upload_vectors(owner: CurrentOwner, store: AppStore, file: UploadFile) -> dict[str, Any]:
    """Put precomputed vectors into the study: .parquet (doc_id, vector), or .npy in its order."""
    name = file.filename or "vectors.parquet"
    with on_disk(file, name) as path:
        return store.write(
            lambda session: simulation.put_vectors_file(session, owner.study_id, path, name)
        )
