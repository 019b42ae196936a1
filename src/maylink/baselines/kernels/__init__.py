"""Compiled loops that baselines alone use: plain arrays in, plain arrays out, none loads early."""
