"""A round of variational inference against an iteration of BayesianGaussianMixture."""

from gibbs import data, mixture_iteration
from maylink.problem import Problem
from maylink.runtime.threads import thread_count
from maylink.solvers.variational import VariationalSettings, VariationalSolver
from timing import markdown, seconds, verdict

SIZES = [(100_000, 16, 20), (100_000, 8, 20), (50_000, 64, 20)]
LIMIT = 0.5


def round_of(problem, y, k):
    solver = VariationalSolver(problem, problem.prior, VariationalSettings(truncation=k))
    state = solver.step(solver.init(y))
    return min(seconds(lambda: solver.step(state)) for _ in range(3))


def table():
    rows = []
    for n, d, k in SIZES:
        X, y = data(n, d, k, 2.0)
        problem = Problem.build(X, None, "full-gaussian")
        theirs, ours = [], []
        for _ in range(3):
            theirs.append(mixture_iteration(X, k, length=5))
            ours.append(round_of(problem, y, k))
        ratio = verdict(min(ours) / min(theirs), LIMIT if (n, d, k) == SIZES[0] else 1.0)
        rows.append((f"{n:,}", d, k, f"{1000 * min(theirs):.0f}", f"{1000 * min(ours):.0f}", ratio))
    columns = (
        "n", "d", "clusters", "mixture iteration, ms", "our round, ms",
        "ratio (0.5 asked at d = 16)",
    )  # fmt: skip
    return markdown(
        f"Variational inference, full Gaussian, no links, {thread_count(None)} threads",
        columns,
        rows,
    )
