"""Solvers: one algorithm per file, each with a State, ``init``, ``step`` and ``solve``."""
