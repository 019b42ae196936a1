import json
import os
import sys
import textwrap
import time

import pytest

from maylink.errors import JudgeError, MaylinkError
from maylink.label.judges.cache import JudgeFile
from maylink.label.judges.command import CommandJudge
from maylink.label.judges.rows import ShownRows
from maylink.label.judges.secret import Secret
from maylink.label.judges.words import Unanswered

ROWS = ShownRows.of({"name": ["Ann", "Bob", "Ann", "Zoë 🙂"], "born": [1970, None, 1970, 1.5]})
PAIRS = [ROWS.pair(0, 1), ROWS.pair(0, 2), ROWS.pair(1, 2)]
HEAD = """
import json, sys
def say(**entry): print(json.dumps(entry), flush=True)
"""
HONEST = """
for line in sys.stdin:
    asked = json.loads(line)
    say(id=asked["id"], answer=asked["a"]["name"] == asked["b"]["name"], confidence=90, note="n")
"""


def judge_of(body, **settings):
    program = [sys.executable, "-c", HEAD + textwrap.dedent(body)]
    settings = {
        "source": "program",
        "time_limit": 20.0,
        "grace": 5.0,
        "file": JudgeFile(),
        **settings,
    }
    return CommandJudge(program, **settings)


def kinds(said):
    return sorted((one.i, one.j, getattr(one, "kind", None)) for one in said)


def test_a_program_answers_batch_after_batch():
    judge = judge_of(HONEST)
    first = list(judge.judge(PAIRS))
    assert kinds(first) == [(0, 1, -1), (0, 2, 1), (1, 2, -1)]
    assert {(one.confidence, one.note) for one in first} == {(0.9, "n")}
    process = judge._program._process
    assert kinds(judge.judge([ROWS.pair(1, 3)])) == [(1, 3, -1)]
    assert judge._program._process is process  # it runs on
    judge.close()
    assert process.returncode == 0


def test_questions_have_rows_and_texts():
    asked = json.loads(CommandJudge.question(7, ROWS.pair(0, 3)))
    assert asked == {
        "id": 7,
        "a": {"name": "Ann", "born": 1970},
        "b": {"name": "Zoë 🙂", "born": 1.5},
        "texts": ["name: Ann\nborn: 1970", "name: Zoë 🙂\nborn: 1.5"],
    }


def test_answers_may_come_in_any_order_with_ids_as_text():
    judge = judge_of("""
        lines = [json.loads(sys.stdin.readline()) for _ in range(3)]
        for asked in reversed(lines): say(id=str(asked["id"]), answer="unsure")
        sys.stdin.read()
    """)
    assert kinds(judge.judge(PAIRS)) == [(0, 1, 0), (0, 2, 0), (1, 2, 0)]
    judge.close()


def test_bad_lines_are_kept_apart_and_asked_again_and_never_taken():
    judge = judge_of("""
        print("loading the model")
        seen = {}
        for line in sys.stdin:
            asked = json.loads(line)
            n = seen[asked["id"]] = seen.get(asked["id"], 0) + 1
            if n == 1:
                say(id=asked["id"], answer="purple")
            elif n == 2:
                say(id=asked["id"], answer="yes", confidence=900)
            else:
                say(id=asked["id"], answer="no")
    """)
    said = list(judge.judge(PAIRS))
    judge.close()
    assert kinds(said) == [(0, 1, -1), (0, 2, -1), (1, 2, -1)]
    bad = [one for _, one in judge._file.bad_answers()]
    assert sum("purple" in one.problem for one in bad) == 3
    assert sum("900" in one.problem for one in bad) == 3
    assert any(one.written == "loading the model" and one.i is None for one in bad)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("not json", "no JSON"),
        ("[1]", "no JSON object"),
        ('{"answer": "yes"}', "no id"),
        ('{"id": true, "answer": "yes"}', "no id"),
        ('{"id": 999, "answer": "yes"}', "no open question"),
        ('{"id": 1}', "has no answer"),
        ('{"id": 1, "answer": 1}', "the answer is 1"),
        ('{"id": 1, "answer": "yes", "confidence": -3}', "confidence"),
    ],
)
def test_a_question_is_asked_a_set_number_of_times(line, problem):
    judge = judge_of(
        f"""
        for _ in sys.stdin: print({line!r}, flush=True)
        """,
        tries=2,
        grace=0.15,
    )
    (said,) = judge.judge([ROWS.pair(0, 1)])
    judge.close()
    assert isinstance(said, Unanswered)
    assert [problem in one.problem for _, one in judge._file.bad_answers()] == [True, True]


def test_a_second_answer_to_a_question_takes_nobodys_place():
    judge = judge_of("""
        for line in sys.stdin:
            asked = json.loads(line)
            for _ in range(2): say(id=asked["id"], answer="yes")
    """)
    assert len(list(judge.judge(PAIRS))) == 3
    assert kinds(judge.judge(PAIRS)) == [(0, 1, 1), (0, 2, 1), (1, 2, 1)]
    judge.close()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit(3)", r"ended \(exit code 3\) with 3 questions open"),
        ("raise RuntimeError('no model here')", r"exit code 1.*last words:.*no model here"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", r"signal 9"),
    ],
)
def test_a_program_that_dies_is_told_with_its_last_words(body, told):
    judge = judge_of(body)
    with pytest.raises(JudgeError, match=told):
        list(judge.judge(PAIRS))


def test_what_was_answered_before_it_died_is_there():
    judge = judge_of("""
        asked = json.loads(sys.stdin.readline())
        say(id=asked["id"], answer="yes")
    """)
    answers, heard = judge.judge(PAIRS), []
    with pytest.raises(JudgeError, match="2 questions open"):
        heard.extend(answers)
    assert kinds(heard) == [(0, 1, 1)]


def test_a_program_that_is_silent_is_ended():
    judge = judge_of("import time; time.sleep(60)", time_limit=0.3)
    start = time.monotonic()
    with pytest.raises(JudgeError, match=r"wrote nothing for 0\.3 s, with 3 questions open.*flush"):
        list(judge.judge(PAIRS))
    assert time.monotonic() - start < 5


def test_a_program_that_never_reads_does_not_block():
    rows = ShownRows.of({"text": ["x" * 100_000, "y" * 100_000]})
    judge = judge_of("import time; time.sleep(60)", time_limit=0.3)
    with pytest.raises(JudgeError, match="wrote nothing"):
        list(judge.judge([rows.pair(0, 1)] * 20))


def test_output_is_flushed_for_programs_in_python(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    judge = judge_of("""
        for line in sys.stdin: print(json.dumps({"id": json.loads(line)["id"], "answer": "yes"}))
    """)
    assert len(list(judge.judge(PAIRS))) == 3
    judge.close()


def test_stopping():
    judge = judge_of("import time; time.sleep(60)", grace=0.15)
    assert list(judge.judge(PAIRS, lambda: True)) == []
    end = time.monotonic() + 0.2
    assert list(judge.judge(PAIRS, lambda: time.monotonic() > end)) == []
    judge.close()


def test_what_cannot_be_started():
    with pytest.raises(JudgeError, match="'no-such-program-here' cannot be started"):
        list(CommandJudge("no-such-program-here --fast").judge(PAIRS))
    with pytest.raises(MaylinkError, match="the command is empty"):
        CommandJudge("  ")
    with pytest.raises(MaylinkError, match="is no command"):
        CommandJudge("python 'open")


def test_names_tell_the_program_and_commands_apart():
    names = [
        CommandJudge(words).source
        for words in ("python3 judges/judge.py", "python3 judges/judge.py --fast", "./match x")
    ]
    assert [name.split(":")[0] for name in names] == ["judge.py", "judge.py", "match"]
    assert len(set(names)) == 3


def test_a_key_that_a_program_prints_is_hidden():
    key = "sk-very-secret-0123"
    judge = judge_of(f"print('key {key}', flush=True); sys.exit('{key}')", secret=Secret(key))
    with pytest.raises(JudgeError, match=r"last words: \[key\]") as caught:
        list(judge.judge(PAIRS))
    assert key not in str(caught.value)
    assert [one.written for _, one in judge._file.bad_answers()] == ["key [key]"]


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_what_a_program_has_started_ends_with_it():
    judge = CommandJudge("sh -c 'sleep 60; true'", source="shell", time_limit=0.2)
    with pytest.raises(JudgeError, match="wrote nothing"):
        list(judge.judge(PAIRS))
