"""Pool strategies by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from venire import plugins
from venire.errors import BadSetting, UnknownName
from venire.pooling.base import Strategy
from venire.settings import rules


def list_strategies() -> dict[str, type[Strategy]]:
    """Return every pool strategy by name, in the order in which they are shown.

    The settings of each are ``venire.settings.rules(strategy)``, and its texts are ``label`` and
    ``description``.

    Examples
    --------
    >>> list(list_strategies())[:3]
    ['depth', 'fused', 'move-to-front']
    """
    strategies = plugins.load_all("pool strategy")
    return dict(sorted(strategies.items(), key=lambda item: (item[1].position, item[0])))


def list_settings() -> dict[str, tuple[str, ...]]:
    """Return the names of the settings of each strategy."""
    return {
        name: tuple(rule.name for rule in rules(strategy))
        for name, strategy in list_strategies().items()
    }


def list_adaptive() -> list[str]:
    """Return the names of the strategies in which judgments decide what is judged next."""
    return [name for name, strategy in list_strategies().items() if strategy.is_adaptive]


def build_strategy(name: str, settings: Mapping[str, Any]) -> Strategy:
    """Return a strategy; settings that are None have their defaults.

    Raises
    ------
    UnknownName
        For an unknown strategy, or a setting that it does not have.
    BadSetting
        For a value out of range, or a setting of other strategies.

    Examples
    --------
    >>> build_strategy("depth", {"depth": 5, "budget": None})
    DepthK(depth=5)
    """
    strategy: type[Strategy] = plugins.load("pool strategy", name)
    known = [rule.name for rule in rules(strategy)]
    values = {key: value for key, value in settings.items() if value is not None}
    for key in values:
        if key not in known:
            others = [other for other, names in list_settings().items() if key in names]
            if not others:
                raise UnknownName(f"setting of {name}", key, known)
            raise BadSetting(
                f"cannot be used with strategy {name!r}",
                argument=key,
                value=values[key],
                hint=f"It is a setting of {', '.join(others)}.",
            )
    return strategy.of(values)
