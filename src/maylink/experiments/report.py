"""The report: all tables, figures and comparisons on one HTML page that loads nothing."""

from __future__ import annotations

import inspect
import platform
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import maylink
from maylink.experiments import compare, grid, protocols
from maylink.experiments.averages import trials_of
from maylink.experiments.cells import code_fingerprint
from maylink.experiments.exhibits import Exhibit
from maylink.experiments.page import count, duration, heading, legend, listed, picture, prose, slug
from maylink.experiments.tables import (
    ReadableTable,
    TableEntry,
    change,
    formatted,
    readable,
    to_html,
)

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Clustering with noisy links: the experiments"
REFERENCE = "RDP-means"  # others are compared with it; without it, with the best by mean F
QUALITY = ("F", "ARI", "NMI", "F_unlinked")
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "matplotlib")


@dataclass
class ReportSection:
    """One exhibit with its runs; its tables and figure are computed once."""

    name: str
    exhibit: Exhibit
    runs: pd.DataFrame

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by caption."""
        return self.exhibit.tables(self.runs)

    @cached_property
    def figure(self) -> Any:
        """The figure, or None."""
        return self.exhibit.figure(self.runs)


def write(path: str | Path, sections: Sequence[ReportSection], runs: pd.DataFrame) -> Path:
    """Write the report, one HTML file that loads nothing from anywhere.

    Parameters
    ----------
    path : str or Path
        The file.
    sections : sequence of ReportSection
        The tables and figures to show, in their order.
    runs : DataFrame
        All runs, each once. Those of the grid are summed up in the league table and compared.

    Returns
    -------
    Path
        The file.
    """
    compared = runs[runs["experiment"] == "grid"]
    parts = [
        *([("League table", _league(compared))] if len(compared) else []),
        *((section.exhibit.TITLE, _exhibit(section)) for section in sections),
        *([("Comparison of methods", _comparison(compared))] if len(compared) else []),
        ("Protocols", prose(protocols.__doc__)),
        ("Methods and their settings", _methods(runs)),
        ("What it was made with", _versions(runs)),
        ("How to rerun one cell", _rerun(compared)),
    ]
    folder = files("maylink.experiments")
    page = Template((folder / "report.html").read_text("utf-8")).substitute(
        title=escape(TITLE),
        style=(folder / "report.css").read_text("utf-8"),
        summary=_summary(runs),
        contents="\n".join(f'<li><a href="#{slug(n)}">{escape(n)}</a></li>' for n, _ in parts),
        body="\n".join(
            f'<section id="{slug(name)}">\n<h2>{escape(name)}</h2>\n{text}\n</section>'
            for name, text in parts
        ),
    )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, "utf-8")
    return path


def league(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean scores by method with standard errors, best F first.

    The scores of a failed run count as 0; its K and seconds are left out.
    """
    import pandas as pd

    runs = runs.assign(**{name: runs[name].astype(float) for name in (*QUALITY, "K", "seconds")})
    ran = runs["F"].notna()
    runs = runs.assign(
        **{name: runs[name].where(ran, 0.0) for name in QUALITY},
        seconds=runs["seconds"].where(ran),
    )
    groups = runs.groupby("method", sort=False)
    columns: dict[str, Any] = {}
    for name in (*QUALITY, "K", "seconds"):
        columns[name] = groups[name].mean()
        columns[f"± {name}"] = groups[name].sem()
    columns["runs"] = groups.size()
    columns["failed"] = 1.0 - ran.groupby(runs["method"], sort=False).mean()
    return pd.DataFrame(columns).sort_values("F", ascending=False, kind="stable")


def _summary(runs: pd.DataFrame) -> str:
    failed = runs[runs["F"].isna()]
    by = ", ".join(f"{name} {size}" for name, size in failed["method"].value_counts().items())
    trials = int(runs["trial"].nunique())
    facts = [
        f"{count(len(runs), 'run')} of {count(runs['method'].nunique(), 'method')} on "
        f"{count(runs['data'].nunique(), 'data set')} ({listed(runs['data'].unique())}), "
        f"{trials_of(runs)}, under the "
        f"{'protocols' if runs['protocol'].nunique() > 1 else 'protocol'} "
        f"{listed(runs['protocol'].unique())}.",
        f"{count(len(failed), 'run')} failed ({by})." if len(failed) else "No run failed.",
        f"Together they took {duration(runs['seconds'].sum())} of computing.",
    ]
    if trials == 1:
        facts.append("One trial a cell is a look, not a measurement.")
    compared = runs[runs["experiment"] == "grid"]
    if 0 < compared["data"].nunique() < len(grid.DATA):
        facts.append(
            f"Printed averages over data sets are over {listed(grid.DATA)}; "
            "ours here are over fewer, so that their differences mean little."
        )
    lines = [f"<p>{escape(' '.join(facts))}</p>"]
    for protocol, part in compared.groupby("protocol", sort=False):
        first = league(part).iloc[0]
        lines.append(
            f"<p>Best by mean F under <code>{escape(str(protocol))}</code>: "
            f"<strong>{escape(str(first.name))}</strong>, {first['F']:.3f}.</p>"
        )
    return "\n".join(lines)


def _league(runs: pd.DataFrame) -> str:
    lines = [
        "<p>Means over all data sets, rates and accuracies of links, ± standard error over runs, "
        "which holds the spread between data sets, too. The best of a column is bold. "
        "<em>F unlinked</em> is F over the pairs that carry no link; K is the number of clusters "
        "found. The scores of a run that failed count as 0, its K and time are left out.</p>"
    ]
    for protocol, part in runs.groupby("protocol", sort=False):
        table = readable(league(part), best=(*QUALITY, "seconds"))
        lines += [heading(protocol), to_html(table, f"League table, {protocol}")]
    return "\n".join(lines)


def _exhibit(section: ReportSection) -> str:
    exhibit = section.exhibit
    lines = [prose(re.sub(r"^(Table|Figure) \w+: ", "", exhibit.__doc__ or ""))]
    texts = []
    for caption, table in section.tables.items():
        texts += [heading(caption), to_html(readable(table), f"{exhibit.TITLE}; {caption}")]
    if any("− printed" in text for text in texts):
        lines.append(legend())
    if any('<th scope="col">failed' in text for text in texts):
        lines.append(
            '<p class="faint">Means here are over the runs that did not fail; '
            "<em>failed</em> is the share that did.</p>"
        )
    lines += texts
    what = (inspect.getdoc(exhibit.figure) or "").partition("\n")[0].removeprefix("Draw ")
    lines.append(picture(section.figure, exhibit.TITLE, what[:1].upper() + what[1:]))
    return "\n".join(lines)


def _comparison(runs: pd.DataFrame) -> str:
    lines = [
        "<p>Pairs are runs with the same protocol, data, links and trial. A run that failed "
        "counts as F&nbsp;=&nbsp;0. Intervals (95%) come from a bootstrap that draws data sets "
        "first and then trials within them; with few data sets they are rather too short. "
        "Ranks are those of mean F over the trials of each data set, rate and accuracy; cells of "
        "one data set are not independent, so the tests are rather too sure. After "
        '<a href="https://jmlr.org/papers/v7/demsar06a.html">Demšar (2006)</a>.</p>',
        legend(),
    ]
    for protocol, part in runs.groupby("protocol", sort=False):
        if part["method"].nunique() < 2:
            continue
        against = REFERENCE if REFERENCE in set(part["method"]) else str(league(part).index[0])
        ranks = compare.ranks(part)
        lines += [
            heading(f"{protocol}: F minus that of {against}"),
            to_html(_pairs(part, against), f"Paired differences, {protocol}"),
            heading(f"{protocol}: mean ranks"),
            f"<p>{escape(_verdict(ranks))}</p>",
            picture(
                compare.critical_difference(part),
                f"Critical-difference diagram, {protocol}",
                "Methods by mean rank, the best on the left; bars join methods that do not differ",
                more=listed(f"{name} {rank:.2f}" for name, rank in ranks.mean.items()),
            ),
        ]
    return "\n".join(lines)


def _pairs(runs: pd.DataFrame, reference: str) -> ReadableTable:
    table = compare.paired(runs, reference).sort_values("difference", ascending=False)
    proportions = ["won", "tied", "lost"]
    counts = ["pairs", "failed", "reference failed"]
    head = ["method", "difference", "95% interval", *proportions, *counts]
    rows = [
        [
            TableEntry(str(name)),
            change(row["difference"]),
            TableEntry(f"{change(row['low']).text} to {change(row['high']).text}"),
            *(TableEntry(formatted(column, float(row[column]))) for column in proportions),
            *(TableEntry(f"{row[column]:.0f}") for column in counts),
        ]
        for name, row in table.iterrows()
    ]
    return ReadableTable(head, rows)


def _verdict(ranks: compare.MeanRanks) -> str:
    blocks = f"{count(ranks.n_blocks, 'block')}" + (
        f" ({ranks.n_dropped} without some method left out)" if ranks.n_dropped else ""
    )
    words = f"{count(len(ranks.mean), 'method')}, {blocks}. "
    if ranks.p_value == ranks.p_value:
        p = f"= {ranks.p_value:.2g}" if ranks.p_value >= 1e-4 else "< 0.0001"
        words += f"Friedman's test that all are alike: χ² = {ranks.statistic:.1f}, p {p}. "
    return words + (
        f"Mean ranks that are {ranks.difference:.2f} or more apart differ "
        f"(Nemenyi, α = {ranks.alpha:g})."
    )


def _methods(runs: pd.DataFrame) -> str:
    used = set(runs["method"])
    lines = []
    for name, fit in protocols.METHODS.items():
        if name in used:
            at = runs.loc[runs["method"] == name, "protocol"].unique()
            lines.append(f'<dt>{escape(name)} <span class="faint">({listed(at)})</span></dt>')
            lines.append(f"<dd>{prose(fit.__doc__)}</dd>")
    return "<dl>\n" + "\n".join(lines) + "\n</dl>"


def _versions(runs: pd.DataFrame) -> str:
    rows = [["maylink", maylink.__version__], ["Python", platform.python_version()]]
    for name in LIBRARIES:
        try:
            rows.append([name, version(name)])
        except PackageNotFoundError:
            continue
    rows += [
        [f"digest of the code, {name}", code_fingerprint(name)]
        for name in runs["experiment"].unique()
    ]
    commit = _commit(Path(maylink.__file__).parent)
    if commit:
        rows.append(["commit", commit])
    rows.append(["seed", listed(str(seed) for seed in runs["seed"].unique())])
    table = ReadableTable(["what", "which"], [[TableEntry(text) for text in row] for row in rows])
    return to_html(table, "Versions")


def _rerun(runs: pd.DataFrame) -> str:
    lines = [
        "<p>A cell is protocol/method/data/r/p/trial. Its links and all else that is random "
        "follow from it and the seed, so that it gives the same scores again.</p>"
    ]
    done = runs[runs["F"].notna()]
    if len(done):
        cell = done.iloc[-1]
        name = "/".join(
            str(x) if isinstance(x, str) else f"{x:g}"
            for x in (cell[c] for c in ("protocol", "method", "data", "r", "p", "trial"))
        )
        command = f"maylink experiments --cell {shlex.quote(name)}"
        command += f" --seed {cell['seed']}" if cell["seed"] else ""
        lines.append(f"<pre>{escape(command)}</pre>")
        lines.append(f"<p>It gave F = {cell['F']:.6f}, ARI = {cell['ARI']:.6f}, "
                     f"NMI = {cell['NMI']:.6f}, K = {cell['K']:g}.</p>")  # fmt: skip
    return "\n".join(lines)


def _commit(folder: Path) -> str:
    """Return the commit that the package's files are of; nothing where git does not know them."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True, text=True, check=True, timeout=10,
        ).stdout.strip()  # fmt: skip

    try:
        git("ls-files", "--error-unmatch", "version.py")
        changed = git("status", "--porcelain", "--", ".")
        return git("rev-parse", "--short=12", "HEAD") + (", with changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return ""
