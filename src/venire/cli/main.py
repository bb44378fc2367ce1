"""``venire``: commands are imported when they are called."""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module
from importlib.metadata import version

import click

from venire.cli.shared.error_text import find_command, render
from venire.errors import UnknownName, VenireError

COMMANDS = {
    "retrieve": ("venire.cli.retrieve:command", "Run classical retrieval systems on a collection."),
    "pool": ("venire.cli.pool:command", "Choose documents to judge."),
    "aggregate": ("venire.cli.aggregate:command", "Infer grades from judgments."),
    "agreement": ("venire.cli.agreement:command", "Measure how far annotators agree."),
    "evaluate": ("venire.cli.evaluate:command", "Score runs under qrels."),
    "compare": ("venire.cli.compare:command", "Compare every pair of runs."),
    "trust": ("venire.cli.trust:command", "Assess how far a ranking of runs can be trusted."),
    "simulate": (
        "venire.cli.simulate.group:group",
        "Simulate pools, assessors, campaigns and grouped judging.",
    ),
    "study": (
        "venire.cli.study.group:group",
        "Create studies, import documents, export judgments.",
    ),
    "serve": ("venire.cli.serve:command", "Serve the web application where people judge."),
    "demo": ("venire.cli.demo:command", "Run the whole chain on a small simulated collection."),
}


class Lazy(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for an unknown name."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(str(UnknownName("command", args[0], COMMANDS)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("venire"), prog_name="venire")
def cli() -> None:
    """Collect, aggregate and evaluate relevance judgments, and measure how far to trust them.

    Exit status: 0 success; 1 internal error; 2 wrong input or option, with a message of one
    line; 130 stopped by the user.
    """


_NOT_WRITABLE = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG,
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EIO,
)  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run a command; for a user error, print a single line and return 2."""
    try:
        code = cli.main(args=argv, standalone_mode=False)
    except VenireError as error:
        command = find_command(cli, sys.argv[1:] if argv is None else argv)
        click.echo(f"venire: {render(error, command)}", err=True)
        return 2
    except click.ClickException as error:
        line = _one_line(error.format_message())
        hint = ""
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f" (see {error.ctx.command_path} --help)"
        click.echo(f"venire: {line}{hint}", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("venire: stopped", err=True)
        return 130
    except BrokenPipeError:
        # The reader of the output is gone; Python must not report that at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"venire: {place}{error.strerror}. Nothing was written there.", err=True)
        return 2
    return code if isinstance(code, int) else 0


def _one_line(error: object) -> str:
    return " ".join(str(error).split())


def entry() -> None:
    """Run as a console script."""
    sys.exit(main())
