import numpy as np
import pytest

from label_page import make_items
from maylink.label.cells import Cells
from maylink.label.items import MOST_SHOWN, Items, ShowError, choose_columns, visible
from maylink.label.pictures import Pictures

HOSTILE = "<img src=x onerror='window.hacked=1'></script>"


def cells_of(**kinds):
    return Cells({name: np.array(["a", "b"], object) for name in kinds}, kinds)


def test_answers_constants_and_what_was_dropped_are_not_shown():
    cells = cells_of(name="text", truth="label", always="constant", size="number", path="text")
    assert choose_columns(cells, None, beside=["path"]) == (["name", "size"], [])
    assert choose_columns(cells, ["truth", "path", "truth"]) == (["truth", "path"], [])
    with pytest.raises(ShowError, match=r"--show: 'nane' is not one of .*did you mean 'name'"):
        choose_columns(cells, ["nane"])


def test_of_many_columns_texts_are_shown_first_in_the_order_of_the_file():
    cells = cells_of(**{f"n{k}": "number" for k in range(20)}, words="text")
    shown, left_out = choose_columns(cells, None)
    assert shown == [*(f"n{k}" for k in range(MOST_SHOWN - 1)), "words"]
    assert len(left_out) == 20 - (MOST_SHOWN - 1)


def test_a_pair_is_told_field_by_field():
    pair = make_items().pair(1, 5)
    assert (pair["a"]["name"], pair["b"]["name"]) == ("p1", "p5")
    note, size = pair["fields"]
    assert note["a"] == [("word ", False), ("1", True), (" and more", False)]
    assert note["differs"]
    assert not note["long"]
    assert size == {
        "name": "size",
        "long": False,
        "differs": False,
        "a": [("1", False)],
        "b": [("1", False)],
    }


def test_numbers_are_marked_as_a_whole_and_empty_fields_are_left_out():
    columns = {
        "day": np.array(["2018-01-12", "2018-01-13"], object),
        "gap": np.array(["", " "], object),
        "half": np.array(["", "x"], object),
    }
    cells = Cells(columns, {"day": "date", "gap": "text", "half": "text"})
    pair = Items(cells, list(columns), np.arange(2), named=False).pair(0, 1)
    assert [field["name"] for field in pair["fields"]] == ["day", "half"]
    assert pair["fields"][0]["a"] == [("2018-01-12", True)]
    assert (pair["fields"][1]["a"], pair["fields"][1]["b"]) == ([], [("x", True)])
    assert pair["a"]["name"] == "row 0"


def test_hostile_cells_stay_text_and_unseen_characters_are_named():
    cells = Cells({HOSTILE: np.array([HOSTILE, "a\u202eb\x07\ud800"], object)}, {HOSTILE: "text"})
    items = Items(cells, [HOSTILE], np.array([HOSTILE, "\u2066x"], object), named=True)
    pair = items.pair(0, 1)
    assert "".join(text for text, _ in pair["fields"][0]["a"]) == HOSTILE
    assert "".join(text for text, _ in pair["fields"][0]["b"]) == "a⟨U+202E⟩b⟨U+0007⟩⟨U+D800⟩"
    assert pair["b"]["name"] == "⟨U+2066⟩x"
    assert items.item(0)["fields"][0]["text"] == HOSTILE


def test_lines_are_kept_and_long_cells_shortened():
    assert visible("a\r\nb\rc\td") == "a\nb\nc\td"
    columns = {"text": np.array(["x" * 30_000, "word " * 30], object)}
    items = Items(Cells(columns, {"text": "text"}), ["text"], np.arange(2), named=False)
    field = items.pair(0, 1)["fields"][0]
    assert field["long"]
    assert len(field["a"][0][0]) == 20_000
    assert len(items.item(0)["fields"][0]["text"]) == 280


def test_a_row_may_have_a_picture(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 20)
    pictures = Pictures(tmp_path, np.array(["a.png", "gone.png"] + [""] * 10, object))
    pair = make_items(pictures=pictures).pair(0, 1)
    assert (pair["a"]["picture"], pair["b"]["picture"]) == (True, False)
