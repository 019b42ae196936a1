"""Fuzzing: whatever comes in, only a ``MaylinkError`` comes out, or a result that is whole.

``make fuzz MINUTES=20`` runs it. A case is a small description in plain values that says how to
make data, links, a file or a command; Hypothesis draws and shrinks cases, and those that once
failed lie in ``corpus/`` and are tried first. ``inputs.py`` makes data and links, ``fits.py`` and
``files.py`` hold the targets, ``runs.py`` runs them.
"""
