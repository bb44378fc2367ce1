"""The JSON API: every owner action. A route parses, calls a verb, and answers."""

from fastapi import APIRouter

from venire.server.web.api import (
    account,
    adjudication,
    campaigns,
    crowd,
    exports,
    jobs,
    people,
    simulation,
    studies,
    uploads,
)

routers: tuple[APIRouter, ...] = tuple(
    part.router
    for part in (
        studies,
        uploads,
        campaigns,
        crowd,
        people,
        adjudication,
        jobs,
        exports,
        simulation,
        account,
    )
)
