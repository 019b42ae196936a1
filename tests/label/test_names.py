import pytest

from maylink.label.names import PersonNameError, check_name


@pytest.mark.parametrize("name", ["ann", "Zoë", "王芳", "Ann-Marie O'Neil", "ann@home", "r2.d2"])
def test_names_of_people_are_taken(name):
    assert check_name(name) == name


def test_spaces_and_letters_have_one_form():
    assert check_name(" Zoe\u0308\t Berg ") == "Zoë Berg"


def test_capitals_do_not_make_another_person():
    assert check_name("ANN", ["bob", "ann"]) == "ann"
    assert check_name("Anna", ["ann"]) == "Anna"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "say who you are"),
        (None, "say who you are"),
        (["ann"], "say who you are"),
        ("   ", "say who you are"),
        ("?", "no letter"),
        ("---", "no letter"),
        ("x" * 41, "41 characters"),
        ("ann, boards", "',' cannot be in it"),  # the source of boards is called so
        ("<b>ann</b>", "'<' cannot be in it"),
        ("ann\u202ebob", r"U\+202E cannot be in it"),
        ("ann\x00", r"U\+0000 cannot be in it"),
        ("ann?", "cannot be in it"),
    ],
)
def test_others_are_refused_with_a_reason(name, problem):
    with pytest.raises(PersonNameError, match=problem):
        check_name(name)
