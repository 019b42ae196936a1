import numpy as np
from scipy import sparse

from maylink.label.scatter import HEIGHT, WIDTH, Scatter

X = np.random.default_rng(0).normal(size=(300, 5))


def test_places_are_inside_the_picture_and_up_is_up():
    scatter = Scatter.of(X)
    assert (scatter.x.min() >= 0) & (scatter.x.max() <= WIDTH)
    assert (scatter.y.min() >= 0) & (scatter.y.max() <= HEIGHT)
    flat = Scatter.of(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 5.0]]))
    assert flat.y[2] < flat.y[0]  # counted from the top
    assert flat.place(0) == [int(flat.x[0]), int(flat.y[0])]


def test_of_many_rows_some_are_drawn_the_same_each_time():
    scatter = Scatter.of(X, most=50)
    assert scatter.shown.size == 50
    assert (np.diff(scatter.shown) > 0).all()
    assert np.array_equal(scatter.shown, Scatter.of(X, most=50).shown)
    assert scatter.x.size == 300


def test_any_data_have_a_picture():
    assert Scatter.of(sparse.random(40, 30, 0.2, format="csr", random_state=0)).x.size == 40
    gaps = X[:40].copy()
    gaps[3, 2] = np.nan
    assert Scatter.of(gaps).x.size == 40
    assert Scatter.of(np.ones((5, 1))).x.size == 5
