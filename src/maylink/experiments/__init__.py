"""The paper's experiments, one table or figure per file, run as ``python -m``."""
