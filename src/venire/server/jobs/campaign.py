"""The jobs on campaigns at their former place, until installed entry points are refreshed."""

from venire.server.jobs.forecast import ForecastJob
from venire.server.jobs.next_best import NextBestJob

run_forecast = ForecastJob
run_next = NextBestJob
