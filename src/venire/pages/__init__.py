"""The owner's pages. A route calls the verbs that the API calls, and renders."""

from fastapi import APIRouter

from venire.pages import (
    analysis,
    crowd,
    data,
    decide,
    export,
    home,
    overview,
    people,
    setup,
    simulation,
)

routers: tuple[APIRouter, ...] = tuple(
    part.router
    for part in (home, overview, data, setup, simulation, people, decide, analysis, crowd, export)
)
