import os
from zlib import crc32

import numpy as np
import pytest

import maylink as ml
from chat_server import ChatStub, honest, serving
from maylink import Links
from maylink.label.judges import Asking, AskSettings, ChatJudge, ChatSettings, Judge, ShownRows
from maylink.label.judges.gathered import agreement, calibrated, links_of, tally
from maylink.label.store import AnswerStore
from maylink.questions import Answer
from plain_interview import PlainInterview

GIVEN = [
    Answer(0, 1, 1, "bot", 0.8), Answer(1, 2, -1, "bot", 0.2), Answer(0, 2, 0, "bot"),
    Answer(0, 1, -1, "ann"), Answer(3, 2, 1, "rule"),
]  # fmt: skip


def stored():
    with AnswerStore(":memory:", "rows") as store:
        store.add(GIVEN)
        return store.answers()


def test_links_have_votes_and_sources_and_unsure_answers_make_none():
    links = links_of(stored(), 5)
    assert links.n == 5
    assert links.to_frame().to_numpy().tolist() == [
        [0, 1, "may", 0.8, "bot"],
        [1, 2, "may-not", 0.2, "bot"],
        [0, 1, "may-not", 1.0, "ann"],
        [3, 2, "may", 1.0, "rule"],
    ]
    assert links_of([], 5) == Links.empty(5)


def test_only_judges_that_told_a_confidence_are_parted_by_it():
    links = links_of(stored(), 5) + Links(5, [0], [4], [1], [7.0], ["crowd"])
    parted = calibrated(links, ["bot", "rule"])
    named = dict(zip(parted.sources, np.bincount(parted.source), strict=True))
    assert named == {
        "ann": 1, "rule": 1, "crowd": 1, "bot, 50% to 75% sure": 1, "bot, 75% to 100% sure": 1,
    }  # fmt: skip
    assert sorted(parted.weight) == [1, 1, 1, 1, 7]
    assert calibrated(links, ["rule"]) is links


def test_tallies():
    rows = {one.source: one[1:] for one in tally(stored(), ["bot", "new"])}
    assert rows == {
        "bot": (3, 1, 1, 1),
        "new": (0, 0, 0, 0),
        "ann": (1, 0, 1, 0),
        "rule": (1, 1, 0, 0),
    }


def test_agreement_is_on_pairs_that_both_judged():
    people = Links(5, [1, 2, 2, 2, 0], [0, 1, 1, 1, 2], [1, 1, 1, -1, 1], source=["p"] * 5)
    assert agreement(stored(), people, "bot") == (1, 2)  # unsure answers are not compared
    assert agreement(stored(), people, "ann") == (0, 1)
    assert agreement(stored(), people, "nobody") == (0, 0)
    own = Links(5, [0], [1], [1], source=["bot"])
    assert agreement(stored(), own, "bot") == (0, 0)  # not with itself


@pytest.mark.skipif("MAYLINK_SLOW" not in os.environ, reason="takes long: set MAYLINK_SLOW=1")
@pytest.mark.parametrize("seed", [0, 1])
def test_two_judges_and_ten_answers_of_people_tell_how_good_each_is(seed):
    """The learned reliability is that of the answers, which the truth tells; sure or not."""
    data = ml.datasets.make_pattern("blobs", n=90, rng=seed)
    rng = np.random.default_rng(seed)
    rows = ShownRows.of({"y": data.y})

    def judge(accuracy):
        """Right so often; where it is right it is mostly sure, the poor one whatever it says."""

        def function(a, b):
            right = rng.random() < accuracy
            sure = rng.random() < (0.8 if right or accuracy < 0.7 else 0.1)
            return (a["y"] == b["y"]) == right, 0.95 if sure else 0.6

        return function

    people = ml.sample_links(data.y, rate=10 / (90 * 89 / 2), accuracy=1.0, rng=seed)
    judges = [Judge(judge(0.9), source="good"), Judge(judge(0.6), source="poor")]
    asking = Asking(
        PlainInterview(data.X, random_state=seed), rows, judges,
        AnswerStore(":memory:", "rows"), given=people, settings=AskSettings(400, 100),
    )  # fmt: skip
    links = calibrated(asking.run().links, ["good", "poor"])
    model = ml.TVClust("gaussian", data_weight=1, random_state=0).fit(data.X, links=links)
    told = model.reliability_[["p", "q"]].mean(axis=1)
    same = data.y[links.i] == data.y[links.j]
    right = (links.kind > 0) == same
    for code, name in enumerate(links.sources):
        own = links.source == code
        true = 0.5 * (right[own & same].mean() + right[own & ~same].mean())
        if own.sum() > 60:
            assert told[name] == pytest.approx(true, abs=0.12)
    sure, unsure = "75% to 100% sure", "50% to 75% sure"
    assert (
        told[f"good, {sure}"] > told[f"good, {unsure}"] + 0.1
    )  # its confidence is worth something
    assert told[f"good, {sure}"] > told[f"poor, {sure}"] + 0.2  # and is not taken at its word


def lying(a, b):
    """Answer as a server that is wrong about three pairs in ten, always the same, and sure."""
    wrong = crc32("".join(sorted((a, b))).encode()) % 10 < 3
    told = honest(a, b)["answer"]
    return {"answer": {"yes": "no", "no": "yes"}[told] if wrong else told, "confidence": 90}


def test_a_server_that_lies_is_kept_as_it_spoke_and_seen_through():
    """Of 500 answers three in ten are wrong: p and q come out so, and the clusters right."""
    data = ml.datasets.make_pattern("blobs", n=90, rng=0)
    rows = ShownRows.of({"name": [f"row {k}" for k in range(90)],
                         "group": [f"g{one}" for one in data.y]})  # fmt: skip
    stub, store = ChatStub(judge=lying), AnswerStore(":memory:", "rows")
    with serving(stub) as address:
        judge = ChatJudge("tiny", address, source="liar", settings=ChatSettings(10, 4))
        asking = Asking(PlainInterview(data.X, random_state=0), rows, [judge], store,
                        settings=AskSettings(500, 100))  # fmt: skip
        asked = asking.run()
        judge.close()
    assert (asked.n_answers, stub.calls) == (500, 50)
    said = [one.answer for one in store.answers()]
    for i, j, kind, source, _ in said:
        pair = rows.pair(i, j)
        assert source == "liar"
        assert kind == (1 if lying(*pair.texts)["answer"] == "yes" else -1)
    links = calibrated(asked.links, ["liar"])
    model = ml.TVClust("gaussian", data_weight=1, random_state=0).fit(data.X, links=links)
    same = data.y[links.i] == data.y[links.j]
    right = (links.kind > 0) == same
    assert right.mean() == pytest.approx(0.7, abs=0.05)
    (told,) = model.reliability_[["p", "q"]].to_numpy()
    assert told == pytest.approx([right[same].mean(), right[~same].mean()], abs=0.05)
    assert told == pytest.approx([0.7, 0.7], abs=0.08)
    assert ml.metrics.adjusted_rand(data.y, model.labels_) > 0.95
