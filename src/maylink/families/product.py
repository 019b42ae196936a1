"""Mixed columns: independent families side by side.

Divergence: D(x, m) = Σ_b w_b D_b(x_b, m_b) over blocks of columns b, each with its own family.

Likelihood: p(x) = Π_b p_b(x_b). Prior: the priors of the blocks, as a tuple.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.columns import Columns, column_means, column_variances, scale_columns
from maylink.families.marginal_parts import MarginalPart
from maylink.families.registry import as_family
from maylink.families.rows import neighbour_rows_of
from maylink.kernels.codes import Block


@dataclass(frozen=True)
class Product(Family):
    """Clusters of mixed columns.

    Parameters
    ----------
    parts : sequence of (family, columns)
        A family, or its name, and the columns of X that it models. Each column stands in exactly
        one part.
    weights : sequence of float, optional
        What a unit of each part's divergence counts; 1 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import Product
    >>> family = Product([("gaussian", [0, 2]), ("bernoulli", [1])])
    >>> X = np.array([[0.0, 1.0, 3.0], [4.0, 1.0, 0.0]])
    >>> family.divergence(X, family.points(X))
    array([[ 0., 25.],
           [25.,  0.]])
    """

    name: ClassVar[str] = "product"
    gaps: ClassVar[str | None] = "mixed"
    by_name: ClassVar[bool] = False  # it needs its parts
    kind: ClassVar[str] = "mixed"
    needs: ClassVar[str] = "what each of its parts needs"
    in_chunks: ClassVar[bool] = True  # where all its parts can

    parts: Sequence[tuple[Family | str, Sequence[int]]] = ()
    weights: Sequence[float] | None = None
    widths: tuple[int, ...] | None = field(default=None, repr=False, compare=False)
    """How many coordinates each part makes of its columns."""

    def __post_init__(self) -> None:
        for part in self.parts:
            if len(part) != 2 or np.ndim(part[1]) != 1 or len(part[1]) == 0:
                raise DomainError(f"parts: {part!r} is not (family, list of column numbers)")
        parts = tuple((as_family(family), tuple(columns)) for family, columns in self.parts)
        object.__setattr__(self, "parts", parts)
        weights = (1.0,) * len(parts) if self.weights is None else tuple(self.weights)
        if len(weights) != len(parts) or not all(w > 0 for w in weights):
            raise DomainError(f"weights: give one positive weight for each of {len(parts)} parts")
        object.__setattr__(self, "weights", weights)

    def _blocks(self) -> Iterator[tuple[Family, list[int]]]:
        for family, columns in self.parts:
            assert isinstance(family, Family)
            yield family, list(columns)

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Check that the parts share the columns out, and each part's columns."""
        self._check_columns(X.shape[1])
        for family, columns in self._blocks():
            try:
                family.check(X[:, columns])
            except DomainError as error:
                raise DomainError(f"in the part with columns {columns}: {error}") from None

    def _check_columns(self, n_features: int) -> None:
        named = sorted(column for _, columns in self._blocks() for column in columns)
        if named != list(range(n_features)):
            raise DomainError(
                f"X has {n_features} features, but the parts name the columns {named}; "
                "name each column 0, 1, … in exactly one part"
            )

    def check_centers(self, centers: Array) -> None:
        """Check each part's columns."""
        for family, columns in self._blocks():
            family.check_centers(centers[:, columns])

    def adapt(self, X: Matrix) -> Self:
        """Adapt each part to its columns."""
        self.check(X)
        parts = [(family.adapt(X[:, columns]), columns) for family, columns in self._blocks()]
        widths = tuple(family.points(X[:1, columns]).shape[1] for family, columns in parts)
        return replace(self, parts=parts, widths=widths)

    def column_needs(self) -> frozenset[str]:
        """Return what any part needs."""
        return frozenset(need for family, _ in self._blocks() for need in family.column_needs())

    def adapt_columns(self, columns: Columns) -> Self:
        """Adapt each part to its columns."""
        parts = [
            (family.adapt_columns(columns.only(numbers)), numbers)
            for family, numbers in self._blocks()
        ]
        row = columns.first[None].astype(columns.dtype)
        widths = tuple(family.points(row[:, numbers]).shape[1] for family, numbers in parts)
        return replace(self, parts=parts, widths=widths)

    def parts_in_memory(self) -> list[Family]:
        """Return those parts."""
        return [part for family, _ in self._blocks() for part in family.parts_in_memory()]

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return the coordinates of all parts side by side."""
        return _side_by_side([family.points(X[:, c]) for family, c in self._blocks()])

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return the rows of all parts side by side, each of variance 1: parts count alike."""
        if scales is None:
            scales = self.neighbour_scales(X)
        blocks = []
        for (family, columns), part in zip(self._blocks(), scales, strict=True):
            rows = neighbour_rows_of(family, X[:, columns], part.scales)
            blocks.append(in_proportion(rows, part.variance))
        return _side_by_side(blocks)

    def neighbour_scales(self, X: Matrix) -> Any:
        """Return what the rows of each part take from all data."""
        return tuple(PartScales.of(family, X[:, columns]) for family, columns in self._blocks())

    def dithered(self, X: Matrix, rng: np.random.Generator) -> Matrix:
        """Return the data with rounded values of all parts moved."""
        if sparse.issparse(X):
            return X
        moved = X.copy()
        for family, columns in self._blocks():
            moved[:, columns] = family.dithered(X[:, columns], rng)
        return moved

    def potential(self, T: Matrix) -> Array:
        """Return Σ_b w_b φ_b(t_b)."""
        return np.asarray(sum(w * f.potential(t) for f, w, t in self._split_points(T)))

    def gradient(self, centers: Array) -> Array:
        """Return w_b ∇φ_b side by side."""
        return np.hstack([w * f.gradient(m) for f, w, m in self._split_points(centers)])

    def centroid(self, mean: Array) -> Array:
        """Bend each part's mean."""
        return np.hstack([f.centroid(m) for f, _, m in self._split_points(mean)])

    def units(self, centers: Array) -> Array:
        """Put each part's centres back into its columns."""
        return self._into_columns([f.units(m) for f, _, m in self._split_points(centers)])

    def coordinates(self, centers: Array) -> Array:
        """Map each part's columns."""
        return np.hstack([family.coordinates(centers[:, c]) for family, c in self._blocks()])

    def _split_points(self, T: Matrix) -> Iterator[tuple[Family, float, Matrix]]:
        assert self.weights is not None
        for (family, _), weight, block in zip(
            self._blocks(), self.weights, _cut(T, self._point_widths()), strict=True
        ):
            yield family, weight, block

    def _point_widths(self) -> tuple[int, ...]:
        return self.widths or tuple(len(columns) for _, columns in self._blocks())

    def _into_columns(self, blocks: list[Array]) -> Array:
        order = np.argsort([column for _, columns in self._blocks() for column in columns])
        return np.hstack(blocks)[:, order]

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return the statistics of all parts side by side."""
        return _side_by_side([family.statistics(X[:, c]) for family, c in self._blocks()])

    def soft_statistics(self, X: Matrix, responsibilities: Array) -> Statistics:
        """Return the statistics of all parts side by side."""
        parts = [family.soft_statistics(X[:, c], responsibilities) for family, c in self._blocks()]
        return Statistics(
            size=parts[0].size,
            total=np.hstack([part.total for part in parts]),
            log_base=np.sum([part.log_base for part in parts], axis=0),
        )

    def n_statistics(self, n_features: int) -> int:
        """Return the sum over the parts."""
        return sum(self._statistics_widths())

    def _statistics_widths(self) -> tuple[int, ...]:
        return tuple(family.n_statistics(len(columns)) for family, columns in self._blocks())

    def log_base(self, X: Matrix) -> Array:
        """Return Σ_b log h_b."""
        return np.asarray(sum(family.log_base(X[:, c]) for family, c in self._blocks()))

    def log_partition(self, theta: Array) -> Array:
        """Return Σ_b A_b."""
        return np.asarray(sum(f.log_partition(t) for f, t in self._split_theta(theta)))

    def mean(self, theta: Array) -> Array:
        """Return the means of all parts side by side."""
        return np.hstack([f.mean(t) for f, t in self._split_theta(theta)])

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw each part by itself."""
        return self._into_columns(
            [f.sample(t[0], size, rng) for f, t in self._split_theta(theta[None])]
        )

    def _split_theta(self, theta: Array) -> Iterator[tuple[Family, Array]]:
        families = (family for family, _ in self._blocks())
        return zip(families, _cut(theta, self._statistics_widths()), strict=True)

    # ------------------------------------------------------------------ conjugate prior

    def coarser(self) -> Product:
        """Make each part coarser."""
        return Product([(family.coarser(), columns) for family, columns in self._blocks()])

    def default_prior(self, X: Matrix) -> tuple[Any, ...]:
        """Return each part's default."""
        return tuple(family.default_prior(X[:, c]) for family, c in self._blocks())

    def prior_of_columns(self, columns: Columns, rows: NDArray[Any]) -> tuple[Any, ...]:
        """Return each part's default."""
        return tuple(
            family.prior_of_columns(columns.only(numbers), rows[:, numbers])
            for family, numbers in self._blocks()
        )

    def unit_prior(self, n_features: int) -> tuple[Any, ...]:
        """Return each part's unit prior."""
        return tuple(family.unit_prior(len(columns)) for family, columns in self._blocks())

    def posterior(self, prior: tuple[Any, ...], statistics: Statistics) -> tuple[Any, ...]:
        """Update each part by its statistics."""
        return tuple(
            family.posterior(one_prior, statistics._replace(total=total))
            for one_prior, (family, total) in zip(
                prior, self._split_theta(statistics.total), strict=True
            )
        )

    def log_normalizer(self, prior: tuple[Any, ...]) -> Array:
        """Return Σ_b log Z_b."""
        pairs = zip(self._blocks(), prior, strict=True)
        return np.asarray(sum(family.log_normalizer(one_prior) for (family, _), one_prior in pairs))

    def sample_parameters(self, prior: tuple[Any, ...], rng: np.random.Generator) -> Array:
        """Draw each part's parameter."""
        pairs = zip(self._blocks(), prior, strict=True)
        return np.concatenate(
            [family.sample_parameters(one_prior, rng) for (family, _), one_prior in pairs]
        )

    def expected_parameters(self, prior: tuple[Any, ...]) -> tuple[Array, Array]:
        """Return the expectations of all parts side by side, and Σ_b E A_b."""
        pairs = zip(self._blocks(), prior, strict=True)
        parts = [family.expected_parameters(one_prior) for (family, _), one_prior in pairs]
        return np.hstack([theta for theta, _ in parts]), np.sum([a for _, a in parts], axis=0)

    def expected_log_likelihood(self, X: Matrix, prior: tuple[Any, ...]) -> Array:
        """Return the sum over the parts."""
        pairs = zip(self._blocks(), prior, strict=True)
        return np.asarray(
            sum(
                family.expected_log_likelihood(X[:, c], one_prior)
                for (family, c), one_prior in pairs
            )
        )

    def scales(self, prior: tuple[Any, ...]) -> int:
        """Return the sum over the parts."""
        pairs = zip(self._blocks(), prior, strict=True)
        return sum(family.scales(one_prior) for (family, _), one_prior in pairs)

    def rescale(self, prior: tuple[Any, ...], factors: Array) -> tuple[Any, ...]:
        """Rescale each part by its factors."""
        out = []
        for (family, _), one_prior in zip(self._blocks(), prior, strict=True):
            size = family.scales(one_prior)
            out.append(family.rescale(one_prior, factors[:size]))
            factors = factors[size:]
        return tuple(out)

    def marginal_parts(self, statistics: Statistics, prior: tuple[Any, ...]) -> list[MarginalPart]:
        """Return the parts of all parts."""
        pairs = zip(prior, self._split_theta(statistics.total), strict=True)
        return [
            part
            for one_prior, (family, total) in pairs
            for part in family.marginal_parts(statistics._replace(total=total), one_prior)
        ]

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the rows of all parts side by side."""
        return _side_by_side([family.likelihood_rows(X[:, c]) for family, c in self._blocks()])

    def blocks(self, prior: tuple[Any, ...]) -> list[Block]:
        """Return the blocks of all parts."""
        pairs = zip(self._blocks(), prior, strict=True)
        return [block for (family, _), one_prior in pairs for block in family.blocks(one_prior)]


def _cut(rows: Matrix, widths: Sequence[int]) -> list[Matrix]:
    """Cut a matrix into blocks of columns of the given widths."""
    ends = np.cumsum(widths)
    return [rows[:, end - width : end] for end, width in zip(ends, widths, strict=True)]


class PartScales(NamedTuple):
    """What the rows of a part take from all data: its scales, the mean row, and the variance."""

    scales: Any
    middle: Array
    variance: float

    @classmethod
    def of(cls, family: Family, X: Matrix) -> PartScales:
        """Look at all data of a part."""
        scales = family.neighbour_scales(X)
        rows = neighbour_rows_of(family, X, scales)
        return cls(scales, column_means(rows), float(column_variances(rows).sum()))


def in_proportion(rows: Matrix, variance: float) -> Matrix:
    """Divide rows by one number so that the variances of their columns, in sum, become 1."""
    return scale_columns(rows, np.full(rows.shape[1], variance**-0.5 if variance > 0 else 1.0))


def _side_by_side(blocks: list[Matrix]) -> Matrix:
    if all(sparse.issparse(block) for block in blocks):
        return sparse.hstack(blocks).tocsr()
    return np.hstack([b.toarray() if sparse.issparse(b) else b for b in blocks])
