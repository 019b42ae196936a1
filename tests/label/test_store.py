import os
import signal
import subprocess
import sys
import threading

import pytest

from maylink.errors import FileError
from maylink.label.store import AnswerStore
from maylink.questions import Answer


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.db"


def test_answers_come_back_in_order_from_the_file_alone(path):
    given = [Answer(0, 1, 1, "ann"), Answer(4, 2, -1, "bob", 2.0), Answer(0, 3, 0, "ann")]
    with AnswerStore(path, "rows") as store:
        store.add(given[:2], detail={"confidence": 0.9})
        store.add(given[2:])
    with AnswerStore(path, "rows") as store:
        stored = store.answers()
        assert [one.answer for one in stored] == given
        assert [one.detail for one in stored] == [{"confidence": 0.9}] * 2 + [{}]
        assert [one.answer for one in store.answers("bob")] == given[1:2]


def test_what_is_taken_back_is_not_told_but_kept(path):
    with AnswerStore(path, "rows") as store:
        first, second = store.add([Answer(0, 1, 1, "ann"), Answer(0, 2, 1, "ann")])
        store.take_back(first)
        assert [one.number for one in store.answers()] == [second]
        with pytest.raises(FileError, match="no answer 99"):
            store.take_back(99)
        assert store._file.execute("select count(*) from answers").fetchone() == (2,)


def test_boards_have_numbers_of_their_own(path):
    with AnswerStore(path, "rows") as store:
        store.add([Answer(0, 1, 1)], board=True)
        store.add([Answer(2, 3, 1)])
        store.add([Answer(4, 5, 1), Answer(4, 6, -1)], board=True)
        assert [one.board for one in store.answers()] == [1, None, 2, 2]


def test_a_file_about_other_rows_or_of_another_kind_is_refused(path, tmp_path):
    AnswerStore(path, "rows").close()
    with pytest.raises(FileError, match="about other rows"):
        AnswerStore(path, "others")
    other = tmp_path / "table.csv"
    other.write_text("a,b\n" * 100)
    with pytest.raises(FileError, match="cannot be used as a file of answers"):
        AnswerStore(other, "rows")
    assert other.read_text() == "a,b\n" * 100


def test_answers_that_cannot_be_written_are_not_written_in_part(path):
    with AnswerStore(path, "rows") as store:
        with pytest.raises(Exception, match="kind"):
            store.add([Answer(0, 1, 1), Answer(0, 2, None)])
        assert store.answers() == []
        store.add([Answer(0, 1, 1)])
        assert len(store.answers()) == 1


def test_a_request_that_comes_twice_is_written_once(path):
    with AnswerStore(path, "rows") as store:
        first = store.add([Answer(0, 1, 1), Answer(0, 2, -1)], board=True, key="one")
    with AnswerStore(path, "rows") as store:
        assert store.written("one") == first
        assert store.written("two") is None
        assert store.add([Answer(5, 6, 1)], key="one") == first
        store.take_back(*first)
        assert store.add([Answer(5, 6, 1)], key="one") == first
        assert store.answers() == []


def test_an_answer_replaces_another_with_one_stroke(path):
    with AnswerStore(path, "rows") as store:
        (old,) = store.add([Answer(0, 1, 1)])
        with pytest.raises(FileError, match="no answer 99"):
            store.add([Answer(0, 1, -1)], key="one", instead_of=[old, 99])
        assert [one.answer.kind for one in store.answers()] == [1]
        assert store.written("one") is None
        (new,) = store.add([Answer(0, 1, -1)], key="one", instead_of=[old])
        assert [one.number for one in store.answers()] == [new]
        assert store.answers_numbered([old, new, 99]) == store.answers()


def test_facts_are_remembered(path):
    with AnswerStore(path, "rows") as store:
        assert store.fact("port") is None
        store.remember("port", "1")
        store.remember("port", "2")
    with AnswerStore(path, "rows") as store:
        assert store.fact("port") == "2"


def test_several_threads_lose_nothing(path):
    with AnswerStore(path, "rows") as store:

        def answer(source):
            for j in range(1, 26):
                store.add([Answer(0, j, 1, source)])

        threads = [threading.Thread(target=answer, args=(str(s),)) for s in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert len(store.answers()) == 100
        assert all(len(store.answers(str(s))) == 25 for s in range(4))


WRITER = """
import sys
from maylink.label.store import AnswerStore
from maylink.questions import Answer
store = AnswerStore(sys.argv[1], "rows")
for j in range(1, 1000):
    store.add([Answer(0, j, 1, "ann")])
    print(j, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_an_answer_that_was_acknowledged_survives_a_kill(path):
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    told = [process.stdout.readline() for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    rest = process.communicate()[0].split()
    acknowledged = int((rest or told)[-1])
    with AnswerStore(path, "rows") as store:
        kept = [one.answer.j for one in store.answers()]
    assert kept == list(range(1, len(kept) + 1))
    assert acknowledged <= len(kept) <= acknowledged + 1
