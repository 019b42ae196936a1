"""Products of families that may describe a table, by the kinds of its columns.

Every column has the family of its kind, and is a part by itself, so that missing cells are left
out. In the plain model every column counts as it does alone. But columns of one kind may say the
same many times over, and then drown the others: a dozen answers to one question against five
numbers. So how much a kind counts is open to choice: its columns count as n^(1 − ρ) columns in
place of n, for ρ = 0, ½ and 1; with ρ = 1 all kinds count alike, and so do texts, whose directions
are columns of one part. Held-out links choose. Without
links ρ is 0, the plain model: the data cannot tell which kind matters to the user.
"""

from __future__ import annotations

from collections.abc import Sequence

from maylink.families import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    Family,
    Poisson,
    ProductWithGaps,
)
from maylink.tables.coding import ColumnBlock

POWERS = {"product": 0.0, "product-between": 0.5, "product-of-kinds": 1.0}
"""ρ, by what the product is called."""

FAMILIES: dict[str, Family] = {
    "number": DiagonalGaussian(rounded=True),
    "date": DiagonalGaussian(rounded=True),
    "count": Poisson(),
    "yes-no": Bernoulli(),
    "category": Categorical(),
    "text": DiagonalGaussian(),  # directions of texts, as a view makes them
}


def products(blocks: Sequence[ColumnBlock]) -> list[Family]:
    """Return the products that may be chosen, the plain model first.

    Parameters
    ----------
    blocks : sequence of ColumnBlock
        What the columns are.

    Examples
    --------
    >>> from maylink.tables.coding import ColumnBlock
    >>> from maylink.tuning.products import products
    >>> columns = [ColumnBlock("number", (0,)), ColumnBlock("yes-no", (1,))]
    >>> [family.word for family in products(columns)]
    ['product']
    >>> [family.weights for family in products([*columns, ColumnBlock("yes-no", (2,))])][::2]
    [(1.0, 1.0, 1.0), (1.0, 0.5, 0.5)]
    """
    names = ["number" if block.kind == "date" else block.kind for block in blocks]
    sizes = [
        float(len(block.columns) if block.kind == "text" else names.count(name))
        for block, name in zip(blocks, names, strict=True)
    ]
    parts = [(FAMILIES[block.kind].one_of(len(blocks)), list(block.columns)) for block in blocks]
    return [
        ProductWithGaps(parts, [size**-power for size in sizes], called=word)
        for word, power in POWERS.items()
        if power == 0.0 or len(set(sizes)) > 1
    ]
