"""Arguments and options that commands share, each declared once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import typer

from maylink.analysis.methods import AUTO, FAMILIES, METHODS, family_names, not_a_method
from maylink.cli.errors import USAGE, CommandError
from maylink.errors import not_one_of

MISSING = ("keep", "error", "drop-rows", "drop-columns", "median")
KINDS = (
    "number", "count", "category", "yes-no", "date", "text", "identifier", "label", "constant",
    "words",
)  # fmt: skip
READ = ("decimal", "dtype", "encoding", "format", "header", "na", "sep")
LINK_COLUMNS = ("i", "j", "weight", "source", "confidence", "probability")
READ_LINKS = (
    *("coding", "encoding", "format", "id_column", "kind", "label_column", "bad_lines"),
    *LINK_COLUMNS,
)
READING, WRITING, FOLDERS = "Reading", "Writing", "Folders"
STDIN = STDOUT = "-"
LINKS_HELP = "Links, in any of the formats of docs/links.md."
DATA_HELP = "CSV, TSV, Parquet, NPY, NPZ or Matrix Market; - is CSV from standard input."


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a function that refuses a value that is none of the choices."""

    def check(value: str) -> str:
        if value not in choices:
            raise typer.BadParameter(not_one_of(value, choices))
        return value

    return check


def known_method(value: str) -> str:
    """Check that a value is a method, or "auto"."""
    if value not in (AUTO, *METHODS):
        raise typer.BadParameter(not_a_method(value, (AUTO, *METHODS)))
    return value


def known_family(value: str) -> str:
    """Check that a value is a family, or "auto"; those that somebody registered have loaded."""
    names = family_names() if "maylink.families" in sys.modules else FAMILIES
    return one_of(AUTO, *names)(value)


def completion(*choices: str) -> Callable[[str], Iterable[str]]:
    """Return a function that completes a word in the shell."""
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


def choice(words: tuple[str, ...], flag: str, text: str, panel: str | None = None) -> Any:
    """Declare an option whose value is one of some words."""
    return typer.Option(
        flag,
        help=text,
        callback=one_of(*words),
        autocompletion=completion(*words),
        rich_help_panel=panel,
        metavar="|".join(words) if len(words) <= 4 else "NAME",
    )


Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Links = Annotated[str | None, typer.Option("--links", metavar="FILE", help=LINKS_HELP)]
NeededLinks = Annotated[
    str, typer.Option("--links", metavar="FILE", help=LINKS_HELP, show_default=False)
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="The column that names the rows.", rich_help_panel=READING
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="A column to leave out; may be repeated.",
        rich_help_panel=READING,
    ),
]
Missing = Annotated[
    str,
    choice(
        MISSING,
        "--missing",
        "What to do about empty cells: keep leaves them out of the likelihood.",
        panel=READING,
    ),
]
As = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help=f"What a column is: {', '.join(KINDS)}; may be repeated.",
        rich_help_panel=READING,
    ),
]
Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="KEY=VALUE",
        help=f"How to read the data, of {', '.join(READ)}; for example header=false, or "
        "na=unknown,-99 for words and numbers that stand for empty cells.",
        rich_help_panel=READING,
    ),
]
ReadLinks = Annotated[
    list[str] | None,
    typer.Option(
        "--read-links",
        metavar="KEY=VALUE",
        help="How to read the links: which columns they are in, as in i=id_a j=id_b kind=same; and "
        f"{', '.join(key for key in READ_LINKS if key not in LINK_COLUMNS)}.",
        rich_help_panel=READING,
    ),
]
Family = Annotated[
    str,
    typer.Option(
        "--family",
        help=f"What the data are: {', '.join((AUTO, *FAMILIES))}.",
        callback=known_family,
        autocompletion=completion(AUTO, *FAMILIES),
        metavar="NAME",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="auto, tvclust, rdpmeans, dpmeans, spectralrdpmeans or a baseline.",
        callback=known_method,
        autocompletion=completion(AUTO, *METHODS),
        metavar="NAME",
    ),
]
K = Annotated[
    int | None,
    typer.Option("--k", min=1, help="Number of clusters, for methods that must be told."),
]
Penalty = Annotated[
    float | None,
    typer.Option(
        help="λ of RDPMeans or DPMeans, what a new cluster costs, as a divergence of the family.",
        show_default=False,
    ),
]
ClustersHint = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="About how many clusters there are, for RDPMeans or DPMeans to find λ by.",
        show_default=False,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Take the best answer that there is after so long: 60s, 5m, 1h.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of everything that is random.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON in place of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on standard error.")]
Force = Annotated[
    bool, typer.Option("--force", help="Write over files that are there.", rich_help_panel=WRITING)
]


def spread_key_values(words: Sequence[str]) -> list[str]:
    """Return a command in which each KEY=VALUE after the first of an option has that option, too.

    Examples
    --------
    >>> spread_key_values(["--read-links", "i=id_a", "j=id_b", "--quiet"])
    ['--read-links', 'i=id_a', '--read-links', 'j=id_b', '--quiet']
    """
    keys = {"--read": READ, "--read-links": READ_LINKS}
    spread: list[str] = []
    flag = None
    for before, word in zip(["", *words], words, strict=False):
        if before in keys:
            flag = before
        elif flag is not None and word.partition("=")[0] in keys[flag] and "=" in word:
            spread.append(flag)
        else:
            flag = None
        spread.append(word)
    return spread


def settings_of(penalty: float | None, clusters_hint: int | None) -> dict[str, Any]:
    """Return the parameters of a method that options give."""
    given = {"cluster_penalty": penalty, "n_clusters_hint": clusters_hint}
    return {key: value for key, value in given.items() if value is not None}


def parse_kinds(words: list[str] | None) -> dict[str, str]:
    """Return the kinds of columns that ``--as`` names."""
    kinds = {}
    for word in words or ():
        column, equals, kind = word.rpartition("=")
        if not equals or not column or kind not in KINDS:
            raise CommandError(
                f"--as: {word!r} is not COLUMN=KIND with one of {', '.join(KINDS)}", USAGE
            )
        kinds[column] = kind
    return kinds


def parse_key_values(
    words: list[str] | None, known_keys: tuple[str, ...], flag: str
) -> dict[str, Any]:
    """Return the values of KEY=VALUE options by key; ``flag`` is the option that has them."""
    values: dict[str, Any] = {}
    for word in words or ():
        key, equals, value = word.partition("=")
        if not equals or key not in known_keys:
            raise CommandError(
                f"{flag}: {word!r} is not KEY=VALUE with one of {', '.join(known_keys)}", USAGE
            )
        parsed = _parse_value(key, value, flag)
        values[key] = [*values.get(key, []), *parsed] if key == "na" else parsed
    return values


def _parse_value(key: str, value: str, flag: str) -> Any:
    if key == "na":
        return value.split(",")
    if key == "header":
        if value not in ("true", "false"):
            raise CommandError(f"{flag}: header is true or false, not {value!r}", USAGE)
        return value == "true"
    return value.replace("\\t", "\t") if key == "sep" else value
