"""A measure as a value: ``parse("nDCG(dcg='exp-log2')@10")``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from venire.errors import BadSetting, UnknownName
from venire.measures import average_precision as ap
from venire.measures import gain, incomplete, precision, rank_biased, stratified
from venire.measures.hits import Floats, Hits

_FORM = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?:\((.*)\))?\s*(?:@\s*([0-9.]+))?\s*$")


@dataclass(frozen=True)
class Family:
    """A kind of measure: its function, the parameters it takes, and their defaults."""

    name: str
    function: Callable[..., Floats]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    at: str | None = None
    """What stands after ``@``: "cutoff", "recall", or None."""
    needs_at: bool = False
    mean: str = "mean"
    """How topics become one number: "mean" or "sum"."""

    @property
    def line(self) -> str:
        """First line of the function's docstring."""
        return (self.function.__doc__ or "").splitlines()[0]


_REL = {"rel": 1}
_USUAL = {"rel": 1, "judged_only": False}
FAMILIES = {
    family.name: family
    for family in (
        Family("AP", ap.average_precision, _USUAL, "cutoff"),
        Family("P", precision.precision, _USUAL, "cutoff", needs_at=True),
        Family("R", precision.recall, _USUAL, "cutoff", needs_at=True),
        Family("Rprec", precision.r_precision, _USUAL),
        Family("RR", precision.reciprocal_rank, _USUAL, "cutoff"),
        Family("Success", precision.success, _USUAL, "cutoff", needs_at=True),
        Family("IPrec", precision.interpolated, _USUAL, "recall", needs_at=True),
        Family("nDCG", gain.ndcg, {"dcg": "log2", "judged_only": False}, "cutoff"),
        Family("ERR", gain.expected_reciprocal_rank, {"highest": 4}, "cutoff"),
        Family("Bpref", incomplete.bpref, _REL),
        Family("infAP", incomplete.inferred_ap, _REL),
        Family("xinfAP", stratified.extended_inferred_ap, {"rel": 1, "corrected": False}),
        Family("infNDCG", stratified.inferred_ndcg),
        Family("infNumRel", stratified.estimated_relevant, _REL, mean="sum"),
        Family("RBP", rank_biased.rank_biased_precision, {"p": 0.8, "rel": 1}, "cutoff"),
        Family("RBPResidual", rank_biased.residual, {"p": 0.8}, "cutoff"),
        Family("Judged", incomplete.judged_share, {}, "cutoff"),
        Family("Unjudged", incomplete.unjudged_share, {}, "cutoff"),
        Family("SetP", precision.set_precision, _REL),
        Family("SetR", precision.set_recall, _REL),
        Family("SetF", precision.set_f, {"rel": 1, "beta": 1.0}),
        Family("NumRet", precision.retrieved, {"rel": None}, mean="sum"),
        Family("NumRel", precision.relevant, _REL, mean="sum"),
    )
}


ALIASES = {
    "MAP": "AP", "Precision": "P", "Recall": "R", "RPrec": "Rprec", "MRR": "RR", "NDCG": "nDCG",
    "BPref": "Bpref",
}  # fmt: skip
"""Other names that ir_measures reads."""


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters; prints as ir_measures spells it.

    Examples
    --------
    >>> str(parse("nDCG( dcg='exp-log2' )@10"))
    "nDCG(dcg='exp-log2')@10"
    >>> parse("AP(rel=1)") == parse("AP")
    True
    """

    name: str
    at: float | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    """Only those that are not the default, by name."""

    @property
    def family(self) -> Family:
        """What kind of measure it is."""
        return FAMILIES[self.name]

    def __str__(self) -> str:
        inside = ",".join(f"{key}={value!r}" for key, value in self.parameters)
        end = "" if self.at is None else f"@{self.at:g}"
        return f"{self.name}{f'({inside})' if inside else ''}{end}"

    def compute(self, hits: Hits) -> Floats:
        """Return the value of every run and topic [S]; a topic without anything relevant has 0."""
        family = self.family
        options = {**family.parameters, **dict(self.parameters)}
        if family.at is not None:
            at = self.at
            options[family.at] = int(at) if at is not None and family.at == "cutoff" else at
        return np.asarray(family.function(hits, **options), dtype=np.float64)


def parse(text: str) -> Measure:
    """Read a measure as ir_measures spells it.

    Raises
    ------
    UnknownName
        For a name or a parameter there is none of, with the nearest.
    BadSetting
        For a value that cannot be.
    """
    found = _FORM.match(text)
    if not found:
        raise BadSetting(f"cannot read the measure {text!r}; write it as nDCG@10 or AP(rel=2)")
    name, inside, at = found.groups()
    name = ALIASES.get(name, name)
    if name not in FAMILIES:
        raise UnknownName("measure", name, FAMILIES)
    family = FAMILIES[name]
    given = _parameters(inside, text)
    for key, value in given.items():
        if key not in family.parameters:
            raise UnknownName(f"parameter of {name}", key, family.parameters)
        _check(name, key, value)
    return Measure(
        name,
        _after_at(family, at, text),
        tuple(
            sorted((key, value) for key, value in given.items() if family.parameters[key] != value)
        ),
    )


def _parameters(inside: str | None, text: str) -> dict[str, Any]:
    if not inside or not inside.strip():
        return {}
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        raise BadSetting(
            f"cannot read the parameters of {text!r}; write them as name=value"
        ) from None


def _check(name: str, key: str, value: Any) -> None:
    right = {
        "rel": lambda: isinstance(value, int) and not isinstance(value, bool),
        "highest": lambda: isinstance(value, int) and 0 < value <= gain.MOST,
        "judged_only": lambda: isinstance(value, bool),
        "corrected": lambda: isinstance(value, bool),
        "dcg": lambda: value in gain.DCG,
        "p": lambda: isinstance(value, float) and 0 < value < 1,
        "beta": lambda: isinstance(value, (int, float)) and value > 0,
    }[key]()
    if not right:
        raise BadSetting(f"{name}: {key}={value!r} cannot be")


def _after_at(family: Family, at: str | None, text: str) -> float | None:
    if at is None:
        if family.needs_at:
            raise BadSetting(f"{text} needs a {family.at}: {family.name}@10")
        return None
    if family.at is None:
        raise BadSetting(f"{family.name} takes no number after @")
    try:
        number = float(at)
    except ValueError:
        raise BadSetting(f"cannot read the number after @ in {text!r}") from None
    if family.at == "cutoff" and (number < 1 or number != int(number)):
        raise BadSetting(f"{text}: the cutoff is a whole number of at least 1")
    if family.at == "recall" and not 0 <= number <= 1:
        raise BadSetting(f"{text}: recall is between 0 and 1")
    return number
