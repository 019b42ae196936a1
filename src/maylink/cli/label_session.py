"""``maylink label`` from the first file that it reads to the last answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from maylink.cli.errors import USAGE, CommandError
from maylink.cli.gather_end import Gathered, end
from maylink.cli.inputs import fitted_data, read_table, read_table_links, row_names
from maylink.cli.label_request import LabelRequest
from maylink.cli.options import READ, parse_key_values
from maylink.cli.printing import first_few, print_note, write_stdout
from maylink.cli.stage_times import StageTimes
from maylink.cli.summary import print_summary
from maylink.errors import counted, not_one_of

if TYPE_CHECKING:
    from maylink.arrays import Index
    from maylink.cli.cluster_file import Clustered
    from maylink.io.data import Table
    from maylink.label.gathering import Gathering
    from maylink.label.items import Items
    from maylink.label.pictures import Pictures
    from maylink.label.store import AnswerStore
    from maylink.links import Links

SECONDS_TO_SAY = 1.0  # after which it is said what is waited for
SECONDS_TO_THINK = 20.0  # for the interview to end what it is about, when the gathering ends
LOOKED_AT = 200  # rows whose pictures are looked for before the page is served


def gather(request: LabelRequest) -> None:
    """Read the data, serve the page until it ends, and write what came of it."""
    from maylink.label.same_rows import file_fingerprint
    from maylink.label.store import AnswerStore

    table = read_table(request.data, request.reading, keep_text=True)
    links = None
    if request.links is not None:
        links = read_table_links(table, request.links, request.reading).links
    items = _items(request, table)
    with AnswerStore(request.answers_file, file_fingerprint(request.data, table)) as store:
        request.check_owned(store)
        _print_answers(request, store)
        start = _serve(request, table, links, items, store)
        times = StageTimes(request.quiet)

        def tell(found: Clustered | None) -> None:
            if found is not None:
                print_summary(found.summary, times, json=False, told=found.told)

        end(request, Gathered(table, links, store, request.again), times, tell, start=start)


def _items(request: LabelRequest, table: Table) -> Items:
    """Return what the page shows of rows."""
    from maylink.label.cells import read_cells
    from maylink.label.items import Items, choose_columns
    from maylink.label.pictures import Pictures

    named = {*(request.show or ()), request.pictures}
    dropped = [column for column in request.reading.drop or () if column not in named]
    settings = parse_key_values(request.reading.read, READ, "--read")
    cells = read_cells(request.data, table, {**settings, "drop": dropped})
    pictures = None
    if request.pictures is not None:
        if request.pictures not in cells.columns:
            raise CommandError(f"--pictures: {not_one_of(request.pictures, cells.columns)}", USAGE)
        folder = Path(os.path.realpath(request.data)).parent
        pictures = Pictures(folder, cells.columns[request.pictures])
        _print_pictures(pictures, request.quiet)
    beside = [*(request.reading.drop or ()), request.pictures or ""]
    shown, left_out = choose_columns(cells, request.show, beside=beside)
    if left_out:
        note = f"{len(shown)} of {len(shown) + len(left_out)} columns; --show names others"
        print_note("page", f"shows {note}", quiet=request.quiet)
    return Items(cells, shown, row_names(table), named=table.ids is not None, pictures=pictures)


def _print_pictures(pictures: Pictures, quiet: bool) -> None:
    """Say how many rows have a picture, of the first."""
    some = range(min(len(pictures.cells), LOOKED_AT))
    there = sum(map(pictures.has, some))
    if there < len(some):
        note = f"{len(some) - there} of the first {len(some)} rows have no picture in the folder"
        print_note("pictures", f"{note} of the data", quiet=quiet)


def _print_answers(request: LabelRequest, store: AnswerStore) -> None:
    said = store.answers()
    if said:
        people = first_few(list(dict.fromkeys(str(one.answer.source) for one in said)))
        note = (
            f"going on from {counted(len(said), 'answer')} in {request.answers_file}, of {people}"
        )
        print_note("answers", note, quiet=request.quiet)


def _serve(
    request: LabelRequest, table: Table, links: Links | None, items: Items, store: AnswerStore
) -> Index | None:
    """Serve the page until somebody ends it; return the clusters of the questions, if any."""
    from maylink.label.app import make_app
    from maylink.label.scatter import Scatter
    from maylink.label.server import PageServer, open_browser
    from maylink.label.telling import Teller

    X = fitted_data(table)
    gathering = _gathering(request, X, links, len(items), store)
    port = store.fact("port") or ""
    server = PageServer(request.port, int(port) if port.isdecimal() else None)
    store.remember("port", str(server.port))
    title = Path(request.data).name
    teller = Teller(
        gathering,
        items,
        title,
        lambda: Scatter.of(X),
        request.boards,
        request.show_reliability,
    )
    app = make_app(teller, secret=server.secret, port=server.port, finish=server.end)
    gathering.thinking.start()
    print_note(
        "page", "Ctrl-C here, or Finish on the page, ends the questions", quiet=request.quiet
    )

    def tell() -> None:
        write_stdout(f"{server.address}\n")
        if request.browser:
            open_browser(server.address)

    server.serve(app, tell)
    if not gathering.thinking.close(SECONDS_TO_SAY):
        print_note("page", "ended; what the model is about is finished first", quiet=request.quiet)
        gathering.thinking.close(SECONDS_TO_THINK)
    survey = gathering.thinking.survey
    return None if survey is None or gathering.thinking.is_busy else survey.labels


def _gathering(
    request: LabelRequest, X: object, links: Links | None, n: int, store: AnswerStore
) -> Gathering:
    from maylink.label.answers_as_links import for_interview
    from maylink.label.gathering import Gathering
    from maylink.label.thinking import Thinking
    from maylink.questions import Interview

    thinking = Thinking(
        lambda: Interview(X, links, random_state=request.seed),
        for_interview(store.answers()),
        reliability=request.show_reliability,
    )
    return Gathering(store, thinking, n)
