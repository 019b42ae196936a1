import time

import pytest

from maylink.label.judges.parsing import read_reply


def one(text):
    """Kind and confidence of a reply about one pair; None where it is no answer."""
    reply = read_reply(text)
    assert set(reply.said) ^ set(reply.problems) == {0}
    return reply.said[0] if reply.said else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"answer": "yes", "confidence": 90}', (1, 0.9)),
        ('{"answer": "No", "confidence": "0.8"}', (-1, 0.8)),
        ('{"answer": "unsure"}', (0, None)),
        ('{"answer": null, "confidence": null}', (0, None)),
        ('{"Answer": "YES", "Confidence": "95%"}', (1, 0.95)),
        ('{"same": true, "confidence": "high"}', (1, 0.9)),
        ('{"belongs together": false}', (-1, None)),
        ('```json\n{"answer": "yes", "confidence": 90}\n```', (1, 0.9)),
        ('```\n{"answer": "no"}\n```\nI hope that helps {smile}.', (-1, None)),
        ('Sure! Here it is: {"answer": "no", "confidence": 70} Have a nice day.', (-1, 0.7)),
        ('Row {A} is odd. {"answer": "yes", "confidence": 90}', (1, 0.9)),
        ("{'answer': 'yes', 'confidence': 0.9}", (1, 0.9)),
        ("{'answer': True, 'confidence': None,}", (1, None)),
        ('{"answer": "yes", "confidence": 90,}', (1, 0.9)),
        ('[{"answer": "yes", "confidence": 90}]', (1, 0.9)),
        ('{"result": {"answer": "no", "confidence": 55}}', (-1, 0.55)),
        ('{"1": {"answer": "yes"}}', (1, None)),
        ('{"answer": ["yes"]}', (1, None)),
        ('{"pair": 1, "answer": "yes", "reason": "same {name}"}', (1, None)),
        ('<think>No. {"answer": "no"}</think>\n{"answer": "yes", "confidence": 80}', (1, 0.8)),
        ('{"answer": "yes", "note": "a \\"quoted\\" } brace"}', (1, None)),
        ("Yes.", (1, None)),
        ("no", (-1, None)),
        ("**Yes**", (1, None)),
        ("Yes (90%)", (1, 0.9)),
        ("No, they are different people.", (-1, None)),
        ("No - confidence 80%", (-1, 0.8)),
        ("Unsure. The rows do not tell.", (0, None)),
        ("I'm not sure about that.", (0, None)),
        ("Answer: Yes\nConfidence: 85", (1, 0.85)),
        ("**Answer:** no\n**Confidence:** high", (-1, 0.9)),
        ("They differ in the year.\nFinal answer: no", (-1, None)),
        ("Not the same.", (-1, None)),
    ],
)
def test_what_models_return(text, expected):
    assert one(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "The sky is purple, and 42.", "I'm sorry, I cannot help with that.", "{", "[]",
        "{}", "null", "42", '{"answer": 1}', '{"answer": 0}', '{"answer": "purple"}',
        '{"answer": [1]}', '{"answer": "yes", "confidence": 900}', "Yes and no.", "No, wait: yes",
        '{"answer": "ye', '{"confidence": 90}', "No idea.", '{"answer": "yes"} {"answer": "no"}',
        "<think>yes", "Yesterday they met.", '{"answer": "yes", "confidence": [1]}', "…", "\x00",
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told_and_never_guessed(text):
    assert one(text) is None


def test_problems_say_what_is_wrong():
    assert read_reply("").problems == {0: "the reply is empty"}
    assert "'purple'" in read_reply('{"answer": "purple"}').problems[0]
    assert "900" in read_reply('{"answer": "yes", "confidence": 900}').problems[0]


def test_several_pairs_by_number_whatever_their_order():
    reply = read_reply(
        '[{"pair": 3, "answer": "no"}, {"pair": "1", "answer": "yes"}, {"pair": 2, "answer": "?"}]',
        3,
    )
    assert {at: said.kind for at, said in reply.said.items()} == {0: 1, 1: 0, 2: -1}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ('[{"answer": "yes"}, {"answer": "no"}]', {0: 1, 1: -1}),  # in order, one each
        ('{"answers": [{"pair": 2, "answer": "no"}]}', {1: -1}),
        ('{"1": "yes", "2": "no"}', {0: 1, 1: -1}),
        ('{"pair 1": "yes", "pair 2": {"answer": "no"}}', {0: 1, 1: -1}),
        ('["yes", "no"]', {0: 1, 1: -1}),
        ('{"pair": 1, "answer": "yes"}\n{"pair": 2, "answer": "no"}', {0: 1, 1: -1}),
        ("1. yes (90%)\n2) No - 80%", {0: 1, 1: -1}),
        ("Pair 1: Yes\nPair 2: unsure", {0: 1, 1: 0}),
        ('[{"answer": "yes"}]', {}),  # of which pair?
        ('["yes"]', {}),
        ('[{"pair": 7, "answer": "yes"}, {"pair": 1, "answer": "no"}]', {0: -1}),
        ('[{"pair": 1, "answer": "no"}, {"pair": 1, "answer": "yes"}]', {}),
        ('[{"pair": 1, "answer": "no"}, {"pair": 1, "answer": "no"}]', {0: -1}),
        ('[{"pair": 1, "answer": "yes", "confidence": 80}, {"pair": 2, "answ', {0: 1}),  # cut off
    ],
)
def test_several_pairs(text, kinds):
    reply = read_reply(text, 2)
    assert {at: said.kind for at, said in reply.said.items()} == kinds
    assert set(reply.problems) == {0, 1} - set(kinds)


def test_notes_are_kept():
    assert read_reply('{"answer": "no", "reason": "other town"}').notes == {0: "other town"}


@pytest.mark.parametrize("text", ["[" * 50_000, "{" * 50_000, '{"a":' * 9_000, '["' * 20_000])
def test_odd_replies_take_no_time(text):
    start = time.perf_counter()
    assert read_reply(text).said == {}
    assert time.perf_counter() - start < 5
