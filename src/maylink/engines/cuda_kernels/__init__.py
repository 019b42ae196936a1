"""Triton kernels of the GPU engine: arrays in, arrays out.

A score is written as ``g = ⟨t, θ⟩ − c``, so that the nearest centre has the greatest g and the
divergence is ``φ − g``. Every kernel gives the same bits in every run: what programs add in no
fixed order are whole numbers, or parts of points that are cut so that no addition rounds
(:mod:`maylink.kernels.sums`); lists of points come in no fixed order, and nothing asks for one.
"""
