"""A family of measures: its function, and the parameters a user can set, each with its rule.

A package adds a family with an entry point in the group ``venire.measures``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass

from venire import plugins
from venire.arrays import Floats
from venire.errors import BadSetting, UnknownName
from venire.settings import Rule

SAMPLE = "sample"
"""Need of an estimate: the judged pairs are a random sample of the pool."""
STRATA = "strata"
"""Need of an estimate that uses the stratum each pair was sampled from."""

REL = Rule(name="rel", type=int, default=1, words="Smallest grade that counts as relevant.")
JUDGED_ONLY = Rule(
    name="judged_only",
    type=bool,
    default=False,
    words="Rank the judged documents only, as if the others had not been retrieved.",
)
CUTOFF = Rule(
    name="cutoff",
    type=int,
    optional=True,
    default=None,
    least=1,
    words="Number of top-ranked documents that count; all by default.",
)
NEEDED_CUTOFF = Rule(
    name="cutoff",
    type=int,
    default=MISSING,
    least=1,
    words="Number of top-ranked documents that count.",
)


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of measure, such as nDCG with any cutoff and any gain.

    Parameters
    ----------
    name : str
        Name that users type, and name of the entry point.
    function : callable
        Formula: takes :class:`venire.measures.hits.Hits` and every parameter as a keyword, and
        returns the value of each run and topic [S].
    parameters : tuple of Rule
        Parameters in brackets, ``nDCG(dcg='exp-log2')``: name, type, default, range and text.
    cutoff : Rule or None
        Number after ``@``, ``nDCG@10``; its name is the argument of ``function``. A rule without
        a default makes the cutoff mandatory; None allows no ``@``.
    across_topics : "mean" or "sum"
        How to combine the topics of a run into one score.
    needs : tuple of str
        ``"sample"`` for an estimate from a random sample of the pool, which refuses qrels of an
        adaptive pool; ``"strata"`` for an estimate that uses the strata of the sample.
    skips_unjudged : bool
        Whether documents without a grade are left out or counted, instead of taken for not
        relevant.
    shown : tuple of str
        Parameters that are part of the printed name even at their default.
    source : str
        Publication of the formula, and program whose values it reproduces.
    aliases : tuple of str
        Other accepted names.
    """

    name: str
    function: Callable[..., Floats]
    parameters: tuple[Rule, ...] = ()
    cutoff: Rule | None = None
    across_topics: str = "mean"
    needs: tuple[str, ...] = ()
    skips_unjudged: bool = False
    shown: tuple[str, ...] = ()
    source: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """Return the first line of the function's docstring."""
        return (self.function.__doc__ or "").split("\n", 1)[0]

    @property
    def is_estimate(self) -> bool:
        """Whether the measure is estimated from a random sample of the pool."""
        return SAMPLE in self.needs

    @property
    def rules(self) -> dict[str, Rule]:
        """Return the parameters by name."""
        return {rule.name: rule for rule in self.parameters}


def find_family(name: str) -> Family:
    """Return the family of a name or an alias.

    Raises
    ------
    UnknownName
        With the nearest known name.
    """
    if name not in plugins.names("measure"):
        aliased = [family for family in list_families() if name in family.aliases]
        if aliased:
            return aliased[0]
        raise UnknownName("measure", name, plugins.names("measure"))
    family: Family = plugins.load("measure", name)
    if family.name != name:
        raise BadSetting(
            f"The entry point {name!r} of the group {plugins.GROUPS['measure']} is the measure "
            f"{family.name!r}",
            hint="The entry point and the measure must have the same name.",
        )
    return family


def list_families() -> list[Family]:
    """Return every family of measures, in the order of registration."""
    return list(plugins.load_all("measure").values())


def list_estimates() -> list[str]:
    """Return the names of the families that are estimated from a random sample of the pool."""
    return [family.name for family in list_families() if family.is_estimate]
