"""Compiled loops: Numba only, plain arrays in and out, cached on disk by their types.

Importing this package imports Numba, so only the engines do, when a fit begins.
"""
