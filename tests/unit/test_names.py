"""Names say what they hold: no variable named by a pronoun or participle, no such function."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "venire"
FILES = sorted(SOURCE.rglob("*.py"))
VAGUE = re.compile("one|found|given|there|said|told|kept|mine|here|away|how|more|at")
IRREGULAR = re.compile(
    "shown|chosen|drawn|known|given|found|kept|told|said|sent|made|taken|written|built|left|held|"
    "lost|begun|done|seen|hidden|learnt|bound|meant|heard|laid"
)
VERBS = frozenset({"embed", "feed", "seed", "need", "exceed", "proceed", "speed"})


def vague_names(tree):
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and VAGUE.fullmatch(node.id)
        ):
            yield node.lineno, node.id
        if isinstance(node, ast.arg) and VAGUE.fullmatch(node.arg):
            yield node.lineno, node.arg


def participles(tree):
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if any("property" in ast.dump(decorator) for decorator in node.decorator_list):
            continue  # a property is a noun
        name = node.name.strip("_")
        is_participle = IRREGULAR.fullmatch(name) or (name.endswith("ed") and name not in VERBS)
        if is_participle and "_" not in name:
            yield node.lineno, node.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_names_say_what_they_hold(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [*vague_names(tree), *participles(tree)] == []


def test_the_check_sees_what_it_is_for():
    tree = ast.parse("for one in rows:\n    pass\ndef chosen(at):\n    found = at\n")
    assert [name for _, name in vague_names(tree)] == ["one", "at", "found"]
    assert [name for _, name in participles(tree)] == ["chosen"]
