"""One call to a language model behind an OpenAI-compatible address, and how it ended.

Nothing is raised: whatever a server does, or does not do, is told as a :class:`ChatReply`. So no
exception of the HTTP library, which holds the request with its key, goes any further.
"""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from maylink.errors import MaylinkError
from maylink.label.judges.pacing import told_to_wait
from maylink.label.judges.secret import Secret

ANSWERED, REFUSED, FATAL, BUSY, LOST, ADAPTED = (
    "answered", "refused", "fatal", "busy", "lost", "adapted",
)  # fmt: skip
FATAL_STATUS = (401, 402, 403, 404, 405, 407, 410, 501)
BUSY_STATUS = (408, 409, 425, 429)
LARGEST = 4_000_000  # bytes of a reply that are read
TOKENS, COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"


class ChatReply(NamedTuple):
    """How a call ended.

    Parameters
    ----------
    state : str
        "answered"; "refused", this prompt is not taken; "fatal", no prompt would be; "busy",
        nothing was done; "lost", nobody knows what was done; "adapted", to be sent again at once.
    text : str
        What the model wrote.
    tokens : (int, int), optional
        Of prompt and reply, where the server tells.
    problem : str
        What went wrong.
    reason : str
        The same in a word or two, to be counted.
    wait : float, optional
        Seconds to wait, where the server tells.
    """

    state: str
    text: str = ""
    tokens: tuple[int, int] | None = None
    problem: str = ""
    reason: str = ""
    wait: float | None = None


class ChatServer:
    """A server that answers chat completions.

    Parameters
    ----------
    address : str
        Such as ``https://api.openai.com/v1``; ``/chat/completions`` is added.
    model : str
        The name of the model.
    key : Secret
        Told to this server only.
    time_limit : float
        Seconds for a call as a whole.
    connections : int
        Calls at a time.
    temperature : float, optional
        0 makes answers as repeatable as the server can; None leaves it to the server.
    """

    def __init__(
        self,
        address: str,
        model: str,
        key: Secret,
        *,
        time_limit: float = 60.0,
        connections: int = 4,
        temperature: float | None = 0.0,
    ) -> None:
        self.url, self.model, self.key = checked_address(address), model, key
        self.time_limit, self.connections = time_limit, connections
        self._token_name = TOKENS
        self._options: dict[str, Any] = {} if temperature is None else {"temperature": temperature}
        self._client: Any = None

    def open(self) -> None:
        """Make ready for calls.

        Raises
        ------
        ImportError
            If httpx is not installed.
        """
        if self._client is not None:
            return
        try:
            import httpx
        except ImportError:
            raise ImportError(
                "a language model is asked by httpx; install it with: pip install 'maylink[judge]'"
            ) from None
        self._client = httpx.Client(
            timeout=httpx.Timeout(self.time_limit),
            limits=httpx.Limits(max_connections=self.connections),
            follow_redirects=False,  # another host would be told the key
            verify=self.url.startswith("https"),  # certificates take a while to load
        )

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def send(self, prompt: str, answer_tokens: int) -> ChatReply:
        """Send a prompt, and return how that ended.

        Parameters
        ----------
        prompt : str
            The message of the user.
        answer_tokens : int
            The most tokens of the reply.
        """
        import httpx

        payload = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            self._token_name: answer_tokens,
            **self._options,
        }
        deadline, body = time.monotonic() + self.time_limit, bytearray()
        try:
            with self._client.stream(
                "POST", self.url, json=payload, headers=self.key.header()
            ) as response:
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() > deadline:
                        return _lost("time-out", f"the reply took over {self.time_limit:g} s")
                    if len(body) > LARGEST:
                        return _lost("endless reply", f"the reply has over {LARGEST:,} bytes")
        except httpx.ConnectError as error:
            return ChatReply(BUSY, problem=self._told(error), reason="no connection")
        except httpx.TimeoutException:
            return _lost("time-out", f"there was no reply within {self.time_limit:g} s")
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            return _lost("connection lost", self._told(error))
        text = self.key.hidden_in(body.decode("utf-8", "replace"))
        return self._read(response.status_code, dict(response.headers), text)

    def _told(self, error: Exception) -> str:
        """Return what an exception says, and nothing of what it holds."""
        return self.key.hidden_in(f"{type(error).__name__}: {error}".rstrip(": "))

    def _read(self, status: int, headers: dict[str, str], text: str) -> ChatReply:
        if 200 <= status < 300:
            return read_body(text)
        told = f"{status}: {_message(text)}"
        if status == 429 and "insufficient_quota" in text:
            return ChatReply(FATAL, problem=told, reason=str(status))
        if status in FATAL_STATUS or status < 400:
            return ChatReply(FATAL, problem=told + self._hint(status), reason=str(status))
        if status in BUSY_STATUS or status >= 500:
            wait = told_to_wait(headers.get("retry-after"))
            return ChatReply(BUSY, problem=told, reason=str(status), wait=wait)
        if status == 400 and self._adapt(text):
            return ChatReply(ADAPTED, problem=told, reason="other parameters")
        return ChatReply(REFUSED, problem=told, reason=str(status))

    def _hint(self, status: int) -> str:
        if status in (401, 403):
            return "; is the key right?" if self.key.is_set else "; it was given no key"
        if status in (404, 405) or status < 400:
            return f"; is the address right ({self.url}), and the model ({self.model})?"
        return ""

    def _adapt(self, text: str) -> bool:
        """Leave out what this server does not take; whether there was such a thing."""
        if self._token_name == TOKENS and COMPLETION_TOKENS in text:
            self._token_name = COMPLETION_TOKENS
            return True
        if "temperature" in text and "temperature" in self._options:
            self._options = {}
            return True
        return False


def checked_address(address: str) -> str:
    """Return the URL of chat completions at an address.

    Examples
    --------
    >>> checked_address("http://localhost:8000/v1/")
    'http://localhost:8000/v1/chat/completions'
    """
    try:
        parts = urlsplit(address.strip())
        _ = parts.port  # which may be no number
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MaylinkError("address: it is no URL; write one such as https://api.openai.com/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise MaylinkError(
            "address: leave out names, passwords, and what follows a ? or #; the key comes from "
            "the environment"
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return f"{parts.scheme}://{parts.netloc}{path}/chat/completions"


def read_body(text: str) -> ChatReply:
    """Return the reply in the body of a response.

    Parameters
    ----------
    text : str
        The body.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        shown = " ".join(text.split())[:80]
        return _lost("broken reply", f"the server's reply is no JSON: {shown!r}")
    if not isinstance(body, dict):
        return _lost("broken reply", "the server's reply is no JSON object")
    if body.get("error"):
        return ChatReply(BUSY, problem=_message(text), reason="error in the reply")
    tokens = _tokens(body.get("usage"))
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        return _lost("broken reply", "the server's reply holds no message")._replace(tokens=tokens)
    return ChatReply(ANSWERED, text=_content(message), tokens=tokens)


def _content(message: dict[str, Any]) -> str:
    """Return the text of a message, of several parts too; of a refusal, its words."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [one.get("text", "") for one in content if isinstance(one, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    if not content:
        content = message.get("refusal")
    return content if isinstance(content, str) else ""


def _tokens(usage: Any) -> tuple[int, int] | None:
    """Return the tokens that a server tells; None where they are no counts."""
    if not isinstance(usage, dict):
        return None
    counts: list[int] = []
    for name, other in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")):
        count = usage.get(name, usage.get(other))
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            return None
        counts.append(count)
    return counts[0], counts[1]


def _message(text: str) -> str:
    """Return what an error of a server says, on one line."""
    try:
        body = json.loads(text)
        error = body.get("error", body) if isinstance(body, dict) else body
        told = error.get("message", error) if isinstance(error, dict) else error
    except (ValueError, RecursionError):
        told = text
    return " ".join(str(told).split())[:200] or "it says nothing more"


def _lost(reason: str, problem: str) -> ChatReply:
    return ChatReply(LOST, problem=problem, reason=reason)
