"""The report of a fit: one page that shows clusters, links and settings, and needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from maylink.io.atomic import atomic_write
from maylink.link_forms import LinksLike
from maylink.report.inputs import ReportInputs
from maylink.report.limits import USUAL_LIMITS, ReportLimits
from maylink.report.page import build_page
from maylink.report.projection import PROJECTIONS
from maylink.runtime.progress import Progress, delay_of

__all__ = ["PROJECTIONS", "ReportLimits", "write_report"]


def write_report(
    path: str | Path,
    model: Any,
    X: Any,
    *,
    links: LinksLike | None = None,
    columns: Any = None,
    ids: Any = None,
    text: Mapping[str, Any] | None = None,
    without_links: Any = None,
    title: str = "maylink report",
    force: bool = False,
    projection: str = "auto",
    reading: str | None = None,
    limits: ReportLimits = USUAL_LIMITS,
) -> None:
    """Write what a fit found as one HTML page, to be opened in any browser, offline too.

    Parameters
    ----------
    path : str or Path
        The file.
    model : estimator
        Fitted: any estimator or baseline of the library, or another clusterer with ``labels_``.
    X : array-like or sparse matrix of shape (n, d)
        The data of the fit.
    links : Links, or what stands for links, optional
        The links of the fit; by default those that a TVClust was fitted to.
    columns : sequence of str, optional
        Names of the columns; those of a data frame by default.
    ids : sequence of n, optional
        Names of the rows; their numbers by default.
    text : mapping of str to sequences of n, optional
        Texts about the rows that are not in X: names, titles, notes. The page shows them beside the
        numbers.
    without_links : array-like of shape (n,), optional
        Labels that the same method finds without links, for a section on what the links changed.
    title : str, default "maylink report"
        The heading.
    force : bool, default False
        Whether to write over a file that is there.
    projection : {"auto", "pca", "umap"}, default "auto"
        How data of more than two columns become a picture. "auto" is PCA; UMAP
        (``pip install 'maylink[umap]'``) compiles for a while at its first use.
    reading : str, optional
        Python code that reads the files again as ``table`` and, where there are links, ``links``;
        the code that repeats the fit then begins with it.
    limits : ReportLimits, optional
        How much the page shows.

    Raises
    ------
    MaylinkError
        If model and data do not belong together.
    FileError
        If the file is there and ``force`` is not set, or it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import maylink as ml
    >>> from maylink.report import write_report
    >>> data = ml.datasets.make_pattern("moons", n=100, rng=0)
    >>> links = ml.sample_links(data.y, rate=0.05, accuracy=0.9, rng=0)
    >>> model = ml.RDPMeans(random_state=0).fit(data.X, links=links)
    >>> path = Path(tempfile.mkdtemp()) / "moons.html"
    >>> write_report(path, model, data.X, links=links, title="Two moons")
    >>> "Two moons" in path.read_text("utf-8")
    True
    """
    inputs = ReportInputs.build(
        model, X, links=links, columns=columns, ids=ids, text=text, without_links=without_links,
        reading=reading,
    )  # fmt: skip
    with Progress("report", None, delay_of(False)):
        page = build_page(inputs, str(title), projection, limits)
    with atomic_write(path, force=force) as file:
        file.write(page.encode("utf-8"))
