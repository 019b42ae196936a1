"""``maylink ask``: with programs, and with a server of our own on loopback."""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from chat_server import ChatStub, in_turn, mixed, people, serving
from command_line import run, run_captured
from maylink import read_links
from plain_interview import PlainInterview

SLOW = "MAYLINK_SLOW" in os.environ
KEY = "sk-very-secret-0123"
JUDGE = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    same = asked["a"]["group"] == asked["b"]["group"]
    print(json.dumps({"id": asked["id"], "answer": same, "confidence": 80}), flush=True)
"""
COMMAND = f"{sys.executable} judge.py"
DATA = ("data.csv", "--id", "who", "--as", "group=category", "--as", "size=number")
PRICES = ("--price-in", "1", "--price-out", "4")


@pytest.fixture(autouse=True)
def plain_interview(monkeypatch):
    """Which questions are asked is tested elsewhere."""
    monkeypatch.setattr("maylink.questions.Interview", PlainInterview)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(people(30))
    frame.insert(0, "who", [f"p{row}" for row in range(30)])
    frame["size"] = [round(5.0 * (row % 4) + 0.01 * row, 2) for row in range(30)]
    frame.to_csv("data.csv", index=False)
    Path("judge.py").write_text(JUDGE)
    return tmp_path


def ask(*words, fit=False):
    return run_captured("ask", *DATA, "--out", "links.csv", *([] if fit else ["--no-fit"]), *words)


def chat(address, *words, **more):
    return ask("--judge", "openai:tiny", "--address", address, *words, **more)


def group(name):
    return int(str(name)[1:]) % 4


def check_links(n, path="links.csv"):
    """There are n links, and each is right."""
    frame = pd.read_csv(path)
    assert len(frame) == n
    same = [group(i) == group(j) for i, j in zip(frame["i"], frame["j"], strict=True)]
    assert (frame["kind"] == "may").tolist() == same
    assert not frame.duplicated(["i", "j", "source"]).any()
    return frame


# ---------------------------------------------------------------------- programs


def test_a_program_answers_and_the_same_command_goes_on(folder):
    done = ask("--judge", COMMAND, "--questions", "20")
    assert done.code == 0, done.err
    frame = check_links(20)
    assert frame["weight"].round(6).eq(0.6).all()
    assert "judges   see name, group, size" in done.err
    assert "20 (20 new, 0 of earlier runs); all questions are answered" in done.err
    again = ask("--judge", COMMAND, "--questions", "20")
    assert again.code == 0
    assert "20 (0 new, 20 of earlier runs)" in again.err
    more = ask("--judge", COMMAND, "--questions", "35")
    assert more.code == 0
    check_links(35)
    assert "maylink ask data.csv" in more.out
    assert "--questions 70" in more.out
    assert more.out.splitlines()[-1].startswith("go on     maylink ask data.csv --judge")


def test_clusters_report_and_reliability_at_the_end(folder):
    Path("human.csv").write_text("i,j,kind,source\np0,p4,may,ann\np1,p2,may-not,ann\n")
    Path("coin.py").write_text(
        JUDGE.replace("80", "55").replace("same =", "same = hash(line) % 2 or")
    )
    words = (
        "--judge", COMMAND, "--judge", f"{sys.executable} coin.py", "--source", "good",
        "--source", "poor", "--links", "human.csv", "--check", "2", "--questions", "60",
        "--family", "gaussian",
    )  # fmt: skip
    done = ask(*words, fit=True)
    assert done.code == 0, done.err
    for name in ("ann", "good, 75% to 100% sure", "poor, 50% to 75% sure"):
        assert f"  {name}  " in done.out
    assert "2 of 2" in done.out
    clusters = pd.read_csv("links.csv.clusters.csv")
    assert clusters["who"].tolist() == [f"p{row}" for row in range(30)]
    assert "<title>Clusters of data.csv</title>" in Path("links.csv.report.html").read_text("utf-8")
    assert set(pd.read_csv("links.csv")["source"]) == {"ann", "good", "poor"}
    assert done.out.splitlines()[-5:-1] == [
        "answers   links.csv.answers.db",
        "links     links.csv",
        "clusters  links.csv.clusters.csv",
        "report    links.csv.report.html",
    ]
    again = ask(*words, "--clusters", "c.csv", "--report", "page.html", fit=True)
    assert again.code == 0, again.err
    assert clusters.equals(pd.read_csv("c.csv"))
    assert "report    page.html" in again.out


@pytest.mark.parametrize("begins", [True, False])
def test_the_fit_begins_at_the_clusters_of_the_questions_where_they_know_better(
    folder, monkeypatch, begins
):
    monkeypatch.setattr("maylink.cli.cluster_file.tells_better", lambda *_: begins)
    done = ask("--judge", COMMAND, "--questions", "20", fit=True)
    assert done.code == 0, done.err
    assert ("begins at the clusters of the questions" in done.err) == begins
    clusters = pd.read_csv("links.csv.clusters.csv")["cluster"]
    assert clusters.nunique() == (1 if begins else 4)


def test_the_last_line_is_a_command_that_goes_on(folder):
    done = ask("--judge", COMMAND, "--questions", "12")
    title, _, line = done.out.splitlines()[-1].partition("     ")
    assert title == "go on"
    again = run_captured(*shlex.split(line)[1:])
    assert again.code == 0, again.err
    assert "24 (12 new, 12 of earlier runs)" in again.err
    check_links(24)


def test_label_and_ask_write_their_files_by_the_same_options(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shared = ("--out", "--to", "--answers", "--clusters", "--report", "--fit", "--links",
              "--family", "--seed", "--force")  # fmt: skip
    helps = []
    for command in ("ask", "label"):
        assert run(command, "--help") == 0
        lines = capsys.readouterr().out.splitlines()
        helps.append({o: next(" ".join(x.split()) for x in lines if f" {o} " in x) for o in shared})
    assert helps[0] == helps[1]


def test_json(folder):
    done = ask("--judge", COMMAND, "--questions", "6", "--json", "-q")
    told = json.loads(done.out)
    assert (told["answers"], told["new"], told["fit"]) == (6, 6, None)
    assert told["go_on"].startswith("maylink ask data.csv --judge")
    assert told["sources"][0]["answers"] == 6
    assert done.err == ""


def test_links_by_the_name_of_the_file_and_rows_that_were_left_out(folder):
    lines = Path("data.csv").read_text().splitlines()
    lines[3] = lines[3].rpartition(",")[0] + ","  # p2 has no size
    Path("data.csv").write_text("\n".join(lines) + "\n")
    words = ["--missing", "drop-rows", "--judge", COMMAND, "--questions", "15", "--no-fit", "-q"]
    for out in ("links.jsonl", "links.npz"):
        assert run("ask", "data.csv", "--id", "who", *words, "--out", out) == 0
        links = read_links(
            out, **({"ids": [f"p{row}" for row in range(30)]} if "json" in out else {})
        )
        assert links.n == 30
        assert links.n_links == 15
        assert not {2} & {*links.i.tolist(), *links.j.tolist()}
        assert ((links.kind > 0) == (links.i % 4 == links.j % 4)).all()


def test_the_option_tells_the_format_and_where_answers_are_kept(folder):
    words = ("--judge", COMMAND, "--questions", "9", "--no-fit", "-q", "--answers", "kept.db")
    for out, layout in (("all", "csv"), ("o.json", "answers"), ("o.csv", "splink")):
        assert run("ask", *DATA, *words, "--out", out, "--to", layout) == 0
        found = read_links(out, ids=[f"p{row}" for row in range(30)])
        assert found.n_links == 9
        assert ((found.kind > 0) == (found.i % 4 == found.j % 4)).all()
        assert not Path(f"{out}.answers.db").exists()


def test_columns_that_judges_see(folder):
    Path("spy.py").write_text(JUDGE.replace("same =", 'open("seen", "a").write(line); same ='))
    spy = f"{sys.executable} spy.py"
    assert ask("--judge", spy, "--questions", "1", "--show", "group,who").code == 0
    seen = json.loads(Path("seen").read_text())
    assert list(seen["a"]) == ["group", "who"]
    assert seen["texts"][0].startswith("group: g")
    wrong = ask("--judge", spy, "--questions", "1", "--show", "grop", "--force")
    assert wrong.code == 3
    assert "--show: 'grop' is not one of who, name" in wrong.err


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ("import sys; sys.exit('no model')", "ended (exit code 1) with 12 questions open"),
        ("for line in open(0): print('purple', flush=True)", "left 10 questions in a row"),
        ("import time; time.sleep(99)", "wrote nothing for 0.4 s"),
    ],
)
def test_a_program_that_fails(folder, judge, told):
    Path("bad.py").write_text(judge)
    done = ask(
        "--judge", f"{sys.executable} bad.py", "--questions", "12", "--time-limit", "0.4s",
        "--tries", "1", "--bad-answers", "bad.csv",
    )  # fmt: skip
    assert done.code == 3
    assert told in done.err
    assert "what was answered is in links.csv" in done.err
    assert "--questions 12" in done.out  # not more than was asked for, nor less
    bad = "12 bad answers are not among the 0 answers" in done.out
    assert bad == ("purple" in judge)
    assert pd.read_csv("bad.csv")["written"].tolist() == ["purple"] * 12 * ("purple" in judge)
    assert "answers  none; nothing is written" in done.err
    assert not Path("links.csv").exists()


def test_what_was_answered_before_a_program_died_is_written(folder):
    Path("dying.py").write_text(JUDGE.replace("same =", "asked['id'] < 8 or sys.exit(2); same ="))
    done = ask("--judge", f"{sys.executable} dying.py", "--questions", "20", "--batch", "5")
    assert done.code == 3
    assert "exit code 2" in done.err
    check_links(7)
    mended = ask("--judge", COMMAND, "--source", "mended", "--questions", "4")
    assert mended.code == 0
    check_links(11)


# ---------------------------------------------------------------------- language models


def test_a_model_behind_an_address(folder, monkeypatch):
    stub = ChatStub()
    with serving(stub) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        done = ask(
            "--judge", "openai:tiny", "--about", "Rows of one group belong together.",
            "--questions", "24", "--pairs-per-call", "4", *PRICES,
        )  # fmt: skip
        assert done.code == 0, done.err
        check_links(24)
        assert stub.calls == 6
        assert "Rows of one group" in stub.prompts[0]
        assert "0.0008" in done.out  # 600 tokens in, 60 out
        again = ask("--judge", "openai:tiny", "--about", "Rows of one group belong together.",
                    "--questions", "24", "--pairs-per-call", "4")  # fmt: skip
        assert again.code == 0
        assert stub.calls == 6
    assert set(stub.paid.values()) == {1}


def test_nothing_is_paid_twice_even_if_the_answers_are_lost(folder):
    stub = ChatStub()
    with serving(stub) as address:
        assert chat(address, "--questions", "10").code == 0
        os.remove("links.csv.answers.db")
        assert chat(address, "--questions", "10").code == 4  # whose are these links?
        assert chat(address, "--questions", "10", "--force").code == 0
        check_links(10)
        os.remove("links.csv")
        words = [
            "--cache",
            "links.csv.judges.db",
            "--questions",
            "10",
            "--no-fit",
            "--out",
            "b.csv",
        ]
        judge = ["--judge", "openai:tiny", "--address", address]
        assert run_captured("ask", *DATA, *judge, *words).code == 0
        check_links(10, "b.csv")
    assert stub.calls == 10


def test_two_models_with_prompts_of_their_own(folder):
    Path("one.txt").write_text("{about}\n\nRow A\n{a}\n\nRow B\n{b}")
    Path("two.txt").write_text("Row A\nname: {a.name}\ngroup: {a.group}\n\nRow B\n{b}")
    stub = ChatStub()
    with serving(stub) as address:
        done = ask(
            *("--judge", "openai:tiny", "--judge", "openai:tiny", "--address", address),
            *("--prompt", "one.txt", "--prompt", "two.txt", "--questions", "8"),
        )
    assert done.code == 0, done.err
    frame = check_links(8)
    assert sorted(frame["source"].str.startswith("tiny:").groupby(frame["source"]).size()) == [4, 4]


def test_a_ceiling_is_held_and_said(folder):
    stub = ChatStub(mixed("busy", "failing", share=0.2))
    with serving(stub) as address:
        done = chat(address, "--questions", "50", "--most-calls", "12")
        assert done.code == 0
        assert stub.calls == 12
        assert "--most-calls: all 12 calls are made" in done.err
        n = len(check_links(len(stub.paid)))
        assert chat(address, "--questions", "50", "--most-calls", "12").code == 0
        assert stub.calls == 12
        assert chat(address, "--questions", str(n + 3), "--most-calls", "40").code == 0
        check_links(n + 3)
    assert set(stub.paid.values()) == {1}


def test_a_dry_run_sends_nothing_and_writes_nothing(folder):
    before = sorted(os.listdir())
    stub = ChatStub()
    with serving(stub) as address:
        done = chat(address, "--judge", COMMAND, "--questions", "40", "--dry-run", *PRICES)
    assert done.code == 0, done.err
    assert stub.calls == 0
    assert sorted(os.listdir()) == before
    assert "Row A\nname: person" in done.out
    assert '"texts": [' in done.out
    assert "calls      20, without retries" in done.out
    assert "cost       about 0.0" in done.out
    assert "Nothing was sent" in done.out


def test_bad_answers_are_kept_apart(folder):
    stub = ChatStub(in_turn("nonsense", "refusing"))
    with serving(stub) as address:
        done = chat(address, "--questions", "4", "--concurrency", "1", "--bad-answers", "bad.csv")
    assert done.code == 0, done.err
    bad = pd.read_csv("bad.csv")
    assert bad["written"].str.contains("purple|sorry").tolist() == [True, True]
    check_links(4)


@pytest.mark.parametrize("mood", ["honest", "locked", "talkative", "dropped", "strict", "failing"])
@pytest.mark.parametrize("debug", [False, True])
def test_the_key_reaches_no_output_and_no_file(folder, mood, debug, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    stub = ChatStub(in_turn(then=mood))
    with serving(stub) as address:
        done = run_captured(
            *(["--debug"] if debug else []), "ask", *DATA, "--out", "links.csv", "--no-fit",
            "--judge", "openai:tiny", "--address", address, "--questions", "3", "--key-variable",
            "MY_KEY", "--bad-answers", "bad.csv", "--tries", "1", "--retries", "0",
        )  # fmt: skip
    assert stub.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert (done.code == 0) == (mood == "honest")
    assert ("Traceback" in done.err) == (debug and done.code != 0)
    for text in (done.out, done.err):
        assert KEY not in text
    for path in folder.iterdir():
        assert KEY.encode() not in path.read_bytes(), path


def test_a_key_in_place_of_a_variable_is_not_repeated(folder):
    done = chat("http://127.0.0.1:1/v1", "--questions", "3", "--key-variable", KEY)
    assert done.code == 3
    assert KEY not in done.err + done.out
    assert "--key-variable: give the name of an environment variable" in done.err


# ---------------------------------------------------------------------- how it ends


RUN = "import sys; from maylink.cli import main; sys.exit(main(sys.argv[1:]))"


def in_process(*words, **environment):
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            RUN,
            "ask",
            *DATA,
            "--out",
            "links.csv",
            "--no-fit",
            *map(str, words),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def wait_for_held(stub, process, n):
    """Wait until the server holds so many requests of a process."""
    for _ in range(n):
        while not stub.held.acquire(timeout=0.2):
            assert process.poll() is None, process.communicate()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_run_goes_on_and_pays_nothing_twice(folder):
    n, first = (200, 90) if SLOW else (30, 11)
    stub = ChatStub(in_turn(*["honest"] * first, then="held"))
    stub.gate = threading.Event()
    words = ["--judge", "openai:tiny", "--questions", n, "--concurrency", "3", "--batch", "25"]
    with serving(stub) as address:
        process = in_process(*words, "--address", address)
        wait_for_held(stub, process, 3)  # all threads wait: every answer that was sent is kept
        process.kill()
        process.communicate()
        assert len(stub.paid) == first
        assert not Path("links.csv").exists()
        stub.mood = in_turn()
        before = set(stub.paid)
        done = chat(address, *words[2:])
        assert done.code == 0, done.err
        check_links(n)
        assert set(stub.paid.values()) == {1}
        assert before < set(stub.paid)
        assert len(stub.paid) == n
        assert stub.calls == n + 3  # those that were under way when it was killed


@pytest.mark.skipif(not SLOW, reason="takes long: set MAYLINK_SLOW=1 to run it")
def test_a_run_that_is_killed_at_any_moment_goes_on(folder):
    n, concurrency, kills, chance = 500, 4, 0, random.Random(0)
    stub = ChatStub(mixed("busy", "failing", "dropped", "nonsense", share=0.2))
    words = ["--judge", "openai:tiny", "--questions", n, "--concurrency", concurrency]
    with serving(stub) as address:
        words += ["--address", address, "--most-calls", "2000"]
        while kills < 8:
            process = in_process(*words)
            try:
                process.communicate(timeout=2.5 + 1.5 * chance.random())
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
        done = ask(*words)
    assert done.code == 0, done.err
    assert kills > 0
    check_links(435)  # all pairs that there are
    twice = [pair for pair, times in stub.paid.items() if times > 1]
    assert len(twice) <= concurrency * kills
    assert max(stub.paid.values()) <= 1 + kills


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_writes_what_was_answered(folder):
    stub = ChatStub(in_turn(*["honest"] * 7, then="held"))
    stub.gate = threading.Event()
    with serving(stub) as address:
        process = in_process(
            "--judge", "openai:tiny", "--address", address, "--questions", "50", "--concurrency", 2
        )
        wait_for_held(stub, process, 2)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        stub.gate.set()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopping after the answers under way" in err
    assert "asking was stopped early; what was answered is in links.csv" in err
    assert "maylink ask data.csv" in out
    check_links(9)
    assert stub.calls == 9


def test_two_at_a_time_are_refused(folder):
    from maylink.label.judges import JudgeFile

    with JudgeFile("links.csv.judges.db"):
        done = ask("--judge", COMMAND, "--questions", "5")
    assert done.code == 3
    assert "another maylink works with it" in done.err


# ---------------------------------------------------------------------- what is refused


def test_a_file_that_is_not_ours_is_not_written_over(folder):
    Path("links.csv").write_text("mine")
    done = ask("--judge", COMMAND, "--questions", "5")
    assert done.code == 4
    assert "say --force" in done.err
    assert sorted(os.listdir()) == ["data.csv", "judge.py", "links.csv"]
    assert ask("--judge", COMMAND, "--questions", "5", "--force").code == 0
    Path("links.csv").write_text(Path("links.csv").read_text() + "p0,p1,may,1,me\n")
    changed = ask("--judge", COMMAND, "--questions", "8")
    assert changed.code == 4
    assert "was not written from the answers in links.csv.answers.db" in changed.err


def test_other_rows_are_told_and_how_to_keep_what_was_paid(folder):
    assert ask("--judge", COMMAND, "--questions", "5").code == 0
    with open("data.csv", "a") as file:
        file.write("p30,person 30,g2,10.3\n")
    done = ask("--judge", COMMAND, "--questions", "5")
    assert done.code == 3
    assert "about other rows" in done.err
    assert "--cache links.csv.judges.db" in done.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--judge", "openai:m"], 2, "--address: where does the model answer"),
        (["--judge", "openai:m", "--address", "nowhere"], 3, "--address: it is no URL"),
        (["--judge", "openai:", "--address", "http://h/v1"], 3, "its name is empty"),
        (["--judge", " "], 2, "--judge: it is empty"),
        (["--judge", "x", "--most-calls", "3"], 2, "--most-calls: of which language model?"),
        (["--judge", "openai:m", "--most-cost", "3"], 2, "--most-cost: say what a million"),
        (["--judge", "openai:m", "--price-in", "3"], 2, "give both"),
        (["--judge", "openai:m", "--price-in", "-1", "--price-out", "1"], 2, "not below 0"),
        (["--judge", "openai:m", "--rate", "0"], 2, "--rate"),
        (["--judge", "x", "--check", "3"], 2, "--check: of which links?"),
        (["--judge", "x", "--time-limit", "soon"], 2, "--time-limit: 'soon' is not a time"),
        (["--judge", "x", "--judge", "y", "--source", "one"], 2, "--source: given 1 times for 2"),
        (["--judge", "x", "--judge", "x"], 3, "two are called"),
        (["--judge", "x", "--report", "page.html"], 2, "--report: there is nothing to tell"),
        (["--judge", "x", "--clusters", "c.csv"], 2, "--clusters: there is nothing to tell"),
        (["--judge", "x", "--questions", "0"], 2, "--questions"),
        (["--judge", "x", "--out", "data.csv"], 2, "--out: data.csv is also DATA"),
        (["--judge", "x", "--out", "links.xyz"], 4, "the name does not tell a format"),
        (["--judge", "x", "--out", "-"], 2, "--out: cannot go to standard output"),
        (["--judge", "x", "--links", "gone.csv"], 3, "gone.csv: cannot be read"),
        (["--judge", "no-such-program"], 3, "'no-such-program' cannot be started"),
        (["--judge", "openai:m", "--address", "http://h/v1", "--prompt", "no.txt"], 3, "no.txt"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(folder, words, code, told):
    done = ask(*words)
    last = done.err.splitlines()[-1]
    assert (done.code, last.startswith("maylink: ")) == (code, True), done.err
    assert told in last


@pytest.mark.parametrize("data", ["-", "."])
def test_data_must_be_a_file(folder, data):
    done = run_captured("ask", data, "--judge", COMMAND, "--out", "links.csv")
    assert done.code == 2
    assert "name a file" in done.err


def test_without_httpx_one_sentence_says_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    done = chat("http://127.0.0.1:1/v1", "--questions", "3")
    assert done.code == 1
    assert "pip install 'maylink[judge]'" in done.err
