import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from maylink.errors import FileError
from maylink.label.judges.cache import BadAnswer, Bill, JudgedEntry, JudgeFile, content_key
from maylink.label.judges.rows import ShownRows
from maylink.label.judges.words import Judgement

ROWS = ShownRows.of({"name": ["Ann", "Bob", "Ann"], "born": [1970, 1980, 1970]})


def test_keys_are_of_contents_and_not_of_rows_or_their_order():
    key = content_key("m", "p", ROWS.pair(0, 1))
    assert key == content_key("m", "p", ROWS.pair(1, 0)) == content_key("m", "p", ROWS.pair(1, 2))
    others = [
        content_key("m", "p", ROWS.pair(0, 2)),
        content_key("n", "p", ROWS.pair(0, 1)),
        content_key("m", "q", ROWS.pair(0, 1)),
        content_key("m", "p", ROWS.showing(["name"]).pair(0, 1)),
    ]
    assert len({key, *others}) == 5
    assert len(key) == 64


def test_answers_come_back_from_the_file_alone(tmp_path):
    path = tmp_path / "judges.db"
    said = Judgement(3, 7, -1, 0.9, "other town")
    with JudgeFile(path) as file:
        number = file.begin_call("m", 0.5)
        bad = [BadAnswer(1, 2, "no JSON", "purple")]
        file.end_call(
            number,
            Bill("answered", 0.1, 0.1, 100, 10, True),
            "m",
            "rows",
            [JudgedEntry("k", said)],
            bad,
        )
        file.end_call(file.begin_call("m", 0.5), Bill("failed", reason="429"), "m", "rows")
        file.begin_call("other", 0.25)
    with JudgeFile(path) as file:
        assert file.find(["k", "x"]) == {"k": said._replace(is_new=False)}
        assert file.said_of("rows", "m") == [said._replace(is_new=False)]
        assert file.said_of("others", "m") == file.said_of("rows", "n") == []
        assert file.bad_answers() == [("m", bad[0])]
        assert file.spent("m") == (2, 100, 10, 0.1, 0.1, 0)
        assert file.spent() == (3, 100, 10, 0.1, 0.35, 1)  # what is not known counts as set aside
        assert file.troubles("m") == {"429": 1}


def test_the_first_answer_to_a_question_stays():
    file = JudgeFile()
    for kind in (1, -1):
        entry = JudgedEntry("k", Judgement(0, 1, kind))
        file.end_call(file.begin_call("m", 0.0), Bill("answered"), "m", "", [entry])
    assert file.find(["k"])["k"].kind == 1


def test_answers_that_cannot_be_written_are_not_written_in_part():
    file = JudgeFile()
    number = file.begin_call("m", 0.5)
    entries = [JudgedEntry("k", Judgement(0, 1, 1)), JudgedEntry("l", Judgement(0, 2, None))]
    with pytest.raises(Exception, match="kind"):
        file.end_call(number, Bill("answered", 0.1), "m", "", entries)
    assert file.find(["k", "l"]) == {}
    assert file.spent().held == 0.5
    file.add_bad("m", [])


def test_files_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" * 100)
    with pytest.raises(FileError, match="cannot be used as a file of judges"):
        JudgeFile(path)
    assert path.read_text() == "a,b\n" * 100
    later = tmp_path / "later.db"
    JudgeFile(later).close()
    with closing(sqlite3.connect(later)) as file, file:
        file.execute("update facts set value = '99' where name = 'schema'")
    with pytest.raises(FileError, match="later maylink"):
        JudgeFile(later)


HOLDER = """
import sys, time
from maylink.label.judges.cache import JudgeFile
file = JudgeFile(sys.argv[1])
print("open", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_one_process_at_a_time_and_a_killed_one_gives_the_file_free(tmp_path):
    path = tmp_path / "judges.db"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "open\n"
    with pytest.raises(FileError, match="another maylink works with it"):
        JudgeFile(path)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    JudgeFile(path).close()
