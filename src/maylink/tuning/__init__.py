"""All that "auto" does: folds of links, scores of held-out links, the race, candidates, starts.

A setting is good when, fitted on some of the links, it predicts the others.
"""

from maylink.tuning.folds import Fold, LinkFolds
from maylink.tuning.scores import Score, link_score
from maylink.tuning.search import LinkSearchCV

__all__ = ["Fold", "LinkFolds", "LinkSearchCV", "Score", "link_score"]
