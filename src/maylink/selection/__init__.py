"""Choosing settings by predicting held-out links."""
