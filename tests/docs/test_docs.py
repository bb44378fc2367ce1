"""The pages are held to the code: what is there is described, and what is said is so."""

import ast
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import runpy
import shlex
import tomllib
from dataclasses import MISSING, fields
from pathlib import Path
from typing import NamedTuple

import click
import pytest

import venire
from venire import plugins
from venire.cli.main import cli, main
from venire.errors import VenireError

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
SOURCE = ROOT / "src" / "venire"
DATA = Path(os.environ.get("VENIRE_DATA") or ROOT / ".." / "shared" / "data").resolve()
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    if "_build" not in page.relative_to(ROOT).parts
)
FENCE = re.compile(r"^(```+)([^\n`]*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
OUTPUT = doctest.OutputChecker()
SHOWN = doctest.ELLIPSIS | doctest.REPORT_NDIFF


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    text: str
    line: int

    @property
    def needs_data(self):
        return "VENIRE_DATA" in self.text


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[2].strip(), match[3], text.count("\n", 0, match.start()) + 1)
        for match in FENCE.finditer(text)
    ]


def modules():
    return ["venire", *(at.name for at in pkgutil.walk_packages(venire.__path__, "venire."))]


def sections(page, level=2):
    """Return the text under each heading of a level, with code taken out of fences."""
    marker = "#" * level
    out = {}
    name = None
    for line in FENCE.sub("", page.read_text(encoding="utf-8")).splitlines():
        if line.startswith(f"{marker} "):
            name = line.removeprefix(f"{marker} ").strip()
            out[name] = ""
        elif name is not None:
            out[name] += line + "\n"
    return out


def commands(command=cli, path=("venire",)):
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*path, name))


# What is there is described.


@pytest.mark.parametrize(
    ("path", "command"), list(commands()), ids=[" ".join(path) for path, _ in commands()]
)
def test_every_command_and_option_has_its_entry(path, command):
    page = sections(REFERENCE / "cli.md")
    title = " ".join(path)
    assert title in page, f"docs/reference/cli.md has no heading '## {title}'"
    entries = [line for line in page[title].splitlines() if line.startswith("### ")]
    said = " ".join(entries)
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            wanted = [parameter.make_metavar(click.Context(command)).strip("[]")]
        else:
            wanted = [*parameter.opts, *parameter.secondary_opts]
        for name in wanted:
            assert f"`{name}`" in said, f"'## {title}' has no entry '### `{name}`'"
        if isinstance(parameter.type, click.Choice):
            for choice in parameter.type.choices:
                assert f"`{choice}`" in page[title], f"'## {title}' does not say {choice}"


def test_no_entry_for_what_is_not_there():
    there = {" ".join(path): command for path, command in commands()}
    for title, text in sections(REFERENCE / "cli.md").items():
        options = {name for parameter in there[title].params for name in parameter.opts}
        options |= {"-h", "--help"}
        for line in text.splitlines():
            if line.startswith("### "):
                for name in re.findall(r"`(--?[a-z][\w-]*)`", line):
                    assert name in options, f"'## {title}' describes {name}, which is not there"


@pytest.mark.parametrize("name", plugins.names("aggregator"))
def test_every_model_and_setting_has_its_entry(name):
    page = sections(REFERENCE / "models.md")
    assert name in page, f"docs/reference/models.md has no heading '## {name}'"
    kind = plugins.load("aggregator", name)
    assert f"{kind.__module__}.{kind.__qualname__}" in page[name]
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.*?)` \|", page[name], re.MULTILINE))
    wanted = {
        field.name: repr(field.default)
        for field in fields(kind)
        if field.default is not MISSING
    }  # fmt: skip
    assert rows == wanted, f"the settings of {name} are not those of the page"


@pytest.mark.parametrize("name", plugins.names("aggregator"))
def test_every_model_has_its_section_in_ideas(name):
    titles = "\n".join(sections(DOCS / "ideas" / "models.md"))
    assert f"`{name}`" in titles, f"docs/ideas/models.md has no section with `{name}`"


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in ("encoder", "grouper") for name in plugins.names(kind)],
)
def test_every_encoder_and_grouper_and_setting_has_its_entry(kind, name):
    page = sections(REFERENCE / "grouping.md", 3)
    assert name in page, f"docs/reference/grouping.md has no heading '### {name}'"
    made = plugins.load(kind, name)
    assert f"{made.__module__}.{made.__qualname__}" in page[name]
    rows = re.findall(r"^\| `(\w+)` \| `(.*?)` \| (.*?) \|", page[name], re.MULTILINE)
    wanted = {field.name: repr(field.default) for field in fields(made)}
    assert {setting: default for setting, default, _ in rows} == wanted
    if kind == "grouper":
        grid = {setting: tuple(map(float, tried.split(", "))) for setting, _, tried in rows}
        assert grid == made.grid


def test_the_tables_of_annotators_are_made_from_their_file():
    from venire.simulation.grouping.annotators import times_table, types_table

    page = (REFERENCE / "grouping.md").read_text(encoding="utf-8")
    for rows in (types_table(), times_table()):
        lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        assert table in page, f"docs/reference/grouping.md should have:\n{table}"


@pytest.mark.parametrize("name", venire.__all__)
def test_every_public_name_is_in_the_reference(name):
    page = (REFERENCE / "python.md").read_text(encoding="utf-8")
    if name.startswith("__"):
        assert f"`venire.{name}`" in page
    else:
        assert f":: venire.{name}\n" in page


def errors():
    return sorted(
        {
            kind.__name__
            for name in modules()
            for _, kind in inspect.getmembers(importlib.import_module(name), inspect.isclass)
            if issubclass(kind, VenireError)
        }
    )


@pytest.mark.parametrize("name", errors())
def test_every_error_has_its_heading(name):
    page = sections(REFERENCE / "errors.md")
    assert name in page, f"docs/reference/errors.md has no heading '## {name}'"
    assert page[name].strip()


def test_every_error_has_a_code_of_its_own_and_the_page_says_it():
    page = sections(REFERENCE / "errors.md")
    codes = {}
    for module in modules():
        for name, kind in inspect.getmembers(importlib.import_module(module), inspect.isclass):
            if issubclass(kind, VenireError):
                codes[name] = kind.code
    assert len(set(codes.values())) == len(codes)
    for name, code in codes.items():
        assert f"`{code}`" in page[name], f"'## {name}' does not say its code {code}"


def is_empty(path):
    """Tell whether a module is an ``__init__.py`` with nothing but its docstring."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return path.name == "__init__.py" and all(isinstance(node, ast.Expr) for node in body)


def architecture():
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_every_module_has_its_line_in_the_architecture():
    named = re.findall(r"^- `([\w/]+\.py)`: ", architecture(), re.MULTILINE)
    modules = [path for path in SOURCE.rglob("*.py") if not is_empty(path)]
    assert sorted(named) == sorted(path.relative_to(SOURCE).as_posix() for path in modules)


def test_every_script_has_its_line_in_the_architecture():
    static = SOURCE / "server" / "web" / "static"
    named = re.findall(r"^- `([\w/-]+\.(?:js|d\.ts))`: ", architecture(), re.MULTILINE)
    scripts = [path for path in static.rglob("*") if path.suffix in (".js", ".ts")]
    assert sorted(named) == sorted(path.relative_to(static).as_posix() for path in scripts)


def test_the_errands_name_what_is_there():
    table = architecture().split("## Where do I change ...?")[1].split("## Every module")[0]
    paths = re.findall(r"`((?:[\w.]+/)+(?:[\w.]+)?|[\w]+\.(?:py|md|toml))`", table)
    roots = (SOURCE, ROOT, SOURCE / "server" / "judging", SOURCE / "server" / "web")
    roots += (SOURCE / "grouping", SOURCE / "server" / "platforms")
    assert len(paths) > 30
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []
    groups = set(re.findall(r"entry point `([\w.]+)`", table))
    assert groups <= set(plugins.GROUPS.values())


def test_the_layers_are_those_that_are_checked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    library, server = (one["layers"] for one in contracts if one["type"] == "layers")
    shown = [block.text.strip().splitlines() for block in blocks(ROOT / "ARCHITECTURE.md")]
    assert [layer.replace("venire.", "") for layer in library] in shown
    names = [layer.replace("venire.server.", "server/") for layer in server]
    assert [name.replace(" | server/", " | ") for name in names] in shown


# What is said is so.


def run_blocks(page, chosen, capsys):
    """Run a page's blocks in order; a text block after one that prints is what it prints."""
    namespace = {"__name__": "__main__"}
    printed = None
    for block in chosen:
        where = f"{name_of(page)}, line {block.line}"
        if block.kind == "python":
            code = compile("\n" * block.line + block.text, name_of(page), "exec")
            capsys.readouterr()
            exec(code, namespace)
            printed = capsys.readouterr().out
        elif block.kind == "text" and printed:
            same(block.text, printed, where)
            printed = None
        elif block.kind == "console":
            printed = None
            for line, shown in session(block.text):
                same(shown, command(line, where, capsys), f"{where}: {line}")


def session(text):
    """Split a console block into ($ line, output shown)."""
    text = text.replace("\\\n", " ")
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def command(line, where, capsys):
    words = [os.path.expandvars(word) for word in shlex.split(line)]
    if words[0] == "cat":
        return Path(words[1]).read_text(encoding="utf-8")
    assert words[0] == "venire", f"{where}: only venire and cat are run, not {words[0]}"
    capsys.readouterr()
    status = main(words[1:])
    out, err = capsys.readouterr()
    assert status == 0, f"{where}: {line}\n{err}"
    return out + err.replace("compiling, once ...\n", "")


def same(shown, printed, where):
    if shown.strip() and not OUTPUT.check_output(shown, printed, SHOWN):
        example = doctest.Example("", shown)
        raise AssertionError(f"{where}\n{OUTPUT.output_difference(example, printed, SHOWN)}")


RUN = ("python", "console")
WITH_BLOCKS = [page for page in PAGES if any(block.kind in RUN for block in blocks(page))]
WITH_DATA = [page for page in PAGES if any(block.needs_data for block in blocks(page))
             if any(block.kind in RUN and block.needs_data for block in blocks(page))]  # fmt: skip


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name_of)
def test_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    run_blocks(page, [block for block in blocks(page) if not block.needs_data], capsys)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_DATA, ids=name_of)
def test_blocks_with_data_run(page, tmp_path, monkeypatch, capsys):
    if not DATA.is_dir():
        pytest.skip(f"no data: {DATA} (set VENIRE_DATA)")
    monkeypatch.setenv("VENIRE_DATA", str(DATA))
    monkeypatch.chdir(tmp_path)
    run_blocks(page, [block for block in blocks(page) if block.needs_data], capsys)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name_of(page)} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(there), f"{name_of(page)} links to {target}: no such heading"


def anchors(page):
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_shell_blocks_are_told_apart(page):
    """A block that shows `$ ` lines is a console block, so that it is run."""
    for block in blocks(page):
        if block.kind != "console":
            assert not re.search(r"^\$ ", block.text, re.MULTILINE), f"line {block.line}"


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_the_commands_of_the_readme():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for line in ("make demo", "make test"):
        assert f"```sh\n{line}\n```" in text
        assert line.split()[1] in targets
    for page in PAGES:
        for block in blocks(page):
            if block.kind == "sh":
                for target in re.findall(r"^make ([a-z-]+)", block.text, re.M):
                    assert target in targets, f"{name_of(page)}: make {target}"


def test_the_setup_of_doctests_imports_what_it_names():
    configuration = runpy.run_path(str(ROOT / "docs" / "conf.py"))
    exec(configuration["doctest_global_setup"], {})
