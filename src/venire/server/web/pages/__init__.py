"""The owner's pages. A route calls the verbs that the API calls, and renders."""

from fastapi import APIRouter

from venire.server.web.pages import (
    adjudication,
    analysis,
    crowd,
    data,
    export,
    home,
    overview,
    people,
    setup,
    simulation,
)

routers: tuple[APIRouter, ...] = tuple(
    part.router
    for part in (
        home,
        overview,
        data,
        setup,
        simulation,
        people,
        adjudication,
        analysis,
        crowd,
        export,
    )
)
