from label_page import BoardInterview, new_key, until


def test_a_person_who_only_sorts_boards_has_the_reliability_of_boards(open_page):
    page = open_page(BoardInterview(), show_reliability=True)
    page.gathering.sort("ann", (0, 1, 2), [[0, 1], [2]], new_key())
    page.gathering.join("bob")
    page.settle()
    people = page.teller.state("ann")["people"]
    assert people == [
        {"name": "ann", "pairs": 0, "boards": 1, "p": 0.9, "q": 0.8},
        {"name": "bob", "pairs": 0, "boards": 0, "p": None, "q": None},
    ]


def test_a_board_in_the_history_has_its_groups_and_names(page):
    page.gathering.sort("ann", (0, 1, 2, 5), [[0, 1], [2]], new_key())
    (entry,) = page.teller.history("ann")
    assert entry["kind"] is None
    assert entry["groups"] == [[0, 1], [2]]
    assert entry["names"] == ["p0", "p1", "p2", "p5"]


def test_the_picture_is_drawn_once_and_rings_wait_for_it(page):
    drawn = []
    draw = page.teller.draw
    object.__setattr__(page.teller, "draw", lambda: drawn.append(True) or draw())
    assert page.teller.places((0, 1)) == []
    page.teller.points()
    page.teller.points()
    assert drawn == [True]
    assert len(page.teller.places((0, 1))) == 2


def test_before_anything_is_known_there_is_nothing_to_stand_on(page):
    page.interview.may_go_on.clear()
    page.gathering.answer("ann", 0, 1, 1, new_key())
    state = page.teller.state("ann")
    assert state["busy"]
    assert state["own"] == {"pairs": 1, "boards": 0}
    page.interview.may_go_on.set()
    page.settle()
    assert until(lambda: page.teller.state("ann")["standing"])["clusters"] == 3
