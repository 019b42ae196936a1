"""Engines: where the sweeps of a solver run."""
