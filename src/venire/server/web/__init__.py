"""The web application: routes, pages, scripts. A route parses, calls a verb, and renders."""
