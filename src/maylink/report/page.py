"""Builds the page: the data of all sections inside one HTML file."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from maylink.estimators.verdict import Verdict, judge
from maylink.estimators.verdict_level import CONFIRMED
from maylink.metrics import link_agreement
from maylink.report.categories import category_section
from maylink.report.certainty import CERTAIN, certainty_section, least_certain
from maylink.report.changes import change_section
from maylink.report.density import density
from maylink.report.encoding import ColumnNumbers, as_json
from maylink.report.examples import example_rows
from maylink.report.fit_settings import settings_section
from maylink.report.inputs import ReportInputs
from maylink.report.limits import USUAL_LIMITS, ReportLimits
from maylink.report.points import choose_points, encode_links, encode_points
from maylink.report.profiles import cluster_sizes, profile_section
from maylink.report.projection import cluster_medians, project
from maylink.report.reliability import reliability_section
from maylink.report.suspect_links import find_suspect_links, suspect_section
from maylink.report.words import cluster_words

SCRIPTS = ("basics.js", "picture.js", "tables.js", "tools.js", "page.js")


def build_page(
    inputs: ReportInputs,
    title: str,
    projection: str = "auto",
    limits: ReportLimits = USUAL_LIMITS,
) -> str:
    """Return the page as text."""
    folder = files(__package__)
    script = "\n".join((folder / name).read_text("utf-8") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    return Template((folder / "page.html").read_text("utf-8")).substitute(
        title=escape(title).encode("utf-8", "replace").decode("utf-8"),
        style=(folder / "page.css").read_text("utf-8"),
        script=script,
        digest=digest,
        data=as_json(page_data(inputs, projection, limits)),
    )


def page_data(inputs: ReportInputs, projection: str, limits: ReportLimits) -> dict[str, Any]:
    """Return what the page shows, as plain lists, numbers and text."""
    columns = ColumnNumbers(inputs.columns)
    words = cluster_words(inputs)
    suspects = find_suspect_links(inputs, limits.suspect_above)
    examples = example_rows(inputs)
    required = np.concatenate([suspects.ends, least_certain(inputs), *examples])
    points = choose_points(inputs, required, limits.points)
    plane = project(inputs, projection)
    sampled = len(points.rows) < inputs.n
    links = inputs.links if inputs.links.n_links else None
    verdict = judge(inputs.model, links=links, without_links=inputs.without_links)
    sections = {
        "n": inputs.n,
        "named": inputs.named,
        "clusters": cluster_sizes(inputs),
        "verdict": vars(verdict),
        "facts": _facts(inputs, verdict),
        "picture": {
            "how": plane.how,
            "axes": plane.axes,
            "edge": plane.at_edge,
            "middle": cluster_medians(inputs, plane),
            "density": density(inputs, plane, limits.density_cells) if sampled else None,
        },
        "points": encode_points(inputs, plane, points, columns),
        "links": encode_links(inputs, points),
        "profiles": profile_section(inputs, columns),
        "examples": [points.positions(rows).tolist() for rows in examples],
        "words": words,
        "directions": len(inputs.directions) == inputs.X.shape[1],
        "categories": category_section(inputs),
        "sure": certainty_section(inputs, points),
        "reliability": reliability_section(inputs),
        "doubts": suspect_section(inputs, suspects, points, columns),
        "changes": change_section(inputs),
        "settings": settings_section(inputs),
    }
    named = {"columns": columns.names(), "dates": columns.among(inputs.dates)}
    return sections | named  # last: the sections number the columns


def _facts(inputs: ReportInputs, verdict: Verdict) -> list[list[str]]:
    """Return the figures at the top of the page, each with its name.

    How sure assignments are is among them where links confirm the clusters.
    """
    d, links = inputs.n_columns, inputs.links
    facts = [
        [f"{inputs.n:,}", "points"],
        [f"{d:,}", "column" if d == 1 else "columns"],
        [f"{inputs.n_clusters:,}", "cluster" if inputs.n_clusters == 1 else "clusters"],
        [f"{links.n_links:,}", "link" if links.n_links == 1 else "links"],
    ]
    if links.n_links:
        facts.append([f"{link_agreement(inputs.codes, links):.0%}", "of links followed"])
    if inputs.certainty is not None and verdict.level == CONFIRMED:
        facts.append([f"{np.mean(inputs.certainty >= CERTAIN):.0%}", "assigned at P ≥ .9"])
    return facts
