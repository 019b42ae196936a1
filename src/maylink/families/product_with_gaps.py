"""Mixed columns with gaps: cells that are missing (NaN) are left out, exactly.

Every part of the product is there (m = 1) or missing (m = 0) in each row; a part of one column is a
cell. A missing part says nothing, and columns of different parts are independent within a cluster,
so that all formulas stay affine when each part carries its indicator:

* Divergence: t = (m·t_b, m) for each part b and φ(t) = Σ_b w_b m φ_b(t_b), the perspective of φ_b.
  Its Bregman divergence is Σ_b w_b m D_b(x_b, m_b): a sum over what is there, and the mean of rows
  is the best centre. A part that no point of a cluster has is taken from all data.
* Likelihood: log p(x) = Σ_b w_b m log p_b(x_b), with T = (m T_b, m) and θ = (w_b θ_b, −w_b A_b).
  A part's prior is updated by the points that have the part.

The weights w_b are powers on the likelihoods of parts, as the data weight is one on that of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from maylink.arrays import Array, Matrix
from maylink.errors import DomainError
from maylink.families.base import Family, Statistics
from maylink.families.marginal_parts import MarginalPart
from maylink.families.product import PartScales, Product, in_proportion
from maylink.families.rows import first_cell, in_deviations, neighbour_rows_of
from maylink.kernels.codes import GAPS, Block


class PartValues(NamedTuple):
    """One part of the data."""

    family: Family
    weight: float
    X: NDArray[Any]
    """Its columns; rows without it hold a value of the domain."""
    there: NDArray[np.bool_]
    """Which rows have it."""


@dataclass(frozen=True)
class ProductWithGaps(Product):
    """Clusters of mixed columns in which cells may be missing.

    Parameters
    ----------
    parts : sequence of (family, columns)
        A family, or its name, and the columns of X that it models; a row has all of them or none.
        So columns that are missing one by one are parts of one column each
        (:func:`with_gaps` makes them).
    weights : sequence of float, optional
        What a unit of each part's divergence counts, and the power on its likelihood; 1 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from maylink.families import ProductWithGaps
    >>> family = ProductWithGaps([("poisson", [0]), ("bernoulli", [1])])
    >>> X = np.array([[2.0, 1.0], [2.0, np.nan], [np.nan, 1.0]])
    >>> family.divergence(X, family.points(X[:1])).ravel().round(9)
    array([0., 0., 0.])
    """

    name: ClassVar[str] = "product-with-gaps"
    by_name: ClassVar[bool] = False  # it needs its parts
    accepts_sparse: ClassVar[bool] = False
    in_chunks: ClassVar[bool] = False
    gaps: ClassVar[str | None] = "mixed"
    knows_gaps: ClassVar[bool] = True

    called: str = field(default="", kw_only=True, repr=False)
    """What the family is called where several products compete."""
    sound: tuple[Array, ...] | None = field(default=None, repr=False, compare=False)
    """A row of each part that is there, in the units of X."""
    middle: tuple[Array, ...] | None = field(default=None, repr=False, compare=False)
    """The mean of the rows of each part over all data."""
    ready: int = field(default=0, repr=False, compare=False)
    """Columns of the data, where statistics stand behind them, as :meth:`prepared` returns them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for family, columns in self._blocks():
            if family.gaps not in ("cells", "rows"):
                raise DomainError(f"parts: columns {columns}: {_no_gaps(family)}")

    @property
    def word(self) -> str:
        """What the family is called where families compete."""
        return self.called or self.name

    # ------------------------------------------------------------------ domain

    def check(self, X: Matrix) -> None:
        """Check that the parts share the columns out, and what is there of each part's columns."""
        self._check_columns(self.ready or X.shape[1])
        for number, (family, columns) in enumerate(self._blocks()):
            missing = np.isnan(X[:, columns])
            torn = missing & ~missing.all(axis=1, keepdims=True)
            if torn.any():
                row, column, _ = first_cell(X[:, columns], torn)
                raise DomainError(
                    f"X[{row}, {columns[column]}] is NaN, but other columns of {columns} are "
                    "there in this row; a row has all columns of a part or none"
                )
            part = self._part(number, X)
            if part.there.any():
                try:
                    family.check(part.X)
                except DomainError as error:
                    raise DomainError(f"in the part with columns {columns}: {error}") from None

    def check_centers(self, centers: Array) -> None:
        """Refuse centres with gaps, and check each part's columns."""
        if np.isnan(centers).any():
            raise DomainError("init: a centre has gaps; give every value")
        super().check_centers(centers)

    def adapt(self, X: Matrix) -> Self:
        """Adapt each part to the rows that have it."""
        self.check(X)
        parts, sound, middle = [], [], []
        for family, columns in self._blocks():
            rows = X[:, columns]
            rows = rows[~np.isnan(rows).any(axis=1)]
            if not len(rows):
                raise DomainError(f"column {columns[0]} of X is NaN in every row; leave it out")
            adapted = family.adapt(rows)
            points = adapted.points(rows)
            parts.append((adapted, columns))
            sound.append(np.asarray(rows[0], np.float64))
            middle.append(points.mean(axis=0, dtype=np.float64))
        widths = tuple(one.size + 1 for one in middle)
        return replace(self, parts=parts, widths=widths, sound=tuple(sound), middle=tuple(middle))

    def prepared(self, X: Matrix) -> tuple[Self, Matrix]:
        """Return the data with their statistics and log h(x) behind them."""
        if self.ready:
            return self, X
        both = np.column_stack([X, self.statistics(X), self.log_base(X)])
        return replace(self, ready=X.shape[1]), both

    def unprepared(self) -> Self:
        """Return the family for data as they came."""
        return replace(self, ready=0)

    def parts_in_memory(self) -> list[Family]:
        """Return this family: it takes what it needs from the rows that have each part."""
        return [self]

    def _part(self, number: int, X: NDArray[Any]) -> PartValues:
        """Return one part; gaps are filled with a row that is there, and nobody looks at them."""
        family, columns = self.parts[number]
        assert isinstance(family, Family)
        assert self.weights is not None
        rows = X[:, list(columns)]
        there = ~np.isnan(rows).any(axis=1)
        if not there.all():
            sound = np.ones(len(columns)) if self.sound is None else self.sound[number]
            if there.any():
                sound = rows[np.argmax(there)]
            rows = np.where(there[:, None], rows, sound.astype(rows.dtype))
        return PartValues(family, self.weights[number], rows, there)

    def _parts(self, X: NDArray[Any]) -> Iterator[PartValues]:
        return (self._part(number, X) for number in range(len(self.parts)))

    # ------------------------------------------------------------------ divergence

    def points(self, X: Matrix) -> Matrix:
        """Return m·t_b and m of all parts side by side."""
        return _with_indicators((part, part.family.points(part.X)) for part in self._parts(X))

    def neighbour_rows(self, X: Matrix, scales: Any = None) -> Matrix:
        """Return the rows of all parts side by side, of variance 1; gaps are at the mean."""
        if scales is None:
            scales = self.neighbour_scales(X)
        blocks = []
        for part, known in zip(self._parts(X), scales, strict=True):
            block = np.tile(known.middle, (len(X), 1)).astype(X.dtype)
            if part.there.any():
                there = part.X[part.there]
                block[part.there] = neighbour_rows_of(part.family, there, known.scales)
            blocks.append(in_proportion(block, known.variance))
        return np.hstack(blocks)

    def neighbour_scales(self, X: Matrix) -> Any:
        """Return what the rows of each part take from all that is there."""
        found = []
        for part in self._parts(X):
            share = float(part.there.mean())  # the rest is at the mean, and does not vary
            known = PartScales.of(part.family, part.X[part.there] if share else part.X)
            found.append(known._replace(variance=share * known.variance))
        return tuple(found)

    def potential(self, T: Matrix) -> Array:
        """Return Σ_b w_b m φ_b(t_b)."""
        parts = self._split_centers(T)
        return np.asarray(sum(w * m * family.potential(t) for family, w, m, t in parts))

    def gradient(self, centers: Array) -> Array:
        """Return w_b (∇φ_b, φ_b − ⟨t_b, ∇φ_b⟩) side by side."""
        blocks = []
        for family, weight, _, mean in self._split_centers(centers):
            slope = family.gradient(mean)
            rest = family.potential(mean) - np.einsum("ks,ks->k", mean, slope)
            blocks.append(weight * np.column_stack([slope, rest]))
        return np.hstack(blocks)

    def centroid(self, mean: Array) -> Array:
        """Return the mean of each part over the points that have it, with the indicator 1."""
        ones = np.ones(len(mean))
        parts = self._split_centers(mean)
        return np.hstack([np.column_stack([center, ones]) for _, _, _, center in parts])

    def units(self, centers: Array) -> Array:
        """Put each part's centres back into its columns."""
        parts = self._split_centers(centers)
        return self._into_columns([family.units(mean) for family, _, _, mean in parts])

    def coordinates(self, centers: Array) -> Array:
        """Map each part's columns; all are there."""
        ones = np.ones(len(centers))
        blocks = [family.coordinates(centers[:, c]) for family, c in self._blocks()]
        return np.hstack([np.column_stack([block, ones]) for block in blocks])

    def _split_centers(self, T: Matrix) -> Iterator[tuple[Family, float, Array, Array]]:
        """Yield family, weight, m and t_b of each part; t_b is that of all data where m is 0."""
        for number, (family, weight, block) in enumerate(self._split_points(T)):
            size, total = np.asarray(block[:, -1]), block[:, :-1]
            there = size > 0
            mean = total / np.where(there, size, 1.0).astype(T.dtype)[:, None]
            if not there.all():
                mean = np.where(there[:, None], mean, self._middle(number).astype(T.dtype))
            yield family, weight, size, mean

    def _middle(self, number: int) -> Array:
        if self.middle is not None:
            return self.middle[number]
        family, columns = self.parts[number]
        assert isinstance(family, Family)
        return np.asarray(family.points(np.ones((1, len(columns))))[0])

    def _point_widths(self) -> tuple[int, ...]:
        if self.widths is not None:
            return self.widths
        return tuple(self._middle(number).size + 1 for number in range(len(self.parts)))

    # ------------------------------------------------------------------ likelihood

    def statistics(self, X: Matrix) -> Matrix:
        """Return m T_b and m of all parts side by side."""
        if self.ready:
            return X[:, self.ready : -1]
        return _with_indicators((part, part.family.statistics(part.X)) for part in self._parts(X))

    def soft_statistics(self, X: Matrix, responsibilities: Array) -> Statistics:
        """Sum the statistics of each cluster, each point by its responsibility."""
        return Family.soft_statistics(self, X, responsibilities)

    def _statistics_widths(self) -> tuple[int, ...]:
        return tuple(family.n_statistics(len(columns)) + 1 for family, columns in self._blocks())

    def log_base(self, X: Matrix) -> Array:
        """Return Σ_b w_b m log h_b."""
        if self.ready:
            return np.asarray(X[:, -1])
        parts = self._parts(X)
        logs = (part.weight * part.there * part.family.log_base(part.X) for part in parts)
        return np.asarray(sum(logs))

    def log_partition(self, theta: Array) -> Array:
        """Return 0: θ holds −A_b beside θ_b."""
        return np.zeros(len(theta))

    def mean(self, theta: Array) -> Array:
        """Return the means of all parts with nothing missing."""
        ones, parts = np.ones(len(theta)), self._split_parameters(theta)
        return np.hstack([np.column_stack([family.mean(t), ones]) for family, t in parts])

    def sample(self, theta: Array, size: int, rng: np.random.Generator) -> Array:
        """Draw each part by itself; nothing is missing."""
        parts = self._split_parameters(theta[None])
        return self._into_columns([family.sample(t[0], size, rng) for family, t in parts])

    def _split_parameters(self, theta: Array) -> Iterator[tuple[Family, Array]]:
        assert self.weights is not None
        for weight, (family, block) in zip(self.weights, self._split_theta(theta), strict=True):
            yield family, block[:, :-1] / weight

    def locations(self, statistics: Statistics) -> Array:
        """Return where the parts of clusters lie; a part that none has lies in the middle."""
        blocks = []
        for family, one in self._split_statistics(statistics):
            there = one.size > 0
            average = one.total.sum(axis=0) / max(float(one.size.sum()), 1.0)
            total = np.where(there[:, None], one.total, average)
            size = np.where(there, one.size, 1.0)
            blocks.append(family.locations(Statistics(size, total, one.log_base)))
        return in_deviations(np.hstack(blocks))

    # ------------------------------------------------------------------ conjugate prior

    def coarser(self) -> Product:
        """Make each part coarser."""
        parts = [(family.coarser(), columns) for family, columns in self._blocks()]
        return ProductWithGaps(parts, self.weights, called=self.called, ready=self.ready)

    def default_prior(self, X: Matrix) -> tuple[Any, ...]:
        """Return each part's default, by the rows that have it."""
        return tuple(
            part.family.default_prior(part.X[part.there] if part.there.any() else part.X[:1])
            for part in self._parts(X)
        )

    def posterior(self, prior: tuple[Any, ...], statistics: Statistics) -> tuple[Any, ...]:
        """Update each part by the points that have it."""
        parts = zip(prior, self._split_statistics(statistics), strict=True)
        return tuple(family.posterior(one_prior, one) for one_prior, (family, one) in parts)

    def _split_statistics(self, statistics: Statistics) -> Iterator[tuple[Family, Statistics]]:
        for family, block in self._split_theta(statistics.total):
            size = np.maximum(block[:, -1], 0.0)
            yield family, Statistics(size, block[:, :-1], np.zeros(len(size)))

    def log_normalizer(self, prior: tuple[Any, ...]) -> Array:
        """Return Σ_b w_b log Z_b."""
        logs = (weight * family.log_normalizer(one) for family, weight, one in self._priors(prior))
        return np.asarray(sum(logs))

    def sample_parameters(self, prior: tuple[Any, ...], rng: np.random.Generator) -> Array:
        """Draw each part's parameter."""
        blocks = []
        for family, weight, one in self._priors(prior):
            theta = family.sample_parameters(one, rng)
            blocks.append(weight * np.append(theta, -family.log_partition(theta[None])))
        return np.concatenate(blocks)

    def expected_parameters(self, prior: tuple[Any, ...]) -> tuple[Array, Array]:
        """Return w_b (E θ_b, −E A_b) of all parts side by side, and 0."""
        blocks = []
        for family, weight, one in self._priors(prior):
            theta, partition = family.expected_parameters(one)
            blocks.append(weight * np.column_stack([theta, -partition]))
        return np.hstack(blocks), np.zeros(len(blocks[0]))

    def expected_log_likelihood(self, X: Matrix, prior: tuple[Any, ...]) -> Array:
        """Return the expectation of Σ_b w_b m log p_b."""
        return Family.expected_log_likelihood(self, X, prior)

    def _priors(self, prior: tuple[Any, ...]) -> Iterator[tuple[Family, float, Any]]:
        assert self.weights is not None
        for (family, _), weight, one in zip(self._blocks(), self.weights, prior, strict=True):
            yield family, weight, one

    def marginal_parts(self, statistics: Statistics, prior: tuple[Any, ...]) -> list[MarginalPart]:
        """Return the parts, each with its weight and the points that have it."""
        both = zip(self._priors(prior), self._split_statistics(statistics), strict=True)
        return [
            MarginalPart(family, weight, one, one_prior)
            for (family, weight, one_prior), (_, one) in both
        ]

    def likelihood_rows(self, X: Matrix) -> Matrix:
        """Return the rows of all parts, each with its indicator, side by side."""
        parts = self._parts(X)
        return _with_indicators((part, part.family.likelihood_rows(part.X)) for part in parts)

    def blocks(self, prior: tuple[Any, ...]) -> list[Block]:
        """Return the blocks of all parts, each with a column for its indicator."""
        out = []
        for family, weight, one in self._priors(prior):
            (block,) = family.blocks(one)
            columns = np.column_stack([block.columns, np.zeros(2)])
            code = int(block.code) + GAPS
            out.append(block._replace(code=code, columns=columns, weight=weight))
        return out


def with_gaps(family: Family, n_features: int) -> Family:
    """Return a family for data in which cells are missing (NaN); these are left out.

    Parameters
    ----------
    family : Family
        One whose columns are independent, or a product of such.
    n_features : int
        Columns of the data.

    Raises
    ------
    DomainError
        If the columns of a cluster are not independent, so that rows must be whole.

    Examples
    --------
    >>> from maylink.families import Poisson
    >>> from maylink.families.product_with_gaps import with_gaps
    >>> with_gaps(Poisson(), 2).parts
    ((Poisson(smoothing=0.3), (0,)), (Poisson(smoothing=0.3), (1,)))
    """
    if family.knows_gaps:
        return family
    if not isinstance(family, Product):
        if family.gaps != "cells":
            raise DomainError(_no_gaps(family))
        every = range(n_features)
        return ProductWithGaps(_one_by_one(family, list(every)), called=family.name)
    parts, weights = list[tuple[Family | str, list[int]]](), list[float]()
    for (one, columns), weight in zip(family._blocks(), family.weights or (), strict=True):
        split = _one_by_one(one, columns) if one.gaps == "cells" else [(one, columns)]
        parts += split
        weights += [weight] * len(split)
    return ProductWithGaps(parts, weights, called=family.name)


def _one_by_one(family: Family, columns: list[int]) -> list[tuple[Family | str, list[int]]]:
    """Return a part for each column."""
    return [(family.one_of(len(columns)), [column]) for column in columns]


def _no_gaps(family: Family) -> str:
    return (
        f"the {family.name!r} family knows no gaps; use one whose columns are independent, as "
        "'diagonal-gaussian', or drop the row or fill the cell first"
    )


def _with_indicators(blocks: Iterator[tuple[PartValues, NDArray[Any]]]) -> NDArray[Any]:
    """Return the rows of parts side by side, 0 where a part is missing, each with its indicator."""
    out = []
    for part, rows in blocks:
        there = part.there[:, None]
        out += [np.where(there, rows, np.zeros(1, rows.dtype)), there.astype(rows.dtype)]
    return np.hstack(out)
