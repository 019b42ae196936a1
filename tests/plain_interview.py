"""An interview with the face of the real one that names pairs in a fixed order."""

import numpy as np

from maylink.questions import Question, Standing


class PlainInterview:
    """Names pairs that were not answered by anybody, in a random order that the seed decides."""

    def __init__(self, X, links=None, *, random_state=None, enough=None):
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        every = np.column_stack(np.triu_indices(n, 1))
        self.pairs = np.random.default_rng(random_state).permutation(every).tolist()
        self.heard, self.asked, self.enough = [], [], enough
        self.labels = np.zeros(n, np.int64)

    def questions(self, n=1, source=0):
        self.asked.append((n, source))
        done = {(one.i, one.j) for one in self.heard if one.source == source}
        left = [pair for pair in self.pairs if tuple(pair) not in done]
        return [Question(j, i, 0.5, 1.0, "it is its turn") for i, j in left[:n]]

    def add(self, answers):
        self.heard.extend(answers)

    @property
    def standing(self):
        n = len([one for one in self.heard if one.kind])
        is_enough = self.enough is not None and n >= self.enough
        return Standing(n, 2, 1, 0.5, is_enough, "it is enough" if is_enough else "not yet")
