import pytest

from maylink.errors import FileError, MaylinkError
from maylink.label.judges.prompts import ABOUT, PromptTemplate
from maylink.label.judges.rows import ShownRows

ROWS = ShownRows.of({"name": ["Ann", "{b}", None], "full town": ["Bonn", "Kiel", "Ulm"]})


def test_the_default_prompt_shows_both_rows_and_says_what_together_means():
    prompt = PromptTemplate(about="Two rows belong together if they are one person.").prompt(
        [ROWS.pair(0, 2)]
    )
    assert "Row A\nname: Ann\nfull town: Bonn\n" in prompt
    assert "Row B\nname: (empty)\nfull town: Ulm\n" in prompt
    assert "are one person." in prompt
    assert ABOUT not in prompt
    assert ABOUT in PromptTemplate().prompt([ROWS.pair(0, 1)])


def test_cells_by_column_in_either_spelling():
    template = PromptTemplate('{a.name}/{b[full town]}; other {braces} stay, {a.}, {"x": 1}')
    prompt = template.prompt([ROWS.pair(0, 1)])
    assert prompt.startswith('Ann/Kiel; other {braces} stay, {a.}, {"x": 1}\n')
    assert PromptTemplate("{a.name} {b.name}").prompt([ROWS.pair(2, 0)]).startswith("(empty) Ann")


def test_what_stands_in_a_row_is_not_a_place():
    assert (
        PromptTemplate("{a.name} and {b.name}")
        .prompt([ROWS.pair(1, 0)])
        .startswith("{b} and Ann\n")
    )


def test_several_pairs_share_what_names_no_row():
    template = PromptTemplate("You are careful.\n\nFirst: {a.name}\n\nSecond: {b.name}\n\nThink!")
    prompt = template.prompt([ROWS.pair(0, 2), ROWS.pair(2, 0)])
    assert prompt.count("careful") == prompt.count("Think!") == 1
    assert "Pair 1\n\nFirst: Ann\n\nSecond: (empty)\n\nPair 2\n\nFirst: (empty)" in prompt
    assert "There are 2 pairs" in prompt
    assert '"pair"' in prompt


@pytest.mark.parametrize(("text", "row"), [("{a} alone", "b"), ("nothing", "a"), ("{b.x}", "a")])
def test_a_prompt_must_show_both_rows(text, row):
    with pytest.raises(MaylinkError, match=f"does not show row {row}"):
        PromptTemplate(text)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(MaylinkError, match=r"\{a\.nam\}.*did you mean 'name'"):
        PromptTemplate("{a.nam} {b}", columns=["name", "town"])


def test_about_needs_a_place():
    with pytest.raises(MaylinkError, match=r"about: .*\{about\}"):
        PromptTemplate("{a} {b}", about="one person")


def test_another_prompt_is_another_judge():
    prints = {
        PromptTemplate(text, about, columns).fingerprint
        for text in ("{about} {a} {b}", "{about} {b} {a}")
        for about in (None, "one person")
        for columns in (None, ["name"], ["name", "town"])
    }
    assert len(prints) == 12


def test_files(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_bytes("\ufeffÄhnlich? {a} {b}".encode())
    assert PromptTemplate.from_file(path).text == "Ähnlich? {a} {b}"
    path.write_bytes(b"\xff\xfe{a}{b}")
    with pytest.raises(FileError, match="no UTF-8"):
        PromptTemplate.from_file(path)
    path.write_text("{a}")
    with pytest.raises(FileError, match=r"prompt\.txt: prompt: it does not show row b"):
        PromptTemplate.from_file(path)
    with pytest.raises(FileError, match="No such file"):
        PromptTemplate.from_file(tmp_path / "gone")
