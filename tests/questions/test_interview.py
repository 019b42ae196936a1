"""An interview from the first question to "enough"."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import maylink as ml
from maylink.errors import LinksError, MaylinkError
from maylink.questions import Answer, Interview
from maylink.questions.mind import MOST

MOONS = ml.datasets.make_pattern("moons", rng=0)


def blobs(n=120, k=4, apart=8.0, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return apart * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)), y


def answer(y, question, source=0, right=True):
    together = y[question.i] == y[question.j]
    return Answer(question.i, question.j, 1 if together == right else -1, source)


def ask(interview, y, n, accuracy=1.0, seed=0, source=0, at_once=1):
    rng = np.random.default_rng(seed)
    for _ in range(n // at_once):
        asked = interview.questions(at_once, source)
        interview.add([answer(y, one, source, rng.random() < accuracy) for one in asked])
    return interview


def test_right_answers_find_clusters_that_data_alone_do_not():
    interview = Interview(MOONS.X, random_state=0)
    before = ml.metrics.adjusted_rand(MOONS.y, interview.labels)
    ask(interview, MOONS.y, 25)
    assert before < 0.6
    assert ml.metrics.adjusted_rand(MOONS.y, interview.labels) > 0.98


def test_wrong_answers_are_not_obeyed():
    found = []
    for seed in (2, 3, 4):
        X, y = blobs(seed=seed)
        interview = ask(Interview(X, random_state=0), y, 50, accuracy=0.8)
        found.append(ml.metrics.adjusted_rand(y, interview.labels))
    assert np.mean(found) > 0.9


def test_clusters_are_numbered_by_size():
    X, _ = blobs()
    sizes = np.bincount(Interview(X, random_state=0).labels)
    assert len(sizes) > 1
    assert np.all(np.diff(sizes) <= 0)


def test_the_same_seed_asks_the_same():
    X, y = blobs()
    one, two = (ask(Interview(X, random_state=3), y, 5) for _ in range(2))
    assert one.questions(4) == two.questions(4)
    assert one.answers == two.answers


def test_no_pair_is_asked_about_twice():
    X, y = blobs(n=24)
    interview = Interview(X, random_state=0)
    seen = set()
    for _ in range(30):
        for question in interview.questions(3):
            assert question.i < question.j
            assert (question.i, question.j) not in seen or question.again
            seen.add((question.i, question.j))
            interview.add([answer(y, question)])
    assert len(seen) > 60


def test_a_batch_has_different_pairs_each_with_a_reason():
    X, _ = blobs(n=200, k=6, apart=3.0)
    batch = Interview(X, random_state=0).questions(20)
    assert len({(one.i, one.j) for one in batch}) == 20
    assert all(one.reason.startswith("decides whether") for one in batch)
    assert all(0.0 <= one.together <= 1.0 and one.gain >= 0.0 for one in batch)
    assert all(one.again is False for one in batch)


def test_an_answer_that_looks_wrong_is_checked_with_somebody_else():
    X, y = blobs(n=16, k=2)
    interview = ask(Interview(X, random_state=0), y, 40, source="ann")
    i, j = np.flatnonzero(y == 0)[:2]
    wrong = Answer(int(i), int(j), -1, "ann")
    interview.add([wrong])
    asked = interview.questions(200, "bob")
    again = [one for one in asked if one.again]
    assert (i, j) in {(one.i, one.j) for one in again}
    assert "asks again" in again[0].reason


def test_links_hold_what_was_said_but_not_who_could_not_tell():
    X, _ = blobs()
    given = ml.Links(len(X), [0], [1], [1], source=["rule"])
    interview = Interview(X, given, random_state=0)
    interview.add([Answer(0, 2, -1, "ann"), Answer(0, 3, 0, "ann"), Answer(4, 3, 1, "bob", 0.5)])
    frame = interview.links.to_frame()
    assert frame["source"].tolist() == ["rule", "ann", "bob"]
    assert frame["weight"].tolist() == [1.0, 1.0, 0.5]
    assert interview.standing.n_answers == 2
    assert len(interview.answers) == 3


def test_an_answer_that_is_taken_back_is_forgotten():
    X, y = blobs()
    interview = ask(Interview(X, random_state=0), y, 6)
    links = interview.links
    said = Answer(0, 1, 1, "ann")
    interview.add([said])
    assert interview.links.i.size == links.i.size + 1
    interview.take_back(said)
    assert interview.links.to_frame().equals(links.to_frame())
    with pytest.raises(MaylinkError, match="nothing like"):
        interview.take_back(said)


def test_sources_are_told_apart():
    X, y = blobs(n=200, k=5, seed=1)
    interview = Interview(X, random_state=0)
    rng = np.random.default_rng(0)
    says = {
        "good": lambda same: same,
        "random": lambda same: rng.random() < 0.5,
        "always": lambda same: True,
    }
    for _ in range(6):
        for source, say in says.items():
            asked = interview.questions(10, source)
            kinds = [1 if say(y[one.i] == y[one.j]) else -1 for one in asked]
            interview.add(
                [Answer(one.i, one.j, kind, source) for one, kind in zip(asked, kinds, strict=True)]
            )
    table = interview.reliability
    assert list(table.index) == ["good", "random", "always"]
    good, random, always = table["p"] + table["q"]
    assert good > 1.5
    assert max(random, always) < good - 0.2
    assert table.loc["always", "q"] < table.loc["always", "p"] - 0.2
    assert ml.metrics.adjusted_rand(y, interview.labels) > 0.9


def test_what_is_known_of_a_source_counts_before_it_has_answered():
    X, _ = blobs(apart=2.0)
    known = {"expert": (0.99, 0.99), "guesser": (0.55, 0.55)}
    interview = Interview(X, reliability=known, random_state=0)
    expert, guesser = (interview.questions(1, one)[0].gain for one in known)
    assert expert > 5.0 * guesser


def test_links_that_there_are_count_as_answers():
    links = ml.sample_links(MOONS.y, rate=0.02, accuracy=0.9, rng=0)
    interview = Interview(MOONS.X, links, random_state=0)
    assert ml.metrics.adjusted_rand(MOONS.y, interview.labels) > 0.95
    assert interview.reliability.loc[0, "p"] == pytest.approx(0.9, abs=0.06)


def test_the_clusters_of_a_fit_are_an_opinion():
    X, _ = blobs(apart=2.0)
    labels = np.arange(len(X)) % 3  # nothing that the data say
    with_fit = Interview(X, labels=labels, random_state=0).labels
    without = Interview(X, random_state=0).labels
    ari = ml.metrics.adjusted_rand
    assert ari(labels, with_fit) >= ari(labels, without)


def test_enough_is_said_when_clusters_are_settled_and_not_before():
    X, y = blobs()
    interview = Interview(X, random_state=0)
    assert not interview.standing.is_enough
    ask(interview, y, 30)
    standing = interview.standing
    assert standing.is_enough
    assert standing.n_clusters == standing.n_settled == 4
    assert standing.expected_f > 0.95
    assert "more answers would put right less than 1%" in standing.why


@pytest.fixture(scope="module")
def records():
    return ml.datasets.make_records(400, 180, rng=1)


def test_hundreds_of_small_clusters_are_found_and_answers_make_them_better(records):
    interview = Interview(records.X, random_state=0)
    assert len(interview._mind.where.parts) > 1
    before = ml.metrics.pair_f(records.y, interview.labels)
    assert before > 0.9
    for _ in range(12):
        asked = interview.questions(10)
        interview.add([answer(records.y, one) for one in asked])
    after = ml.metrics.pair_f(records.y, interview.labels)
    assert after > before + 0.5 * (1.0 - before)
    assert interview.standing.n_clusters == pytest.approx(180, abs=5)


def test_many_parts_ask_about_pairs_of_one_part_with_reasons(records):
    interview = Interview(records.X, random_state=0)
    batch = interview.questions(30)
    assert len({(one.i, one.j) for one in batch}) == 30
    assert np.all(np.diff([one.gain for one in batch[:10]]) <= 1e-9)
    assert all(one.reason.startswith("decides whether") for one in batch)
    part, of_row = interview._mind.where.of_piece, interview._mind.pieces.of_row
    assert all(part[of_row[one.i]] == part[of_row[one.j]] for one in batch)
    board = interview.board(6)
    assert len(set(board)) == 6


def test_parts_are_joined_when_answers_say_that_a_cluster_lies_in_both(records):
    interview = Interview(
        records.X, reliability={"ann": (0.99, 0.99), "guesser": (0.5, 0.5)}, random_state=0
    )
    mind = interview._mind
    part, n_parts = mind.where.of_piece[mind.pieces.of_row], len(mind.where.parts)
    i, j = np.flatnonzero(part == 0)[0], np.flatnonzero(part == 1)[0]
    near = np.flatnonzero(part == 1)[1]
    interview.add([Answer(int(i), int(near), -1, "ann"), Answer(int(i), int(near), 1, "guesser")])
    assert len(mind.where.parts) == n_parts  # a guesser and one who says no join nothing
    interview.add([Answer(int(i), int(j), 1, "ann")])
    assert len(mind.where.parts) == n_parts - 1
    of_row = mind.where.of_piece[mind.pieces.of_row]
    assert of_row[i] == of_row[j]
    assert sorted(np.concatenate([part.at for part in mind.where.parts])) == list(range(400))
    assert len(interview.labels) == 400


def test_smaller_pieces_of_large_clusters_stay_one_part():
    interview = ask(Interview(MOONS.X, random_state=0), MOONS.y, 170, at_once=10)
    assert len(interview._mind.where.parts) == 1
    assert interview._mind.pieces.count <= MOST
    assert ml.metrics.adjusted_rand(MOONS.y, interview.labels) > 0.98


def test_boards_have_different_rows():
    X, _ = blobs()
    board = Interview(X, random_state=0).board(8)
    assert len(set(board)) == 8
    assert len(Interview(X[:5], random_state=0).board(8)) == 5


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows(n):
    interview = Interview(np.arange(2.0 * n).reshape(n, 2), random_state=0)
    assert len(interview.questions(10)) == n * (n - 1) // 2
    assert len(interview.labels) == n


def test_whole_numbers_of_few_columns_are_no_words():
    assert len(Interview(np.arange(30)[:, None], random_state=0).questions(50)) == 50


def test_rows_that_are_all_equal_raise_no_question():
    interview = Interview(np.ones((30, 3)), random_state=0)
    assert interview.questions(5) == []
    assert interview.standing.n_clusters == 1


def many_kinds():
    rng = np.random.default_rng(0)
    gaps = rng.normal(size=(60, 3))
    gaps[3, 1] = np.nan
    yield "counts", rng.poisson(3, (60, 20))
    yield "bits", (rng.random((60, 9)) < 0.3).astype(float)
    yield "gaps", gaps
    yield "sparse", sparse.random(60, 100, 0.1, "csr", rng=rng)
    yield "float32", rng.normal(size=(60, 4)).astype(np.float32)
    yield "wide", rng.normal(size=(40, 200))
    yield "words", pd.DataFrame({"a": rng.normal(size=60), "b": ["x", "y", "z"] * 20})


@pytest.mark.parametrize("X", [pytest.param(X, id=name) for name, X in many_kinds()])
def test_data_of_any_kind(X):
    interview = Interview(X, random_state=0)
    questions = interview.questions(3)
    interview.add([Answer(one.i, one.j, 1) for one in questions])
    assert len(questions) == 3
    assert len(interview.labels) == X.shape[0]


def test_of_many_rows_a_sample_is_looked_at_and_all_have_a_cluster():
    X, y = blobs(n=10_100, k=4, apart=15.0)
    interview = Interview(X, random_state=0)
    assert ml.metrics.adjusted_rand(y, interview.labels) > 0.95
    assert len(interview.labels) == 10_100


def test_after_many_answers_pieces_are_smaller():
    X, y = blobs(n=300, k=3, apart=1.0)
    interview = Interview(X, random_state=0)
    before = interview._mind.pieces.count
    pairs = np.random.default_rng(0).permutation(300).reshape(-1, 2)
    pairs = np.vstack([pairs, np.roll(pairs, 1, axis=1), pairs + [[0, 1]] * 150]) % 300
    interview.add([Answer(int(i), int(j), 1 if y[i] == y[j] else -1) for i, j in pairs if i != j])
    assert before < interview._mind.pieces.count <= MOST


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (Answer(0, 0, 1), "compared with itself"),
        (Answer(0, 999, 1), "0 to 119, not 0 and 999"),
        (Answer(-1, 3, 1), "not -1 and 3"),
        (Answer(0, 1, 2), "is not 1 .together., -1 .apart. or 0"),
        (Answer(0, 1, 1, 0, -1.0), "weight -1 is not above 0"),
        (Answer(0, 1, 1, 0, 1e300), "weight 1e.300 is not above 0 and at most 1e.06"),
        (Answer(0, 1, 1, 0, float("nan")), "weight nan is not above 0"),
        (Answer(0.2, 0.7, 1), "not two row numbers and a weight"),
        (Answer("0", 1, 1), "not two row numbers and a weight"),
        (Answer(0, 1, 1, None), "name who answered"),
    ],
)
def test_answers_that_cannot_be(bad, said):
    interview = Interview(blobs()[0], random_state=0)
    with pytest.raises(MaylinkError, match=said):
        interview.add([bad])
    assert interview.answers == []


def test_input_that_cannot_be():
    with pytest.raises(MaylinkError, match=r"labels\[3\] is missing"):
        Interview(blobs()[0], labels=[0.0, 1.0, 0.0, np.nan] + [1.0] * 116)
    with pytest.raises(MaylinkError, match="p and q of 'ann'"):
        Interview(blobs()[0], reliability={"ann": (1.7, 0.5)})
    with pytest.raises(MaylinkError, match="n"):
        Interview(blobs()[0]).questions(2.5)
    with pytest.raises(MaylinkError, match="size"):
        Interview(blobs()[0]).board(1)
    with pytest.raises(MaylinkError, match="labels: 2 labels for 120 rows"):
        Interview(blobs()[0], labels=[0, 1])
    with pytest.raises(MaylinkError, match="infinity"):
        Interview([[np.inf, 1.0]])
    with pytest.raises(LinksError):
        Interview(blobs()[0], links=([(0, 500)], []))


@pytest.mark.parametrize(
    "model",
    [
        ml.TVClust("gaussian", data_weight=1.0, neighbours=False, random_state=0),
        ml.RDPMeans("gaussian", cluster_penalty=20.0, neighbours=False, random_state=0),
        ml.DPMeans(cluster_penalty=20.0, random_state=0),
        ml.SpectralRDPMeans(n_clusters_hint=4, random_state=0),
        ml.baselines.PCKMeans(4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_fitted_estimators_ask(model):
    X, y = blobs(apart=2.0)
    links = ml.sample_links(y, rate=0.02, accuracy=0.9, rng=0)
    if isinstance(model, ml.DPMeans):
        model.fit(X)
    else:
        model.fit(X, links=links)
    questions = model.questions(5, X, links=links)
    assert len(questions) == 5
    assert questions == model.questions(5, X, links=links)


def test_looking_changes_nothing():
    X, y = blobs(apart=2.0)
    one, two = Interview(X, random_state=0), Interview(X, random_state=0)
    rng = np.random.default_rng(0)
    for i, j in rng.choice(120, (15, 2)):
        if i != j:
            said = [Answer(i, j, 1 if y[i] == y[j] else -1)]
            one.add(said)
            two.add(said)
            assert len(two.labels) == 120
            assert len(two.board(3)) == 3
            assert two.standing.n_answers
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.questions(5) == two.questions(5)


def test_taking_back_leads_to_where_it_was():
    X, y = blobs(apart=2.0)
    interview = ask(
        Interview(X, random_state=0), y, 7
    )  # eight are taken in one by one, more are not
    labels = interview.labels
    for said in (Answer(0, 1, 0, "ann"), Answer(0, 1, 1)):
        interview.add([said])
        interview.take_back(said)
        np.testing.assert_array_equal(interview.labels, labels)


def test_few_different_rows_have_many_pairs():
    X = np.repeat([[0.0, 0.0], [5.0, 5.0], [0.0, 9.0]], 20, axis=0)
    found = Interview(X, random_state=0).questions(100)
    assert len({(one.i, one.j) for one in found}) == 100


def test_votes_of_thousands_leave_every_linkage_a_weight():
    links = ml.sample_links(MOONS.y, rate=0.01, accuracy=1.0, rng=0)
    heavy = ml.Links(links.n, links.i, links.j, links.kind, 50.0 * links.weight)
    interview = Interview(MOONS.X, heavy, random_state=0)
    assert ml.metrics.adjusted_rand(MOONS.y, interview.labels) > 0.9


def test_surprise_falls_where_data_know_the_clusters_and_rises_where_they_do_not():
    X, y = blobs()
    strange = np.random.default_rng(0).permutation(y)
    interviews = (Interview(X, refit=False, random_state=0) for _ in range(2))
    known, unknown = map(lambda one, truth: ask(one, truth, 30), interviews, (y, strange))
    assert known._mind.surprise < 0.15
    assert unknown._mind.surprise > 0.3
