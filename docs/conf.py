"""Settings of the documentation."""

from maylink import __version__

project = "maylink"
author = "The maylink developers"
release = __version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_show_sourcelink = False
