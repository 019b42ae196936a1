"""``maylink ask``: puts questions about pairs of rows to programs and language models."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from maylink.cli import ask_options, features, gather_options, options
from maylink.cli.ask_dry_run import print_dry_run
from maylink.cli.ask_ending import AskedFile, judge_rows, print_found, write_bad
from maylink.cli.ask_request import AskRequest
from maylink.cli.ask_rows import read_rows
from maylink.cli.command_words import command_words
from maylink.cli.errors import INPUT, INTERRUPTED, SUCCESS, CommandError
from maylink.cli.gather_end import Gathered, end
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
    out: gather_options.Out,
    links: options.Links = None,
    family: options.Family = "auto",
    seed: options.Seed = 0,
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
    to: gather_options.To = None,
    answers: gather_options.Answers = None,
    fit: gather_options.Fit = True,
    clusters: gather_options.Clusters = None,
    report: gather_options.Report = None,
    bad_answers: ask_options.BadAnswers = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Ask programs or language models which rows of DATA belong together, and cluster with that.

    Every answer is on disk before the next one is looked at; the same command goes on where it was.
    """
    # Long because each option of the command is a parameter, and has a line of its own.
    made_of = features.FeatureOptions.of(data, text, text_as, embeddings, ids)
    reading = ReadingOptions(
        id, drop, missing, read, read_links, quiet, kinds=as_, features=made_of
    )
    request = AskRequest(
        data=data, out=out, links=links, reading=reading, to=to, answers=answers, fit=fit,
        clusters=clusters, report=report, family=family, seed=seed, force=force, json=json,
        judges=tuple(judge), questions=questions, batch=batch, check_pairs=check,
        sources=tuple(source or ()), show=tuple(show or ()), tries=tries, time_limit=time_limit,
        dry_run=dry_run, about=about, prompts=tuple(prompt or ()), addresses=tuple(address or ()),
        key_variables=tuple(key_variable or ()), pairs_per_call=pairs_per_call,
        concurrency=concurrency, retries=retries, rate=rate, answer_tokens=answer_tokens,
        most_calls=most_calls, most_cost=most_cost, prices_in=tuple(price_in or ()),
        prices_out=tuple(price_out or ()), cache=cache, bad_answers=bad_answers,
    )  # fmt: skip
    request.check()
    _ask_about_file(request, context)
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
        stopped = asked is None or asked.end == AskingEnd.STOPPED
        _end(request, work, times, context, asked.why if asked else str(error), fit=not stopped)
    kept = f"what was answered is in {request.answers_file}"
    if error is not None:
        raise CommandError(f"{error}; {kept}", INPUT) from None
    if stopped:
        raise CommandError(f"asking was stopped early; {kept}", INTERRUPTED)


def _end(
    request: AskRequest,
    work: _Opened,
    times: StageTimes,
    context: typer.Context,
    why: str,
    *,
    fit: bool,
) -> None:
    """Write, cluster with the links, and print what was found and how to go on."""
    from maylink.label.judges.gathered import calibrated

    asking, sources = work.asking, [one.source for one in work.judges]
    done = AskedFile(
        work.table, work.given, work.store.answers(), sources, asking.unanswered,
        work.spending.file,
    )  # fmt: skip
    with times.stage("write"):
        write_bad(request, done)
    go_on = _go_on(request, context, asking)
    ended = {"ended": why, "answers": asking.n_answers, "new": asking.n_new, "go_on": go_on}
    end(
        request,
        Gathered(work.table, work.given, work.store, go_on),
        times,
        lambda found: print_found(request, judge_rows(done), found, times, ended),
        fit=fit,
        parted=lambda links: calibrated(links, sources),
        start=asking.interview.labels,
    )


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
            path = _place(request, request.answers_file)
            store = stack.enter_context(AnswerStore(path, rows.fingerprint))
        except FileError as error:
            raise CommandError(
                f"{error}, with another --out; --cache {request.judges_file} keeps what was paid "
                "for",
                INPUT,
            ) from error
        request.check_owned(store)
        for judge in judges:
            stack.callback(judge.close)
        stop = stack.enter_context(CtrlC(message=STOPPING))
        with times.stage("read"):
            interview = Interview(fitted_data(table), given, random_state=request.seed)
            settings = AskSettings(request.questions, request.batch, check=request.check_pairs)
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


def _go_on(request: AskRequest, context: typer.Context, asking: Asking) -> str:
    """Return the command that asks on, of more questions where all are answered."""
    more = max(2 * asking.n_answers, request.batch)
    if request.questions is not None and asking.n_answers < request.questions:
        more = request.questions  # a judge has failed, or was stopped, before it was through
    return command_words(context, questions=more, dry_run=False, force=None, quiet=None)
