"""Compiled loops: Numba only, plain arrays in and out, cached on disk by their types.

Importing a kernel imports Numba, so they are imported where a fit begins; ``codes`` does without.
"""
