"""Choosing settings by predicting held-out links.

A setting is good when, fitted on some of the links, it predicts the others.
"""

from typing import TYPE_CHECKING, Any

from maylink.selection.folds import Fold, LinkFolds
from maylink.selection.scores import Score, link_score

if TYPE_CHECKING:
    from maylink.selection.search import LinkSearchCV

__all__ = ["Fold", "LinkFolds", "LinkSearchCV", "Score", "link_score"]


def __getattr__(name: str) -> Any:
    # The search stands above the estimators, and these above folds and scores.
    if name == "LinkSearchCV":
        from maylink.selection.search import LinkSearchCV

        return LinkSearchCV
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
