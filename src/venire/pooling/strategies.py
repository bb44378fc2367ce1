"""Strategies by the names users type."""

from __future__ import annotations

from typing import Any

from venire.errors import BadSetting, UnknownName
from venire.pooling.bandit import RULES, Bandit
from venire.pooling.base import Pooler
from venire.pooling.depth import DepthK
from venire.pooling.fused import Fused
from venire.pooling.move_to_front import MoveToFront
from venire.pooling.stratified import Stratified

SETTINGS: dict[str, tuple[str, ...]] = {
    "depth": ("depth",),
    "fused": ("depth", "budget", "fusion"),
    "move-to-front": ("depth", "budget"),
    "bandit-max-mean": ("depth", "budget"),
    "bandit-thompson": ("depth", "budget"),
    "bandit-nonstationary": ("depth", "budget", "discount"),
    "stratified": ("budget", "strata", "rates"),
}
"""Name -> the settings it has. ``depth`` cuts the lists; for ``depth`` it is the pool's."""
ADAPTIVE = ("move-to-front", *(f"bandit-{rule}" for rule in RULES))


def strategy(name: str, settings: dict[str, Any]) -> Pooler:
    """Return the strategy of that name; settings that are None are left at their defaults.

    Raises
    ------
    UnknownName
    BadSetting
        A setting that the strategy has not, or that is out of range.
    """
    if name not in SETTINGS:
        raise UnknownName("strategy", name, SETTINGS)
    given = {key: value for key, value in settings.items() if value is not None}
    strange = [key for key in given if key not in SETTINGS[name]]
    if strange:
        known = ", ".join(SETTINGS[name])
        raise BadSetting(f"{name} has no setting {strange[0]}; it has: {known}")
    depth = given.pop("depth", None)
    if name == "depth":
        return DepthK() if depth is None else DepthK(k=depth)
    if name == "fused":
        return Fused(**given)
    if name == "move-to-front":
        return MoveToFront(**given)
    if name == "stratified":
        strata = given.pop("strata", None)
        return Stratified(**given) if strata is None else Stratified(bounds=strata, **given)
    return Bandit(rule=name.removeprefix("bandit-"), **given)
