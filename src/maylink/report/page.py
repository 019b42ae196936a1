"""The page: the data of all sections inside one HTML file."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from maylink.metrics import link_agreement
from maylink.report import doubts, points, sureness
from maylink.report.changes import changes
from maylink.report.encode import Names, as_json
from maylink.report.material import Material
from maylink.report.plane import density, middles, project
from maylink.report.profiles import profiles, sizes
from maylink.report.settings import settings

SCRIPTS = ("basics.js", "picture.js", "tables.js", "page.js")


def page_of(material: Material, title: str, projection: str = "auto") -> str:
    """Return the page as text."""
    folder = files(__package__)
    script = "\n".join((folder / name).read_text("utf-8") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    return Template((folder / "page.html").read_text("utf-8")).substitute(
        title=escape(title).encode("utf-8", "replace").decode("utf-8"),
        style=(folder / "page.css").read_text("utf-8"),
        script=script,
        digest=digest,
        data=as_json(describe(material, projection)),
    )


def describe(material: Material, projection: str = "auto") -> dict[str, Any]:
    """Return what the page shows, as plain lists, numbers and text."""
    names = Names(material.columns)
    found = doubts.doubtful(material)
    wanted = np.concatenate([doubts.ends_of(found.table), sureness.least_sure(material)])
    shown = points.choose(material, wanted)
    plane = project(material, projection)
    many = len(shown.rows) < material.n
    told = {
        "n": material.n,
        "named": material.named,
        "clusters": sizes(material),
        "facts": _facts(material),
        "picture": {
            "how": plane.how,
            "axes": plane.axes,
            "edge": plane.at_edge,
            "middle": middles(material, plane),
            "density": density(material, plane) if many else None,
        },
        "points": points.encode(material, plane, shown, names),
        "links": points.links_of(material, shown),
        "profiles": profiles(material, names),
        "sure": sureness.sureness(material, shown),
        "reliability": doubts.reliability(material),
        "doubts": doubts.doubts(material, found, shown, names),
        "changes": changes(material),
        "settings": settings(material),
    }
    return told | {"columns": names.listed()}


def _facts(material: Material) -> list[list[str]]:
    """Return the figures at the top of the page: the figure, and what it is of."""
    n, d = material.X.shape
    links = material.links
    facts = [
        [f"{n:,}", "points"],
        [f"{d:,}", "column" if d == 1 else "columns"],
        [f"{material.n_clusters:,}", "cluster" if material.n_clusters == 1 else "clusters"],
        [f"{links.n_links:,}", "link" if links.n_links == 1 else "links"],
    ]
    if links.n_links:
        facts.append([f"{link_agreement(material.codes, links):.0%}", "of links followed"])
    if material.sure is not None:
        facts.append([f"{np.mean(material.sure >= sureness.SURE):.0%}", "assigned at P ≥ .9"])
    return facts
