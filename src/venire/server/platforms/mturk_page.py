"""The page in which MTurk shows a HIT: a form with one question per document.

The page posts to MTurk's own address, takes the assignment identifier from its own address, can be
used by keyboard (digits and ``s``), and loads nothing from elsewhere. Without scripts it is a plain
form.
"""

from __future__ import annotations

from html import escape

from venire.server.platforms.base import CANNOT, Question, StudyTexts
from venire.server.platforms.task_html import flatten

SUBMIT = "https://www.mturk.com/mturk/externalSubmit"
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


def write_page(texts: StudyTexts) -> str:
    """Return the layout that MTurk fills with ``${hit}`` and ``${documents}`` of the CSV file."""
    name = escape(texts.name)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{name}</title><style>{_STYLE}</style></head><body>"
        f'<form method="post" action="{SUBMIT}">'
        '<input type="hidden" name="assignmentId" id="assignmentId" value="">'
        '<input type="hidden" name="hit" value="${hit}">'
        f"<h1>{name}</h1><details open><summary>Instructions</summary>"
        f"{flatten(texts.instructions)}</details>"
        "<p>Press a digit to choose a grade and go to the next document. Press <kbd>s</kbd> if you "
        "cannot judge a document.</p>${documents}"
        '<p><button type="submit">Submit</button></p></form>'
        f"<script>{_SCRIPT}</script></body></html>\n"
    )


def write_question(position: int, total: int, question: Question, texts: StudyTexts) -> str:
    """Return a document with its topic, and its grades as radio buttons ``grade_N``, N from 1."""
    topic = question.topic
    need = f"<strong>{escape(topic['title'])}</strong>" + "".join(
        f"<br>{escape(topic[name])}" for name in ("description", "narrative") if topic[name]
    )
    name = f"grade_{position}"
    choices = "".join(
        f'<label><input type="radio" required name="{name}" value="{grade["value"]}" '
        f'data-key="{escape(grade["key"])}"> <kbd>{escape(grade["key"])}</kbd> '
        f"{escape(grade['name'])} <small>{escape(grade.get('definition', ''))}</small></label>"
        for grade in texts.grades
    )
    choices += "".join(
        f'<label><input type="radio" name="{name}" value="{escape(CANNOT + reason, quote=True)}"'
        + (' data-key="s"' if number == 0 else "")
        + f"> {'<kbd>s</kbd> ' if number == 0 else ''}Cannot judge: {escape(reason)}</label>"
        for number, reason in enumerate(texts.reasons)
    )
    return (
        f"<fieldset><legend>{position} of {total}</legend><p>{flatten(need)}</p>"
        f"<article>{question.document}</article>{flatten(choices)}</fieldset>"
    )
