"""A measure as a value: ``parse("nDCG(dcg='exp-log2')@10")``."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from venire import plugins
from venire.arrays import Floats
from venire.errors import BadSetting, UnknownName, VenireError
from venire.measures.family import Family, find_family
from venire.measures.hits import Hits
from venire.measures.trec_eval_names import translate_name
from venire.settings import Rule, check_value


@dataclass(frozen=True)
class MeasureType:
    """What an argument that holds a measure may be; see :func:`venire.value_types.has_type`."""

    words: str = "a measure such as 'AP' or 'nDCG@10'"

    def accepts(self, value: object) -> bool:
        """Tell whether a value is text, a measure, or a measure of ir_measures."""
        return isinstance(value, str | Measure) or any(
            kind.__module__.partition(".")[0] == "ir_measures" for kind in type(value).__mro__
        )


@dataclass(frozen=True)
class MeasuresType:
    """What an argument that holds measures may be: one, or a list."""

    words: str = "a measure such as 'AP' or 'nDCG@10', or a list of measures"

    def accepts(self, value: object) -> bool:
        """Tell whether a value is a measure, or a list of measures."""
        is_measure = MeasureType().accepts
        if is_measure(value):
            return True
        if not isinstance(value, Collection) or isinstance(value, bytes | Mapping):
            return False
        return all(is_measure(measure) for measure in value)


MeasureLike: TypeAlias = Annotated[Any, MeasureType()]
"""A measure as text, as a Measure, or as an object of ir_measures."""
MeasuresLike: TypeAlias = Annotated[Any, MeasuresType()]
"""One measure, or a list of measures."""


def list_measures(measures: MeasuresLike | None, default: Sequence[str]) -> list[str]:
    """Return measures as text; ``default`` where none are named.

    Raises
    ------
    BadSetting
        For an empty list.

    Examples
    --------
    >>> list_measures("AP", ["RR"]), list_measures(None, ["RR"])
    (['AP'], ['RR'])
    """
    if measures is None:
        return list(default)
    names = [str(measures)] if MeasureType().accepts(measures) else list(map(str, measures))
    if not names:
        raise BadSetting("must name at least one measure (got an empty list)", argument="measures")
    return names


_FORM = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?:\((.*)\))?\s*(?:@\s*([0-9.]+))?\s*$")


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters; prints as ir_measures spells it.

    Attributes
    ----------
    name : str
        Name of the family.
    cutoff : float or None
        The number after ``@``: a rank, or a level of recall for IPrec.
    parameters : tuple of (str, object)
        Parameters that differ from their defaults or are always printed, sorted by name.

    Examples
    --------
    >>> str(parse("nDCG( dcg='exp-log2' )@10"))
    "nDCG(dcg='exp-log2')@10"
    >>> parse("AP(rel=1)") == parse("AP")
    True
    """

    name: str
    cutoff: float | None = None
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def family(self) -> Family:
        """The family it belongs to."""
        return find_family(self.name)

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value!r}" for name, value in self.parameters)
        end = "" if self.cutoff is None else f"@{_write_number(self.cutoff)}"
        return f"{self.name}{f'({inside})' if inside else ''}{end}"

    @property
    def takes_unjudged_for_not_relevant(self) -> bool:
        """Whether a document without a grade counts as not relevant."""
        judged_only = dict(self.parameters).get("judged_only", False)
        return not (self.family.is_estimate or self.family.skips_unjudged or judged_only)

    def compute(self, hits: Hits) -> Floats:
        """Return the value of every run and topic [S]; a topic without relevant documents has 0."""
        family = self.family
        arguments = {rule.name: rule.default for rule in family.parameters}
        arguments |= dict(self.parameters)
        if family.cutoff is not None:
            whole = self.cutoff is not None and family.cutoff.type is int
            arguments[family.cutoff.name] = int(self.cutoff or 0) if whole else self.cutoff
        return np.asarray(family.function(hits, **arguments), dtype=np.float64)


def parse(text: str) -> Measure:
    """Read a measure as ir_measures spells it.

    Raises
    ------
    UnknownName
        For an unknown name or parameter, with the nearest known one.
    BadSetting
        For a value that is not allowed.
    """
    match = _FORM.match(text)
    if not match:
        nearest = translate_name(text)
        if nearest:
            raise UnknownName("measure", text, plugins.names("measure"), nearest=nearest)
        raise BadSetting(
            f"{shorten(text)!r} is not a measure",
            hint="Write it as nDCG@10 or AP(rel=2), for example.",
        )
    name, inside, cutoff = match.groups()
    try:
        family = find_family(name)
    except UnknownName as error:
        raise _suggest(text, error) from None
    values = _read_parameters(inside, text)
    for key, value in values.items():
        if key not in family.rules:
            raise UnknownName(f"parameter of {family.name}", key, family.rules)
        _check(family.rules[key], value, text)
    listed = {name: family.rules[name].default for name in family.shown}
    listed |= {
        key: value
        for key, value in values.items()
        if key in listed or family.rules[key].default != value
    }
    return Measure(family.name, _read_cutoff(family, cutoff, text), tuple(sorted(listed.items())))


def shorten(text: str) -> str:
    """Return a text of at most 60 characters, for a message."""
    return text if len(text) <= 60 else f"{text[:57]}..."


def _suggest(text: str, error: UnknownName) -> UnknownName:
    """Return the error about an unknown measure with the nearest whole measure: ``nDCG@10``."""
    nearest = translate_name(text)
    if not nearest and error.nearest:
        nearest = text.strip().replace(error.name, error.nearest, 1)
    return UnknownName("measure", error.name, error.known, nearest=nearest)


def _read_parameters(inside: str | None, text: str) -> dict[str, Any]:
    if not inside or not inside.strip():
        return {}
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadSetting(
            f"cannot read the parameters of {shorten(text)!r}", hint="Write them as name=value."
        ) from None


def _read_cutoff(family: Family, cutoff: str | None, text: str) -> float | None:
    rule = family.cutoff
    if cutoff is None:
        if rule is not None and rule.default is MISSING:
            raise BadSetting(
                f"{text} needs a {rule.name}",
                hint=f"Write it after an @, for example {family.name}@10."
                if rule.type is int
                else f"Write it after an @, for example {family.name}@0.1.",
            )
        return None
    if rule is None:
        raise BadSetting(f"{text}: {family.name} has no cutoff", hint=f"Leave out the @{cutoff}.")
    try:
        number = float(cutoff)
    except ValueError:
        raise BadSetting(f"{text}: {cutoff!r} is not a number") from None
    _check(rule, int(number) if rule.type is int and number == int(number) else number, text)
    return number


def _check(rule: Rule, value: Any, text: str) -> None:
    """Refuse a value that a rule does not allow; the error states the measure."""
    try:
        check_value(rule, value)
    except VenireError as error:
        raise BadSetting(f"{text}: {error}", value=value) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise BadSetting(f"{text}: `{rule.name}` must be finite (got {value!r})", value=value)


def _write_number(number: float) -> str:
    """Return the shortest text that reads back as the number, without an exponent."""
    return np.format_float_positional(number, trim="-")
