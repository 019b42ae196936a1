"""Options that say what features are made of: columns of text, or embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from maylink.cli.errors import USAGE, CommandError
from maylink.cli.options import choice
from maylink.cli.printing import first_few, print_note

if TYPE_CHECKING:
    from maylink.io.data import Table

PANEL = "Texts and embeddings"
TEXT_KINDS = ("auto", "words", "letters", "sentences")
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="A column of texts or names to cluster by, in place of numbers; may be repeated.",
        rich_help_panel=PANEL,
    ),
]
TextAs = Annotated[
    str,
    choice(
        TEXT_KINDS,
        "--text-as",
        "What counts in texts; auto is letters where most have at most five words.",
        panel=PANEL,
    ),
]
Embeddings = Annotated[
    str | None,
    typer.Option(
        "--embeddings",
        metavar="FILE",
        help="Embeddings to cluster by, one for each row of DATA, which may be left out: NPY, NPZ "
        "or Parquet.",
        rich_help_panel=PANEL,
    ),
]
IdsFile = Annotated[
    str | None,
    typer.Option(
        "--ids",
        metavar="FILE",
        help="The id of each embedding, if they are in another order, or DATA is left out.",
        rich_help_panel=PANEL,
    ),
]


class FeatureOptions(NamedTuple):
    """What features are made of; nothing given: the columns of numbers."""

    text: tuple[str, ...] = ()
    text_as: str = "auto"
    embeddings: str | None = None
    ids: str | None = None
    view: Any = None  # of a saved model, which then decides
    alone: bool = False  # embeddings without DATA, so that ids come from a file

    @classmethod
    def of(
        cls,
        data: str | None,
        text: list[str] | None,
        text_as: str,
        embeddings: str | None = None,
        ids: str | None = None,
    ) -> FeatureOptions:
        """Return what the user asks for, or raise where it makes no sense."""
        if text and embeddings:
            raise CommandError("--text and --embeddings: give one of them", USAGE)
        if ids is not None and embeddings is None:
            raise CommandError("--ids: of which embeddings? name them with --embeddings", USAGE)
        if text_as != "auto" and not text:
            raise CommandError("--text-as: of which column? name it with --text", USAGE)
        if data is None and embeddings is None:
            raise CommandError("Missing argument 'DATA'; see maylink cluster --help", USAGE)
        alone = embeddings is not None and data in (None, embeddings)
        return cls(tuple(text or ()), text_as, embeddings, ids, alone=alone)

    @property
    def settings(self) -> dict[str, Any]:
        """What the reader of data must know."""
        columns = self.view.columns if hasattr(self.view, "columns") else self.text
        if columns:
            return {"texts": list(columns), "numbers": False}
        return {"numbers": False} if self.embeddings is not None else {}

    @property
    def code(self) -> tuple[str, str] | None:
        """Python that makes the features of ``table`` again: an import, and a line."""
        if self.text:
            line = f"table = with_text_features(table, {list(self.text)!r}, {self.text_as!r})"
            return "from maylink.views.tables import with_text_features", line
        return None


def featured(table: Table, features: FeatureOptions, *, quiet: bool) -> Table:
    """Return a table with the features that the user asks for, and print what they are."""
    from maylink.views.tables import as_seen_by, with_text_features

    if features.view is not None:
        return as_seen_by(features.view, table)
    if features.text:
        table = with_text_features(table, features.text, features.text_as)
        view = table.view
        note = f"{first_few(features.text)} as {view.kind}: {table.X.shape[1]} directions"
        print_note("text", f"{note}; numbers are left out", quiet=quiet)
    if features.embeddings is not None:
        table = _with_embeddings(table, features)
        n, d = table.X.shape
        print_note("data", f"embeddings of {n} rows × {d}, at unit length", quiet=quiet)
    return table


def read_embeddings(features: FeatureOptions, reading: dict[str, Any]) -> Table:
    """Read embeddings that stand for themselves, without DATA."""
    from maylink.io.data import read_data
    from maylink.io.id_files import read_ids
    from maylink.views.tables import with_embeddings, with_ids

    table = read_data(features.embeddings or "", **reading)
    table = with_embeddings(table, table.X)
    return table if features.ids is None else with_ids(table, read_ids(features.ids))


def _with_embeddings(table: Table, features: FeatureOptions) -> Table:
    from maylink.io.data import read_data
    from maylink.io.id_files import read_ids
    from maylink.views.tables import with_embeddings

    embeddings = read_data(features.embeddings or "", fewest=1).X
    ids = None if features.ids is None else read_ids(features.ids)
    return with_embeddings(table, embeddings, ids)
