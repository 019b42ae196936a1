"""The routes of the page: what each address answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from maylink.errors import MaylinkError
from maylink.label.gathering import AnswerError
from maylink.label.guard import Guard
from maylink.label.telling import Teller

logger = logging.getLogger(__name__)

LARGEST = 64_000  # bytes of what the page may send
MEDIA_TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
KEPT = {"cache-control": "private, max-age=600"}  # of pictures

Handler = Callable[[Request], Awaitable[Response]]


def make_app(teller: Teller, *, secret: str, port: int, finish: Callable[[], None]) -> Guard:
    """Return the page as an ASGI app.

    Parameters
    ----------
    teller : Teller
        What the page shows.
    secret : str
        The first part of every address.
    port : int
        Where the page is.
    finish : function
        Called when somebody ends the gathering.
    """
    page = LabelPage(teller, finish)
    gets: dict[str, Callable[[Request], Any]] = {
        "setup": lambda _: teller.setup(),
        "points": lambda _: teller.points(),
        "question": page.question,
        "board": page.board,
        "history": page.history,
        "pair": page.pair,
        "items": page.items,
        "state": page.state,
    }
    posts: dict[str, Callable[[dict[str, Any]], Any]] = {
        "join": page.join,
        "answer": page.answer,
        "sort": page.sort,
        "skip": page.skip,
        "take-back": page.take_back,
        "finish": page.finish,
    }
    routes = [Route("/", _asset), Route("/assets/{name}", _asset)]
    routes += [Route("/picture/{row:int}", page.picture)]
    routes += [Route(f"/{name}", _got(tell), methods=["GET"]) for name, tell in gets.items()]
    routes += [Route(f"/{name}", _posted(act), methods=["POST"]) for name, act in posts.items()]
    return Guard(Starlette(routes=routes), secret, port)


class LabelPage:
    """What the addresses answer.

    Parameters
    ----------
    teller : Teller
        What the page shows.
    finish : function
        Called when somebody ends the gathering.
    """

    def __init__(self, teller: Teller, finish: Callable[[], None]) -> None:
        self.teller, self.gathering, self._finish = teller, teller.gathering, finish

    # ------------------------------------------------------------------ asked

    def question(self, request: Request) -> Any:
        """Return the question of a person."""
        return self.teller.turn(self.gathering.turn(self._person(request.query_params)))

    def board(self, request: Request) -> Any:
        """Return the board of a person."""
        return self.teller.turn(self.gathering.board_turn(self._person(request.query_params)))

    def history(self, request: Request) -> Any:
        """Return what a person has said."""
        return self.teller.history(self._person(request.query_params))

    def pair(self, request: Request) -> Any:
        """Return two rows beside each other."""
        i, j = (self._row(request.query_params.get(end)) for end in ("i", "j"))
        return {"i": i, "j": j, "pair": self.teller.pair(i, j), "places": self._places(i, j)}

    def items(self, request: Request) -> Any:
        """Return rows as a board shows them."""
        rows = request.query_params.get("rows", "").split(",")[:50]
        return self.teller.board(tuple(self._row(row) for row in rows))

    def state(self, request: Request) -> Any:
        """Return how far things are."""
        seen = request.query_params.get("seen", "0")
        version = int(seen) if seen.isdecimal() else 0
        return self.teller.state(self._person(request.query_params), version)

    def picture(self, request: Request) -> Response:
        """Return the picture of a row."""
        pictures = self.teller.items.pictures
        picture = None if pictures is None else pictures.read(request.path_params["row"])
        if picture is None:
            return PlainTextResponse("There is no such picture.\n", 404)
        return Response(picture.content, media_type=picture.media_type, headers=KEPT)

    # ------------------------------------------------------------------ told

    def join(self, told: dict[str, Any]) -> Any:
        """Let somebody take part."""
        return {"name": self.gathering.join(told.get("name"))}

    def answer(self, told: dict[str, Any]) -> Any:
        """Take an answer, and return its number and the next question."""
        person = self._person(told)
        number = self.gathering.answer(
            person,
            told.get("i"),  # type: ignore[arg-type] # checked there
            told.get("j"),  # type: ignore[arg-type]
            told.get("kind"),  # type: ignore[arg-type]
            told.get("key"),  # type: ignore[arg-type]
            again=told.get("again") is True,
            instead_of=_number(told, "instead_of"),
        )
        return self._said(person, number) | {"next": self.teller.turn(self.gathering.turn(person))}

    def sort(self, told: dict[str, Any]) -> Any:
        """Take a board, and return its number and the next board."""
        person, rows = self._person(told), _rows(told)
        number = self.gathering.sort(
            person,
            rows,
            told.get("groups"),
            told.get("key"),  # type: ignore[arg-type] # checked there
            instead_of=_number(told, "instead_of"),
        )
        turn = self.gathering.board_turn(person)
        return self._said(person, number) | {"next": self.teller.turn(turn)}

    def skip(self, told: dict[str, Any]) -> Any:
        """Put a question or a board aside, and return the next."""
        person, rows = self._person(told), _rows(told)
        if told.get("board") is True:
            self.gathering.skip_board(person, rows)
            return {"next": self.teller.turn(self.gathering.board_turn(person))}
        if len(rows) != 2:
            raise AnswerError("rows: give the two of the question")
        self.gathering.skip(person, *rows)
        return {"next": self.teller.turn(self.gathering.turn(person))}

    def take_back(self, told: dict[str, Any]) -> Any:
        """Take back what a person said, and return it."""
        number = _number(told, "number")
        if number is None:
            raise AnswerError("number: say which answer")
        said = self.gathering.take_back(self._person(told), number)
        return {"said": None if said is None else self.teller.judgement(said)}

    def finish(self, told: dict[str, Any]) -> Any:
        """End the gathering."""
        self._person(told)
        self._finish()
        return {"finished": True}

    # ------------------------------------------------------------------ inside

    def _person(self, told: Any) -> str:
        return self.gathering.join(told.get("who"))

    def _said(self, person: str, number: int) -> dict[str, Any]:
        said = self.gathering.judgement(person, number)
        return {"number": number, "said": None if said is None else self.teller.judgement(said)}

    def _row(self, text: str | None) -> int:
        if text is None or not text.isdecimal() or int(text) >= len(self.teller.items):
            raise AnswerError(f"row {text!r}: there is none")
        return int(text)

    def _places(self, *rows: int) -> list[list[int]]:
        return self.teller.places(rows)


def _rows(told: dict[str, Any]) -> list[int]:
    rows = told.get("rows")
    if not isinstance(rows, list):
        raise AnswerError("rows: give a list of numbers")
    return rows


def _number(told: dict[str, Any], name: str) -> int | None:
    number = told.get(name)
    if number is not None and type(number) is not int:
        raise AnswerError(f"{name}: {number!r} is no number")
    return number


async def _asset(request: Request) -> Response:
    """Return a file of the page itself; names come from a list, never from the disk."""
    name = request.path_params.get("name", "page.html")
    folder = files(__package__) / "assets"
    if name not in {file.name for file in folder.iterdir()}:
        return PlainTextResponse("There is no such file.\n", 404)
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    return Response((folder / name).read_bytes(), media_type=media_type)


def _got(tell: Callable[[Request], Any]) -> Handler:
    async def handler(request: Request) -> Response:
        return await _answered(lambda: tell(request))

    return handler


def _posted(act: Callable[[dict[str, Any]], Any]) -> Handler:
    async def handler(request: Request) -> Response:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST:
                return _problem("this is too much at once", 413)
        try:
            told = json.loads(body)
        except ValueError:
            return _problem("this is no JSON", 400)
        if not isinstance(told, dict):
            return _problem("this is no JSON object", 400)
        return await _answered(lambda: act(told))

    return handler


async def _answered(work: Callable[[], Any]) -> Response:
    """Do the work in a thread, for it reads files and waits for locks; errors become sentences."""
    try:
        return JSONResponse(await run_in_threadpool(work))
    except MaylinkError as error:
        return _problem(str(error), 400)
    except Exception as error:
        logger.warning("the page: %s: %s", type(error).__name__, error)
        logger.debug("the page", exc_info=error)
        return _problem("something went wrong here; the terminal says more", 500)


def _problem(text: str, status: int) -> Response:
    return JSONResponse({"problem": text}, status)
