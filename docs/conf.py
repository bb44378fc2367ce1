"""Sphinx: MyST pages, Furo, docstrings in numpy style. Builds without a network."""

from importlib.metadata import version as _version

project = "Venire"
author = "the Venire authors"
copyright = "the Venire authors, Apache 2.0"
release = version = _version("venire")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "Venire"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

nitpicky = True
# Types of other packages; and the words and shapes that docstrings use where a type stands.
# A name with a package in front must resolve.
nitpick_ignore_regex = [
    ("py:class", r"(numpy|polars|pandas|pyarrow|narwhals|numba|click|collections|typing)\..*"),
    ("py:(class|exc)", r"[^.]*"),
    # A type variable has no page.
    ("py:obj", r"venire\.aggregation\.loop\.State"),
]

# Examples name what they show without importing it, as a module's own doctest allows.
doctest_global_setup = """
from venire import Judgments, Qrels, Runs, Scale
from venire.aggregation.adapters import CrowdKitStyle, SklearnStyle
from venire.aggregation.annotator_types.model import AnnotatorTypes
from venire.aggregation.binary import BinaryDecomposition
from venire.aggregation.committee import Committee
from venire.aggregation.continuous import Continuous
from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.glad import Glad
from venire.aggregation.majority import Majority
from venire.aggregation.mean import Mean, Median
from venire.aggregation.minimax_entropy.model import MinimaxEntropy
from venire.aggregation.ordinal_mixture.model import OrdinalMixture
from venire.aggregation.regularised_dawid_skene import RegularisedDawidSkene
from venire.aggregation.annotator_types.descriptions import describe_type
from venire.grouping.base import finish
from venire.grouping.clusters import AverageLinkage
from venire.grouping.distribution import cosine_distribution
from venire.grouping.efficientnet import EfficientNetLite0
from venire.grouping.leader import Leader, NearDuplicate
from venire.grouping.pixels import ColourHistogram, PerceptualHash
from venire.grouping.pretrained import WordLlamaText
from venire.grouping.settings import Setting, describe_setting, parse_methods, read_caps
from venire.simulation.grouping.explanations import plan
from venire.simulation.crowds.kinds import simulated_crowd
from venire.simulation.grouping.annotators import annotator, parse_annotators
from venire.simulation.grouping.pools import GroupedPools
from venire.simulation.grouping.pilot import measure_pilot
from venire.simulation.grouping.replay import Chance, replay
from venire.testing import check_aggregator, check_grouper
"""


def add_settings(app, what, name, obj, options, lines):
    """Add the settings of a class, which are said on its fields, to its description."""
    from dataclasses import MISSING

    from venire.settings import describe_type, rules

    if what != "class" or not hasattr(obj, "__dataclass_fields__"):
        return
    described = [rule for rule in rules(obj) if rule.words]
    if not described:
        return
    lines += ["", ".. rubric:: Settings", ""]
    for rule in described:
        default = "" if rule.default is MISSING else f", default ``{rule.default!r}``"
        lines.append(f"- ``{rule.name}`` ({describe_type(rule)}{default}): {rule.words}")
    lines.append("")


def setup(app):
    """Connect what the pages need beyond Sphinx's own."""
    app.connect("autodoc-process-docstring", add_settings)
