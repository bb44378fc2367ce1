"""Documents and questions as plain HTML for a crowd platform: no outside files, safe text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

MOST_CHARACTERS = 4_000
"""Of a text; MTurk takes pages of at most 65,535 bytes."""
MTURK_LIMIT = 65_535
SUBMIT = "https://www.mturk.com/mturk/externalSubmit"
CANNOT = "cannot: "
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:1rem auto;padding:0 1rem;
color:#1b1f23}
fieldset{border:1px solid #8c959f;margin:0 0 1.5rem;padding:1rem}fieldset:focus-within{border:2px
solid #1f5fa8}legend{font-weight:600}article{max-height:28rem;overflow:auto;background:#f6f8fa;
padding:.5rem 1rem;margin:.6rem 0}table{border-collapse:collapse}th,td{text-align:left;
vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #d8dde2}mark{background:
#fff3b0}label{display:block;padding:.25rem 0}kbd{border:1px solid #8c959f;border-radius:3px;
padding:0 .35em}iframe{width:100%;height:24rem;border:0}button{font:inherit;padding:.5rem 1.5rem}
"""
_SCRIPT = """
(function(){var q=new URLSearchParams(location.search),a=document.getElementById('assignmentId');
if(a)a.value=q.get('assignmentId')||'';
var to=q.get('turkSubmitTo'),f=document.querySelector('form');
if(f&&to&&/^https:\\/\\/[a-z]+\\.mturk\\.com$/.test(to))f.action=to+'/mturk/externalSubmit';
var preview=a&&a.value==='ASSIGNMENT_ID_NOT_AVAILABLE';
if(preview)document.querySelectorAll('input,button').forEach(function(x){x.disabled=true});
var sets=[].slice.call(document.querySelectorAll('fieldset'));
function open(){return sets.findIndex(function(s){return !s.querySelector('input:checked')})}
function go(i){var n=sets[i];if(n){
(n.querySelector('input:checked')||n.querySelector('input')).focus();
n.scrollIntoView({block:'start'})}else{var b=document.querySelector('button');if(b)b.focus()}}
document.addEventListener('keydown',function(e){if(e.ctrlKey||e.altKey||e.metaKey||e.repeat)return;
if(/^(TEXTAREA|SELECT)$/.test(e.target.tagName))return;
var s=e.target.closest&&e.target.closest('fieldset'),i=s?sets.indexOf(s):open();if(i<0)return;
var x=sets[i].querySelector('input[data-key="'+(/^[0-9s]$/.test(e.key)?e.key:'')+'"]');
if(!x||x.disabled)return;e.preventDefault();x.checked=true;go(i+1<sets.length?i+1:open())});
if(!preview)go(open())})();
"""


def document_html(shown: Mapping[str, Any], cut: list[str] | None = None) -> str:
    """Return a document as HTML on one line.

    ``shown`` is what :func:`venire.server.judging.payload.content` returns.

    Parameters
    ----------
    shown : mapping
    cut : list of str, optional
        Takes the title of a text that was cut.
    """
    kind = shown["kind"]
    if kind == "entity":
        return _flat(_entity(shown))
    if kind == "html":
        page = escape(shown["html"], quote=True)
        return _flat(f'<iframe sandbox title="document" srcdoc="{page}"></iframe>')
    if kind == "text":
        return _flat(_text(shown, cut))
    return _flat(f"<p>{escape(str(shown.get('title') or ''))}</p>")


def _flat(html: str) -> str:
    """Neither line ends nor tabs, nor the mark of a variable of the platform's own."""
    return " ".join(html.split()).replace("${", "&#36;{").replace("{{", "&#123;&#123;")


def _segments(line: Sequence[Any]) -> str:
    return "".join(
        f"<mark>{escape(text)}</mark>" if marked else escape(text) for text, marked in line
    )


def _text(shown: Mapping[str, Any], cut: list[str] | None) -> str:
    title = _segments(shown["title"])
    parts = [f"<h3>{title}</h3>"] if title else []
    left = MOST_CHARACTERS
    for paragraph in shown["paragraphs"]:
        size = sum(len(text) for text, _ in paragraph)
        if size > left:
            kept = []
            for text, marked in paragraph:
                kept.append((text[:left], marked))
                left = max(left - len(text), 0)
            parts.append(f"<p>{_segments(kept)} […]</p>")
            if cut is not None:
                cut.append("".join(text for text, _ in shown["title"]))
            break
        left -= size
        parts.append(f"<p>{_segments(paragraph)}</p>")
    return "".join(parts)


def _entity(shown: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(row["label"])}</th><td>{_values(row)}</td></tr>'
        for row in shown["rows"]
    )
    return f"<h3>{escape(shown['label'])}</h3><table><tbody>{rows}</tbody></table>"


def _values(row: Mapping[str, Any]) -> str:
    out = []
    for value in row["values"]:
        inner = "; ".join(
            f"{escape(one['label'])}: {', '.join(escape(v['short']) for v in one['values'])}"
            for one in value["rows"]
        )
        out.append(escape(value["short"]) + (f" ({inner})" if inner else ""))
    more = f"<br>… and {row['more']} more" if row["more"] else ""
    return "<br>".join(out) + more


def question_html(
    position: int,
    total: int,
    topic: Mapping[str, str],
    document: str,
    grades: Sequence[Mapping[str, Any]],
    reasons: Sequence[str],
) -> str:
    """Return one document with its topic and its grades as radio buttons ``grade_N``, N from 1."""
    need = f"<strong>{escape(topic['title'])}</strong>" + "".join(
        f"<br>{escape(topic[name])}" for name in ("description", "narrative") if topic[name]
    )
    name = f"grade_{position}"
    choices = "".join(
        f'<label><input type="radio" required name="{name}" value="{grade["value"]}" '
        f'data-key="{escape(grade["key"])}"> <kbd>{escape(grade["key"])}</kbd> '
        f"{escape(grade['name'])} <small>{escape(grade.get('definition', ''))}</small></label>"
        for grade in grades
    )
    choices += "".join(
        f'<label><input type="radio" name="{name}" value="{escape(CANNOT + reason, quote=True)}"'
        + (' data-key="s"' if at == 0 else "")
        + f"> {'<kbd>s</kbd> ' if at == 0 else ''}Cannot judge: {escape(reason)}</label>"
        for at, reason in enumerate(reasons)
    )
    return (
        f"<fieldset><legend>{position} of {total}</legend><p>{_flat(need)}</p>"
        f"<article>{document}</article>{_flat(choices)}</fieldset>"
    )


def mturk_layout(study: str, instructions: str) -> str:
    """Return the layout that MTurk fills with ``${hit}`` and ``${documents}`` of the CSV file.

    It posts to MTurk's own address, takes the assignment's id from the page's, answers to digits
    and ``s`` on the keyboard, and loads nothing from elsewhere; without scripts it is a plain form.

    Parameters
    ----------
    study : str
    instructions : str
        Safe HTML.
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(study)}</title><style>{_STYLE}</style></head><body>"
        f'<form method="post" action="{SUBMIT}">'
        '<input type="hidden" name="assignmentId" id="assignmentId" value="">'
        '<input type="hidden" name="hit" value="${hit}">'
        f"<h1>{escape(study)}</h1><details open><summary>Instructions</summary>"
        f"{_flat(instructions)}</details>"
        "<p>A digit gives the grade and goes on to the next document; <kbd>s</kbd> says that it "
        "cannot be judged.</p>${documents}"
        '<p><button type="submit">Submit</button></p></form>'
        f"<script>{_SCRIPT}</script></body></html>\n"
    )


def toloka_layout(grades: Sequence[Mapping[str, Any]], reasons: Sequence[str]) -> str:
    """Return the HTML block of a Toloka project: one task, its grades as radio buttons."""
    choices = "".join(
        f'{{{{field type="radio" name="grade" value="{grade["value"]}" '
        f'label="{escape(grade["name"], quote=True)}" hotkey="{escape(grade["key"])}"}}}}\n'
        for grade in grades
    )
    choices += "".join(
        f'{{{{field type="radio" name="grade" value="{escape(CANNOT + reason, quote=True)}" '
        f'label="Cannot judge: {escape(reason, quote=True)}"}}}}\n'
        for reason in reasons
    )
    return f"<div>{{{{{{topic}}}}}}</div>\n<div>{{{{{{document}}}}}}</div>\n{choices}"
