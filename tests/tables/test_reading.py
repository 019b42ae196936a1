"""Tables from files and data frames, and fits of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import maylink as ml
from maylink.baselines import PlainKMeans, SupervisedClustering
from maylink.data_forms import coded_as
from maylink.errors import DomainError, FileError
from zoo import true_links


def mixed(n=120, seed=0):
    """Three clusters in a number, a category, a yes or no and a date; a cell in eight is empty."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(400 * y + rng.integers(0, 300, n), unit="D")
    frame = pd.DataFrame(
        {
            "customer": [f"C{v:04d}" for v in rng.permutation(9999)[:n]],
            "phone": rng.integers(10**8, 10**9, n),
            "size": (3.0 * y + rng.normal(size=n)).round(2),
            "colour": np.where(rng.random(n) < 0.8, np.array(["red", "green", "blue"])[y], "grey"),
            "smokes": np.where(rng.random(n) < 0.2 + 0.3 * y, "yes", "no"),
            "joined": day.strftime("%d.%m.%Y"),
        }
    )
    gaps = rng.random(frame.shape) < 1 / 8
    gaps[:, :2] = False
    return frame.mask(gaps), y


def test_a_file_and_a_frame_are_the_same_table(tmp_path):
    frame, _ = mixed()
    frame.to_csv(tmp_path / "table.csv", index=False)
    table, same = ml.read_table(tmp_path / "table.csv"), ml.read_table(frame)
    assert table.kinds == same.kinds
    assert list(table.kinds.values()) == [
        "identifier", "identifier", "number", "category", "yes-no", "date",
    ]  # fmt: skip
    assert table.columns == same.columns
    np.testing.assert_array_equal(table.X, same.X)
    assert table.about()[0].startswith("identifier, set aside: customer, phone (")
    assert np.isnan(table.X).any()


@pytest.mark.parametrize("method", [ml.TVClust, ml.RDPMeans])
def test_fits_take_tables_and_frames_with_words(method, tmp_path):
    frame, y = mixed()
    links = true_links(y, 300, 0)
    quick = ml.Tuning(data_weights=(1.0,), n_folds_of_few=2, n_starts_of_small=1)
    with pytest.warns(UserWarning, match=r"set aside: customer \(identifier\), phone \(ident"):
        model = method(random_state=0, tuning=quick).fit(frame, links=links)
    assert adjusted_rand_score(y, model.labels_) > 0.8
    if method is ml.RDPMeans:  # the other is slow
        again = method(random_state=0, tuning=quick).fit(ml.read_table(frame), links=links)
        np.testing.assert_array_equal(again.labels_, model.labels_)
    assert model.feature_names_in_.tolist() == list(ml.read_table(frame).columns)
    ml.save(model, tmp_path / "model.npz")
    loaded = ml.load(tmp_path / "model.npz")
    new = frame.iloc[:20].drop(columns=["customer", "phone"])
    np.testing.assert_array_equal(loaded.predict(new), model.predict(frame.iloc[:20]))
    table = ml.read_table(new, code=loaded.table_code_)
    np.testing.assert_array_equal(loaded.predict(table), loaded.predict(new))


def numbers_and_a_name(seed=0):
    """Three clusters in the numbers of a table whose first column names the rows."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    frame = pd.DataFrame(rng.normal(size=(60, 3)) + 6.0 * np.eye(3)[y], columns=list("abc"))
    frame.insert(0, "id", [f"r{row}" for row in range(60)])
    return frame, y


@pytest.mark.filterwarnings("ignore:X. columns set aside")
@pytest.mark.parametrize(
    "method",
    [
        ml.RDPMeans(random_state=0),
        ml.TVClust("gaussian", random_state=0),
        PlainKMeans(n_clusters=3, random_state=0),
    ],
    ids=lambda method: type(method).__name__,
)
def test_new_columns_are_set_aside_and_ordered_by_name_as_in_the_fit(method):
    frame, y = numbers_and_a_name()
    model = clone(method).fit(frame)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    for new in (
        frame,
        frame[["c", "b", "a"]],
        frame.assign(more=1.0)[["more", "b", "id", "c", "a"]],
    ):
        np.testing.assert_array_equal(model.predict(new), model.labels_)
    with pytest.raises(FileError, match="the model asks for 'b'"):
        model.predict(frame.drop(columns="b"))


@pytest.mark.filterwarnings("ignore:X. columns set aside")
def test_later_batches_are_coded_as_the_first():
    frame, y = numbers_and_a_name()
    model = ml.RDPMeans(random_state=0).partial_fit(frame[:30])
    for rows in (slice(30, 45), slice(45, 60)):
        model.partial_fit(frame[rows][["c", "id", "b", "a"]])
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_items_are_clustered_by_a_similarity_of_columns_with_words():
    frame, y = numbers_and_a_name()
    with pytest.warns(UserWarning, match=r"columns set aside: id \(identifier\)"):
        model = SupervisedClustering(random_state=0).fit(frame, labels=y)
    np.testing.assert_array_equal(model.similarity(frame[["c", "b", "a"]]), model.similarity(frame))


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y%m%d"])
def test_new_dates_are_days_whether_words_or_digits(form):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    days = pd.to_timedelta(900 * y + rng.integers(0, 300, 60), unit="D")
    joined = (pd.Timestamp("2019-01-01") + days).strftime(form)
    name = [f"r{row}" for row in range(60)]
    frame = pd.DataFrame({"id": name, "size": rng.normal(size=60), "joined": joined})
    frame["joined"] = pd.to_numeric(frame["joined"]) if form == "%Y%m%d" else frame["joined"]
    table = ml.read_table(frame)
    coded = coded_as(frame[["joined", "size"]], table.code)
    np.testing.assert_array_equal(coded.to_numpy(), table.X)
    if form == "%Y-%m-%d":  # days, of a table that was coded by hand, stay days
        np.testing.assert_array_equal(coded_as(coded, table.code).to_numpy(), table.X)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y"])
def test_new_dates_may_be_written_with_the_year_first_and_otherwise_as_in_the_fit(form):
    day = pd.Series(pd.date_range("2020-01-01", periods=40, freq="11D"))
    sizes = np.random.default_rng(0).normal(size=40)
    table = ml.read_table(pd.DataFrame({"size": sizes, "joined": day.dt.strftime(form)}))
    digits = day.dt.strftime("%Y%m%d")
    for joined in (day, day.dt.strftime("%Y/%m/%d"), digits, digits.astype(int)):
        again = ml.read_table(pd.DataFrame({"size": sizes, "joined": joined}), code=table.code)
        np.testing.assert_array_equal(again.X, table.X)
    both = day.dt.strftime("%Y/%m/%d").where(np.arange(40) % 2 == 0, day.dt.strftime(form))
    again = ml.read_table(pd.DataFrame({"size": sizes, "joined": both}), code=table.code)
    np.testing.assert_array_equal(again.X, table.X)
    other = pd.DataFrame({"size": sizes, "joined": day.dt.strftime("%d/%m/%Y")})
    with pytest.raises(FileError, match=r"column 'joined', row 0: '01/01/2020' is not a date as"):
        ml.read_table(other, code=table.code)
    empty = ml.read_table(other.assign(joined=None), code=table.code)
    assert np.isnan(empty.X[:, 1]).all()


def test_a_frame_of_coded_columns_is_ordered_by_name():
    table = ml.read_table(mixed()[0])
    coded = pd.DataFrame(table.X, columns=table.columns)
    again = coded_as(coded[coded.columns[::-1]], table.code)
    np.testing.assert_array_equal(again.to_numpy(), table.X)


def test_a_column_with_words_among_numbers_is_one_of_words(tmp_path):
    path = tmp_path / "streets.csv"
    cells = ["12", "12a", "7", "", "12", "7"] * 6
    path.write_text("house,size\n" + "".join(f"{c},{i % 7}.5\n" for i, c in enumerate(cells)))
    table = ml.read_table(path)
    assert table.kinds == {"house": "category", "size": "number"}
    assert table.columns[:3] == ("house=12", "house=12a", "house=7")


def test_all_of_one_kind_is_plain_data():
    frame = pd.DataFrame({"a": [0.1, 2.3, 1.9], "b": ["2021-01-01", "2021-03-01", "2022-01-01"]})
    assert not ml.read_table(frame).code.is_mixed


def test_nothing_left_to_cluster_is_told():
    frame = pd.DataFrame({"who": ["Ada", "Bob", "Cyd"]})
    told = r"no column is left to make clusters of: who \(text\); .*ml.text_features\(X\['who'\]\)"
    with pytest.raises(DomainError, match=told):
        ml.read_table(frame)
    assert ml.text_features(frame["who"]).shape[0] == 3
    with pytest.raises(FileError, match="id: is for files"):
        ml.read_table(pd.DataFrame({"who": [1.0, 2.0]}), id="who")
    with pytest.raises(FileError, match="the data frame is empty"):
        ml.read_table(pd.DataFrame({"who": []}))


def test_free_text_is_listed_for_others():
    words = [f"a note that says number {i} and more" for i in range(40)]
    frame = pd.DataFrame({"size": np.arange(40) / 7, "note": words})
    table = ml.read_table(frame)
    assert table.text_columns == ("note",)
    assert table.text["note"].tolist() == words


def as_people_write(n=120, seed=0):
    """A table of prices, ages, rates and colours as they are typed, and the plain numbers."""
    rng = np.random.default_rng(seed)
    price, rate = rng.normal(3000, 800, n).round(2), rng.normal(20, 4, n).round(1)
    age = np.rint(rng.normal(45, 12, n)).clip(18, 90)
    colour = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "price": [f"${value:,.2f}" for value in price],
            "euro": [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in price],
            "rate": [f"{value}%" for value in rate],
            "age": [f"{value:.0f}" for value in age],
            "colour": [
                [f" {word}", word.upper(), word][row % 3]
                for row, word in enumerate(np.array(["red", "green", "blue"])[colour])
            ],
        }
    )
    frame.loc[[3, 8], "age"] = ["unknown", "n/a"]
    return frame, price, rate, colour


def test_numbers_and_categories_are_read_as_people_write_them(tmp_path):
    frame, price, rate, colour = as_people_write()
    frame.to_csv(tmp_path / "table.csv", index=False)
    table, same = ml.read_table(tmp_path / "table.csv"), ml.read_table(frame)
    for one in (table, same):
        assert one.kinds == {
            "price": "number", "euro": "number", "rate": "number", "age": "number",
            "colour": "category",
        }  # fmt: skip
        np.testing.assert_array_equal(one.X[:, 0], price)
        np.testing.assert_array_equal(one.X[:, 1], price)
        np.testing.assert_array_equal(one.X[:, 2], rate)
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(one.X[:, 3])), [3, 8])
        assert one.X.shape[1] == 7
        assert set(zip(one.X[:, 4:].argmax(axis=1).tolist(), colour.tolist(), strict=True)) == {
            (0, 2), (1, 1), (2, 0),
        }  # fmt: skip
        told = "\n".join(one.about())
        assert f"price: number, {frame['price'][0]} read as {price[0]}" in told
        assert f"euro: number, {frame['euro'][0]} read as {price[0]}" in told
        assert "gaps: unknown (1)" in told
        assert "colour: category, " in told
    np.testing.assert_array_equal(table.X, same.X)


def test_a_model_reads_later_rows_with_the_decimal_mark_of_the_fit(tmp_path):
    frame = as_people_write()[0]
    frame[["euro", "colour"]].to_csv(tmp_path / "table.csv", index=False)
    code = ml.read_table(tmp_path / "table.csv").code
    (tmp_path / "one.csv").write_text("euro,colour\n1.234,RED\n")  # 1.234 alone is ambiguous
    assert ml.read_table(tmp_path / "one.csv", code=code).X[0, 0] == 1234.0
    one = pd.DataFrame({"euro": ["1.234"], "colour": ["Red"]})
    assert ml.read_table(one, code=code).X[0].tolist() == [1234.0, 0.0, 0.0, 1.0]


def test_words_that_are_declared_missing_are_gaps_everywhere(tmp_path):
    frame = pd.DataFrame(
        {
            "size": [1.5, -99.0, 2.5, 3.5] * 10,
            "colour": ["red", "Not told", "blue", "green"] * 10,
            "height": ["12", "13", "zero", "15"] * 10,
        }
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    for source in (frame, tmp_path / "table.csv"):
        table = ml.read_table(source, na=["not told", "-99", "ZERO"])
        assert table.columns == ("size", "colour=blue", "colour=green", "colour=red", "height")
        assert np.isnan(table.X[1, [0, 1, 2, 3]]).all()
        assert np.isnan(table.X[2, 4])
        assert table.n_gaps == 30
    with pytest.raises(FileError, match="column 'height', row 2: 'zero' is not a number"):
        ml.read_table(tmp_path / "table.csv", kinds={"height": "number"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kinds": {"c": 3}}, r"kinds: c: 3 is not one of number"),
        ({"decimal": "·"}, r"decimal: '·' is not one of '\.', ','"),
        ({"decimal": "", "sep": ";"}, r"decimal: '' is not one of"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_a_sentence(settings, message, tmp_path):
    (tmp_path / "t.csv").write_text("a;c\n1;x\n2;y\n3;x\n")
    with pytest.raises(FileError, match=message):
        ml.read_table(tmp_path / "t.csv", **settings)


def test_words_that_may_be_among_numbers_are_kept(tmp_path):
    (tmp_path / "m.csv").write_text("a,b\n" + "1,2.5\n" * 20 + "unknown,3.5\n")
    table = ml.read_data(tmp_path / "m.csv", words=True, missing="keep")
    assert np.isnan(table.X).sum(axis=0).tolist() == [1, 0]


def test_one_number_may_stand_for_missing_cells(tmp_path):
    frame = pd.DataFrame({"a": [1.5, -99.0, 2.5], "b": [1.0, 2.0, -99.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        assert np.isnan(ml.read_table(source, na=-99).X).sum(axis=0).tolist() == [1, 1]


def test_the_user_may_say_that_commas_of_a_frame_are_decimal_marks():
    frame = pd.DataFrame({"a": ["1,285", "4,512"], "b": [1.5, 2.5]})
    table = ml.read_table(frame)
    assert table.X[:, 0].tolist() == [1285.0, 4512.0]
    assert "a: number, 1,285 read as 1285; if the comma is a decimal mark, say decimal=','" in (
        table.about()
    )
    assert ml.read_table(frame, decimal=",").X[:, 0].tolist() == [1.285, 4.512]
    with pytest.raises(FileError, match="decimal: 'x' is not one of"):
        ml.read_table(frame, decimal="x")


@pytest.mark.parametrize(("slip", "why"), [("12O", ""), ("€ 12", " of the unit of the others")])
def test_a_slip_among_numbers_is_refused_in_files_and_frames(slip, why, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": [f"${value:.2f}" for value in rng.normal(9, 2, 60)], "b": 1.5})
    frame["b"] += rng.normal(size=60)
    frame.loc[40, "a"] = slip
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source, place in ((frame, "column 'a', row 40"), (tmp_path / "t.csv", "column 'a'")):
        with pytest.raises(FileError, match=f"{place}: '{slip}' is not a number{why}; mend the"):
            ml.read_table(source)
        table = ml.read_table(source, kinds={"a": "text"})
        assert table.columns == ("b",)


def test_numbers_of_several_units_are_set_aside_and_it_says_why():
    rng = np.random.default_rng(0)
    cells = [f"{'$€'[row % 2]}{value:.2f}" for row, value in enumerate(rng.normal(900, 99, 60))]
    table = ml.read_table(pd.DataFrame({"a": cells, "b": rng.normal(size=60)}))
    assert "identifier, set aside: a (numbers of several units: $, €)" in table.about()


@pytest.mark.parametrize(
    ("written", "kind"),
    [("{:,}", "number"), ("€{}", "number"), ("{}", "identifier"), ("{} ", "identifier")],
)
def test_numbers_that_are_written_as_amounts_name_nothing(written, kind, tmp_path):
    rng = np.random.default_rng(0)
    price = [written.format(value) for value in rng.integers(10**5, 10**6, 60)]
    frame = pd.DataFrame({"price": price, "size": rng.normal(size=60)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert ml.read_table(tmp_path / "t.csv").kinds["price"] == kind
