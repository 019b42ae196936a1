import random
import sqlite3
import threading
import time

import pytest

from maylink.errors import CeilingError
from maylink.label.judges.budget import CallCeiling, Prices, Spending, likely_tokens, most_tokens
from maylink.label.judges.cache import Bill, JudgeFile


def test_calls_are_counted_before_they_are_sent(tmp_path):
    path = tmp_path / "judges.db"
    with JudgeFile(path) as file:
        spending = Spending(file, CallCeiling(calls=2))
        assert spending.reserve("m", 0.0).number == 1
        assert file.spent().calls == 1
        spending.reserve("m", 0.0)
        with pytest.raises(CeilingError, match="all 2 calls are made"):
            spending.reserve("m", 0.0)
    with JudgeFile(path) as file:  # the process was killed: both may have been paid for
        with pytest.raises(CeilingError):
            Spending(file, CallCeiling(calls=2)).reserve("m", 0.0)
        Spending(file, CallCeiling(calls=3)).reserve("m", 0.0)


def test_what_is_set_aside_counts_until_it_is_known_what_was_used():
    spending = Spending(JudgeFile(), CallCeiling(cost=1.0))
    first = spending.reserve("m", 0.7)
    blocked = []
    thread = threading.Thread(target=lambda: blocked.append(spending.reserve("m", 0.7)))
    thread.start()
    time.sleep(0.1)
    assert not blocked  # it waits: the first may turn out cheaper
    spending.settle(first, Bill("answered", 0.1, 0.1), "m")
    thread.join(5)
    assert blocked[0].most == 0.7
    spending.settle(blocked[0], Bill("answered", 0.7, 0.7), "m")
    with pytest.raises(CeilingError, match=r"0\.8 of 1 .* may cost 0\.7"):
        spending.reserve("m", 0.7)
    assert spending.reserve("m", 0.2) is not None


def test_waiting_for_money_ends_when_it_is_time_to_stop():
    spending = Spending(JudgeFile(), CallCeiling(cost=1.0))
    spending.reserve("m", 1.0)
    end = time.monotonic() + 0.1
    assert spending.reserve("m", 1.0, lambda: time.monotonic() > end) is None


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_many_threads_never_pass_a_ceiling(seed):
    file = JudgeFile()
    spending = Spending(file, CallCeiling(calls=150, cost=3.0))
    chance, lock, most_seen = random.Random(seed), threading.Lock(), []

    def work():
        while True:
            with lock:
                most, share, lost = 0.02 + 0.08 * chance.random(), chance.random(), chance.random()
            try:
                call = spending.reserve("m", most)
            except CeilingError:
                return
            spent = file.spent()
            most_seen.append((spent.calls, spent.held))
            held = most if lost < 0.1 else share * most
            spending.settle(call, Bill("answered", held, held), "m")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert max(calls for calls, _ in most_seen) <= 150
    assert max(held for _, held in most_seen) <= 3.0 + 1e-9
    assert file.spent().calls == 150 or file.spent().held > 3.0 - 0.1  # and it is used up


def test_sums_that_rounding_pushes_over_still_fit():
    spending = Spending(JudgeFile(), CallCeiling(cost=0.3))
    for _ in range(3):  # 0.1 + 0.1 + 0.1 > 0.3 in floating point
        spending.settle(spending.reserve("m", 0.1), Bill("answered", 0.1, 0.1), "m")
    with pytest.raises(CeilingError):
        spending.reserve("m", 1e-3)


def test_a_call_that_cannot_be_written_down_is_not_sent():
    file = JudgeFile()
    spending = Spending(file, CallCeiling(cost=1.0))
    file.close()
    with pytest.raises(sqlite3.ProgrammingError):
        spending.reserve("m", 0.5)
    assert spending._held == 0.0


def test_no_prompt_has_more_tokens_than_bytes():
    for text in ("plain words", "日本語", "🙂🙂", ""):
        assert most_tokens(text) >= len(text.encode())
        assert likely_tokens(text) <= most_tokens(text)
    assert Prices(2.0, 10.0).cost(500_000, 100_000) == 2.0
