"""``maylink ask``: puts questions about pairs of rows to programs and language models."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from maylink.cli import ask_options, features, options
from maylink.cli.ask_dry_run import print_dry_run
from maylink.cli.ask_ending import (
    AskedFile,
    fit_and_report,
    judge_rows,
    print_end,
    write_answers,
)
from maylink.cli.ask_request import AskRequest
from maylink.cli.ask_rows import read_rows
from maylink.cli.command_words import command_words
from maylink.cli.errors import INPUT, INTERRUPTED, SUCCESS, CommandError
from maylink.cli.inputs import ReadingOptions, fitted_data, read_table, read_table_links
from maylink.cli.messages import in_command_words
from maylink.cli.printing import print_note
from maylink.cli.stage_times import StageTimes
from maylink.errors import FileError, JudgeError, counted

if TYPE_CHECKING:
    from maylink.io.data import Table
    from maylink.label.judges import Asked, Asking, JudgeLike, Spending
    from maylink.label.store import AnswerStore
    from maylink.links import Links


def ask(
    context: typer.Context,
    data: options.Data,
    judge: ask_options.Judge,
    out: ask_options.Out,
    links: options.Links = None,
    family: options.Family = "auto",
    seed: options.Seed = 0,
    fit: ask_options.Fit = True,
    questions: ask_options.Questions = None,
    batch: ask_options.Batch = 20,
    check: ask_options.Check = 0,
    source: ask_options.Source = None,
    show: ask_options.Show = None,
    tries: ask_options.Tries = 3,
    time_limit: ask_options.TimeLimit = "60s",
    dry_run: ask_options.DryRun = False,
    about: ask_options.About = None,
    prompt: ask_options.Prompt = None,
    address: ask_options.Address = None,
    key_variable: ask_options.KeyVariable = None,
    pairs_per_call: ask_options.PairsPerCall = 1,
    concurrency: ask_options.Concurrency = 4,
    retries: ask_options.Retries = 6,
    rate: ask_options.Rate = None,
    answer_tokens: ask_options.AnswerTokens = 300,
    most_calls: ask_options.MostCalls = None,
    most_cost: ask_options.MostCost = None,
    price_in: ask_options.PriceIn = None,
    price_out: ask_options.PriceOut = None,
    cache: ask_options.Cache = None,
    text: features.Text = None,
    text_as: features.TextAs = "auto",
    embeddings: features.Embeddings = None,
    ids: features.IdsFile = None,
    id: options.Id = None,  # noqa: A002
    drop: options.Drop = None,
    missing: options.Missing = "keep",
    as_: options.As = None,
    read: options.Read = None,
    read_links: options.ReadLinks = None,
    report: ask_options.Report = None,
    bad_answers: ask_options.BadAnswers = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Ask programs or language models which rows of DATA belong together, and cluster with that.

    Every answer is on disk before the next one is looked at; the same command goes on where it was.
    """
    made_of = features.FeatureOptions.of(data, text, text_as, embeddings, ids)
    reading = ReadingOptions(
        id, drop, missing, read, read_links, quiet, kinds=as_, features=made_of
    )
    request = AskRequest(
        data, tuple(judge), out, links, reading, questions, batch, check, tuple(source or ()),
        tuple(show or ()), tries, time_limit, dry_run, about, tuple(prompt or ()),
        tuple(address or ()), tuple(key_variable or ()), pairs_per_call, concurrency, retries, rate,
        answer_tokens, most_calls, most_cost, tuple(price_in or ()), tuple(price_out or ()), cache,
        bad_answers, fit, report, family, seed, force, json,
    )  # fmt: skip
    _ask_about_file(request.checked(), context)
    return SUCCESS


class _Opened(NamedTuple):
    """What is open while judges are asked."""

    table: Table
    given: Links
    store: AnswerStore
    spending: Spending
    judges: list[JudgeLike]
    asking: Asking
    stop: Any


def _ask_about_file(request: AskRequest, context: typer.Context) -> None:
    from maylink.label.judges import AskingEnd

    times = StageTimes(request.quiet)
    with _opened(request, times) as work:
        if request.dry_run:
            print_dry_run(request, work.asking, work.judges)
            return
        asked, error = _run(request, work, times)
        with times.stage("write"):
            done = AskedFile(
                work.table, work.given, work.asking.links, work.store.answers(),
                [one.source for one in work.judges], work.asking.unanswered, work.spending.file,
            )  # fmt: skip
            write_answers(request, done)
        stopped = asked is None or asked.end == AskingEnd.STOPPED
        summary, cut_short = None, None
        if request.fit and not stopped:
            summary, cut_short = fit_and_report(request, done, times)
        ended: dict[str, Any] = {"ended": str(error) if asked is None else asked.why}
        ended |= {"answers": work.asking.n_answers, "new": work.asking.n_new}
        commands = _commands(request, context, work.asking)
        print_end(request, judge_rows(done), summary, ended, commands)
    times.print()
    if error is not None:
        raise CommandError(f"{error}; what was answered is in {request.out}", INPUT) from None
    if stopped:
        cut_short = "asking was stopped early"
    if cut_short is not None:
        raise CommandError(f"{cut_short}; what was answered is in {request.out}", INTERRUPTED)


def _run(
    request: AskRequest, work: _Opened, times: StageTimes
) -> tuple[Asked | None, JudgeError | None]:
    """Ask, with a bar in a terminal; a judge that fails ends it, and what it said is kept."""
    from maylink.runtime.progress import Progress

    asking = work.asking
    before = asking.n_answers - asking.n_new
    delay = 0.0 if sys.stderr.isatty() and not request.quiet else None
    with times.stage("ask"), Progress("asking", asking.target, delay, "answer") as bar:
        bar.advance(asking.n_answers)

        def watch(n_answers: int, standing: Any) -> None:
            bar.advance()
            state: dict[str, Any] = {"clusters": standing.n_clusters}
            state["expected F"] = f"{standing.expected_f:.2f}"
            if request.prices_in:
                state["cost"] = f"{work.spending.spent.cost:.4f}"
            bar.show(**state)

        asking.watch = watch
        try:
            asked = asking.run()
        except JudgeError as error:
            return None, error
    print_note(
        "answers",
        f"{asking.n_answers} ({asking.n_new} new, {before} of earlier runs); "
        f"{in_command_words(asked.why)}",
        quiet=request.quiet,
    )
    return asked, None


@contextmanager
def _opened(request: AskRequest, times: StageTimes) -> Iterator[_Opened]:
    """Read data and links, open the files of answers, and make the judges."""
    from maylink.label.judges import Asking, AskSettings, CallCeiling, JudgeFile, Spending
    from maylink.label.judges.asking import STOPPING
    from maylink.label.store import AnswerStore
    from maylink.links import Links
    from maylink.questions import Interview
    from maylink.runtime.interrupts import CtrlC

    with times.stage("read"):
        table = read_table(request.data, request.reading, keep_text=True)
        rows = read_rows(request, table)
        given = Links.empty(rows.shown.n)
        if request.links is not None:
            given = read_table_links(table, request.links, request.reading).links
    with ExitStack() as stack:
        file = stack.enter_context(JudgeFile(_place(request, request.judges_file)))
        spending = Spending(file, CallCeiling(request.most_calls, request.most_cost))
        judges = request.make_judges(spending, rows.shown.columns)
        try:
            store = AnswerStore(_place(request, request.answers_file), rows.fingerprint)
        except FileError as error:
            raise CommandError(
                f"{error}, with another --out; --cache {request.judges_file} keeps what was paid "
                "for",
                INPUT,
            ) from error
        stack.enter_context(store)
        for judge in judges:
            stack.callback(judge.close)
        stop = stack.enter_context(CtrlC(message=STOPPING))
        with times.stage("read"):
            interview = Interview(fitted_data(table), given, random_state=request.seed)
            settings = AskSettings(request.questions, request.batch, check=request.check)
            asking = Asking(
                interview, rows.shown, judges, store, given=given,
                settings=settings, stop=lambda: stop.asked,
            )  # fmt: skip
        if asking.n_answers and not request.dry_run:
            count = counted(asking.n_answers, "answer")
            print_note("answers", f"{count} of earlier runs", quiet=request.quiet)
        yield _Opened(table, given, store, spending, judges, asking, stop)


def _place(request: AskRequest, path: str) -> str:
    """Return a file that keeps answers; a dry run makes none that is not there."""
    return ":memory:" if request.dry_run and not os.path.exists(path) else path


def _commands(request: AskRequest, context: typer.Context, asking: Asking) -> dict[str, str]:
    """Return what the user may do next, as commands."""
    import shlex

    cluster = ["maylink", "cluster", request.data, "--links", request.out]
    reading = request.reading
    cluster += [] if reading.id is None else ["--id", reading.id]
    for option, values in (
        ("--drop", reading.drop), ("--as", reading.kinds), ("--read", reading.read),
        ("--text", reading.features.text),
    ):  # fmt: skip
        for value in values or ():
            cluster += [option, value]
    if reading.features.embeddings is not None:
        cluster += ["--embeddings", reading.features.embeddings]
    more = max(2 * asking.n_answers, request.batch)
    if request.questions is not None and asking.n_answers < request.questions:
        more = request.questions  # a judge has failed, or was stopped, before it was through
    return {
        "ask more": command_words(context, questions=more, dry_run=False),
        "cluster": shlex.join([*cluster, "--out", "labels.csv"]),
    }
