"""``ReadingOptions``: how a file or a dataframe is read as judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from venire.errors import BadSetting
from venire.settings import Settings, setting
from venire.tables.judgments import REPEATS
from venire.tables.scale import Scale

Labels: TypeAlias = Iterable[object] | str | float
"""Labels, or one label."""


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(Settings):
    """How a file or a dataframe is read as judgments.

    Examples
    --------
    >>> options = ReadingOptions.parse(columns="query_id=topic,label=grade", drop_labels=[7])
    >>> options.columns, options.drop_labels, options.is_default
    ({'query_id': 'topic', 'label': 'grade'}, (7,), False)
    """

    columns: Mapping[str, str] = setting(
        default_factory=dict,
        words="Map Venire's column names to those of the file, for example "
        "query_id=topicID,annotator_id=workerID.",
    )
    scale: Scale | str | None = setting(
        None, words="The whole scale, lowest grade first: 0,1,2 or bad,fair,good or 0=bad,1=good."
    )
    drop_labels: tuple[object, ...] = setting(
        (), words="Label that means 'cannot judge'; its rows are left out and counted."
    )
    repeats: str | None = setting(
        None,
        words="Which judgment counts if an annotator judged a pair more than once.",
        choices=REPEATS,
    )

    @classmethod
    def parse(
        cls,
        *,
        columns: Mapping[str, str] | str | None = None,
        scale: Scale | str | None = None,
        drop_labels: Labels = (),
        repeats: str | None = None,
    ) -> ReadingOptions:
        """Return the options as callers write them.

        Parameters
        ----------
        columns : mapping or str, optional
            A mapping, or the text ``"query_id=topic,doc_id=document"``.
        scale : Scale or str, optional
        drop_labels : iterable, or one label
        repeats : "last", "all", "first" or "error", optional

        Raises
        ------
        BadSetting, UnknownName
        """
        return cls(
            columns=parse_columns(columns),
            scale=scale,
            drop_labels=(drop_labels,)
            if isinstance(drop_labels, str | int | float)
            else tuple(drop_labels),
            repeats=repeats,
        )

    @property
    def is_default(self) -> bool:
        """Whether nothing was set."""
        return self == type(self)()

    def to_arguments(self) -> dict[str, Any]:
        """Return the options as arguments of :meth:`venire.Judgments.of`."""
        return {
            "columns": self.columns,
            "scale": self.scale,
            "drop_labels": self.drop_labels,
            "repeats": self.repeats,
        }


def parse_columns(
    columns: Mapping[str, str] | str | None, argument: str = "columns"
) -> dict[str, str]:
    """Return column names as a mapping; text has the form ``name=column,name=column``.

    Raises
    ------
    BadSetting
        A text of another form.
    """
    if not isinstance(columns, str):
        return dict(columns or {})
    names: dict[str, str] = {}
    for part in columns.split(","):
        if not part.strip():
            continue
        name, equals, column = part.partition("=")
        if not equals or not name.strip() or not column.strip():
            raise BadSetting(
                f"must be NAME=VALUE,NAME=VALUE (got {part!r})", argument=argument, value=columns
            )
        names[name.strip()] = column.strip()
    return names
