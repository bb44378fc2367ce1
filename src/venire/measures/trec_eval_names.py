"""trec_eval's names of measures, as Venire and ir_measures spell them.

Source: the measure files ``m_*.c`` of trec_eval 9.0.7; a cutoff follows an underscore
(``ndcg_cut_10`` in its output) or a dot (``ndcg_cut.10`` in its ``-m`` option).
"""

from __future__ import annotations

import re

NAMES = {
    "map": "AP",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "bpref": "Bpref",
    "rprec": "Rprec",
    "infap": "infAP",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_f": "SetF",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRet(rel=1)",
    "num_q": "NumQ",
    "mrr": "RR",
}
"""Measures without a cutoff, in lower case."""
WITH_CUTOFF = {
    "p": "P",
    "recall": "R",
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "success": "Success",
    "iprec_at_recall": "IPrec",
}
"""Measures with a cutoff, in lower case."""
_CUTOFF = re.compile(r"^([a-z_]+?)(?:[_.]([0-9]+(?:\.[0-9]+)?))?$")
DEFAULT_CUTOFF = "10"


def translate_name(text: str) -> str:
    """Return Venire's spelling of a measure of trec_eval; "" for any other text.

    Examples
    --------
    >>> translate_name("map"), translate_name("ndcg_cut_10"), translate_name("P.5")
    ('AP', 'nDCG@10', 'P@5')
    """
    name = text.strip().lower()
    if name in NAMES:
        return NAMES[name]
    match = _CUTOFF.match(name)
    if match is None or match[1] not in WITH_CUTOFF:
        return ""
    cutoff = match[2] or DEFAULT_CUTOFF
    if "." in cutoff:
        cutoff = cutoff.rstrip("0").rstrip(".") or "0"
    return f"{WITH_CUTOFF[match[1]]}@{cutoff}"
