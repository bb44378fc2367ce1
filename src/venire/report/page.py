"""One self-contained HTML page: words, tables, and plots that each have their table."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from venire.formats import write_frame
from venire.formats.source import write_bytes

if TYPE_CHECKING:
    import polars as pl

COLOURS = ("#1f5fa8", "#c4541a", "#2a7f4f", "#7a4fa3", "#8a6d00", "#5b6770", "#b0307a", "#0f8a8a")
"""Told apart by most eyes, and dark enough on white."""
STYLE = """
:root{color-scheme:light}
body{font:16px/1.55 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;
 color:#1b1f23;background:#fff}
h1{font-size:1.7rem;margin:.2rem 0 .6rem}h2{font-size:1.25rem;margin:2.2rem 0 .5rem}
table{border-collapse:collapse;margin:.6rem 0 1rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .8rem;border-bottom:1px solid #d8dde2;text-align:right;white-space:nowrap}
th{border-bottom:2px solid #57606a}th:first-child,td:first-child{text-align:left}
tr.best td{background:#e8f2ea}
table.verdict td{white-space:normal;text-align:left;vertical-align:top}
table.verdict th{text-align:left}
tr.green td:first-child{background:#dff1e4}tr.amber td:first-child{background:#fdeec4}
tr.red td:first-child{background:#fbdcd8}tr.not-checked td:first-child{background:#e8eaed}
.scroll{overflow-x:auto}figure{margin:1rem 0;overflow-x:auto}
@media(max-width:40rem){table.verdict thead{display:none}
 table.verdict tr,table.verdict td{display:block;border:0}
 table.verdict tr{border-bottom:1px solid #d8dde2;padding-bottom:.5rem}}
details{margin:.4rem 0 1rem}summary{cursor:pointer;color:#1f5fa8}
ul.notes{color:#444c56;padding-left:1.2rem}.lead{font-size:1.1rem}
footer{margin-top:3rem;color:#57606a;font-size:.85rem}
"""


def plain(text: object) -> str:
    """Return text that plotly shows as it is: it reads some HTML in names and labels."""
    return html.escape(str(text), quote=False)


class Page:
    """A page under construction; everything given as text is escaped.

    Parameters
    ----------
    title : str
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts: list[str] = [f"<h1>{html.escape(title)}</h1>"]
        self._plots = 0

    def lead(self, text: str) -> None:
        """Add the sentence that matters most."""
        self._parts.append(f'<p class="lead">{html.escape(text)}</p>')

    def heading(self, text: str) -> None:
        """Add a heading."""
        self._parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{html.escape(text)}</p>")

    def notes(self, notes: Sequence[str]) -> None:
        """Add a list of notes."""
        if notes:
            items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
            self._parts.append(f'<ul class="notes">{items}</ul>')

    def table(
        self,
        rows: Sequence[Mapping[str, Any]],
        *,
        digits: int = 3,
        best: int | None = None,
        most: int = 500,
    ) -> None:
        """Add a table; the row numbered ``best`` is marked, and rows past ``most`` counted."""
        self._parts.append(_table(rows[:most], digits, best))
        if len(rows) > most:
            self.text(f"{len(rows) - most:,} more rows are in the files beside this page.")

    def verdict(self, rows: Sequence[Mapping[str, Any]], *, digits: int = 3) -> None:
        """Add a table whose rows are coloured by their ``light``; a column must say it in words."""
        if not rows:
            return
        visible = [{name: row[name] for name in row if name != "light"} for row in rows]
        head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in visible[0])
        body = []
        for row, columns in zip(rows, visible, strict=True):
            cells = "".join(
                f"<td>{html.escape('–' if value is None else cell(value, digits))}</td>"
                for value in columns.values()
            )
            name = html.escape(str(row["light"]).replace(" ", "-"), quote=True)
            body.append(f'<tr class="{name}">{cells}</tr>')
        self._parts.append(
            f'<div class="scroll"><table class="verdict"><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )

    def plot(
        self,
        figure: Any,
        rows: Sequence[Mapping[str, Any]],
        *,
        caption: str,
        digits: int = 3,
        most: int = 200,
        height: int = 420,
    ) -> None:
        """Add a plotly figure, its caption, and its numbers as a table to unfold."""
        figure.update_layout(
            template="plotly_white",
            font={"family": "system-ui, sans-serif", "size": 14},
            margin={"l": 60, "r": 20, "t": 20, "b": 55},
            height=height,
            colorway=list(COLOURS),
        )
        self._plots += 1
        self._parts.append(
            f'<figure aria-label="{html.escape(caption, quote=True)}">'
            + figure.to_html(
                full_html=False,
                include_plotlyjs=False,
                div_id=f"plot-{self._plots}",
                config={"displaylogo": False, "responsive": True},
            )
            + f"<figcaption>{html.escape(caption)}</figcaption></figure>"
        )
        self._parts.append("<details><summary>The numbers</summary>")
        self.table(rows, digits=digits, most=most)
        self._parts.append("</details>")

    def render(self, footer: str = "") -> str:
        """Return the whole page."""
        script = ""
        if self._plots:
            from plotly.offline import get_plotlyjs

            script = f"<script>{get_plotlyjs()}</script>"
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>{html.escape(self.title)}</title><style>{STYLE}</style>{script}</head>"
            f"<body><main>{''.join(self._parts)}</main>"
            f"<footer>{html.escape(footer)}</footer></body></html>"
        )

    def write_beside(
        self, tables: Mapping[str, pl.DataFrame], folder: str | Path, footer: str = ""
    ) -> list[Path]:
        """Write ``report.html`` and each table as NAME.csv beside it; return the files."""
        target = Path(folder)
        paths = [target / f"{name}.csv" for name in tables]
        for path, frame in zip(paths, tables.values(), strict=True):
            write_frame(frame, path)
        page = target / "report.html"
        self.write(page, footer)
        return [*paths, page]

    def write(self, path: str | Path, footer: str = "") -> None:
        """Write the page; a failed write leaves no partial file."""
        write_bytes(path, self.render(footer).encode())


def _table(rows: Sequence[Mapping[str, Any]], digits: int, best: int | None) -> str:
    if not rows:
        return "<p>(no rows)</p>"
    head = "".join(f'<th scope="col">{html.escape(str(name))}</th>' for name in rows[0])
    body = []
    for number, row in enumerate(rows):
        cells = "".join(f"<td>{html.escape(cell(value, digits))}</td>" for value in row.values())
        body.append(f'<tr class="best">{cells}</tr>' if number == best else f"<tr>{cells}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def cell(value: Any, digits: int) -> str:
    """Return a value as a table shows it: undefined rather than nothing, words for yes and no."""
    if value is None:
        return "undefined"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
