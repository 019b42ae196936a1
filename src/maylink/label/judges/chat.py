"""A language model as a judge: prompts, calls, retries, and answers that are kept by content."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from maylink.errors import JudgeError, MaylinkError
from maylink.label.judges.budget import (
    CallCeiling,
    Prices,
    Reservation,
    Spending,
    likely_tokens,
    most_tokens,
)
from maylink.label.judges.cache import BadAnswer, Bill, JudgedEntry, JudgeFile, content_key
from maylink.label.judges.pacing import Pacer, RetryPlan
from maylink.label.judges.parsing import read_reply
from maylink.label.judges.prompts import PromptTemplate
from maylink.label.judges.secret import Secret
from maylink.label.judges.threads import TaskResult, in_threads
from maylink.label.judges.transport import (
    ADAPTED,
    ANSWERED,
    BUSY,
    FATAL,
    REFUSED,
    ChatReply,
    ChatServer,
)
from maylink.label.judges.words import AskedPair, Judgement, StopAsked, Unanswered, never
from maylink.parameters import check_integer, check_number

KEY_VARIABLE = "OPENAI_API_KEY"
AGAIN = "Your last reply could not be read ({problem}). Reply with the JSON alone."
LOOPBACK = ("localhost", "127.0.0.1", "::1")
Item = TypeVar("Item")
TOKENS_OF_AN_ANSWER = 24  # that a model usually writes about a pair


@dataclass(frozen=True)
class ChatSettings:
    """How a language model is asked.

    Parameters
    ----------
    pairs_per_call : int, default 1
        Pairs in a prompt. More of them cost less, and are judged with less care.
    concurrency : int, default 4
        Calls at a time.
    tries : int, default 3
        Times that a pair is asked about at most while replies cannot be understood.
    per_minute : float, optional
        Calls a minute; as many as there can be by default.
    time_limit : float, default 60
        Seconds for a call.
    answer_tokens : int, default 300
        The most tokens of a reply. Models that think before they answer need more.
    tokens_a_pair : int, default 60
        As many more for each further pair of a prompt.
    temperature : float, optional
        0 by default; None leaves it to the server.
    retry : RetryPlan
        How calls that failed are sent again.
    seed : int, default 0
        Of the random part of the waiting times.
    """

    pairs_per_call: int = 1
    concurrency: int = 4
    tries: int = 3
    per_minute: float | None = None
    time_limit: float = 60.0
    answer_tokens: int = 300
    tokens_a_pair: int = 60
    temperature: float | None = 0.0
    retry: RetryPlan = field(default_factory=RetryPlan)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("pairs_per_call", "concurrency", "tries", "answer_tokens"):
            check_integer(name, getattr(self, name), 1)
        if self.per_minute is not None:
            check_number("per_minute", self.per_minute, 0.0, above=True)
        check_number("time_limit", self.time_limit, 0.0, above=True)


class CallEstimate(NamedTuple):
    """What calls are likely to come to.

    Parameters
    ----------
    calls, tokens_in, tokens_out : int
        How many.
    cost : float
        Likely.
    most : float
        At most, without retries.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    cost: float
    most: float


class _ChatTask(NamedTuple):
    """Pairs that are asked about in one prompt, with their keys."""

    pairs: tuple[tuple[str, AskedPair], ...]
    tried: int = 0
    problem: str = ""  # of the reply before


class ChatJudge:
    """A language model behind an OpenAI-compatible address.

    Parameters
    ----------
    model : str
        Its name there.
    address : str
        Such as ``https://api.openai.com/v1``.
    template : PromptTemplate, optional
        In which words it is asked.
    source : str, optional
        The name under which its answers are kept; by default the model, and a short hash of the
        prompt: another prompt is another judge.
    key_variable : str, default "OPENAI_API_KEY"
        The environment variable that holds the key; servers that want none need none.
    settings : ChatSettings, optional
        Pairs in a prompt, calls at a time, limits, retries.
    prices : Prices, optional
        What a million tokens cost.
    ceiling : CallCeiling, optional
        What may be spent in all, never passed.
    cache : str or Path, default ":memory:"
        The file that keeps answers and calls, so that nothing is paid twice.
    spending : Spending, optional
        In place of ``cache`` and ``ceiling``, where several models share them.

    Raises
    ------
    JudgeError
        When it is asked, if the server refuses, or fails again and again.
    CeilingError
        When the next call could pass a ceiling.

    Examples
    --------
    >>> from maylink.label.judges import ChatJudge, PromptTemplate
    >>> judge = ChatJudge(
    ...     "small", "http://localhost:8000/v1", template=PromptTemplate("{a} or {b}?")
    ... )
    >>> judge.source
    'small:238a85'
    """

    def __init__(
        self,
        model: str,
        address: str,
        *,
        template: PromptTemplate | None = None,
        source: str | None = None,
        key_variable: str = KEY_VARIABLE,
        settings: ChatSettings | None = None,
        prices: Prices | None = None,
        ceiling: CallCeiling | None = None,
        cache: str | Path = ":memory:",
        spending: Spending | None = None,
    ) -> None:
        if not model.strip():
            raise MaylinkError("model: its name is empty; write openai:MODEL")
        self.model = model
        self.template = PromptTemplate() if template is None else template
        self.settings = ChatSettings() if settings is None else settings
        self.prices = prices
        self.source = source or f"{model}:{self.template.fingerprint[:6]}"
        key = Secret.of_environment(key_variable)
        self._server = ChatServer(
            address,
            model,
            key,
            time_limit=self.settings.time_limit,
            connections=self.settings.concurrency,
            temperature=self.settings.temperature,
        )
        _warn_of_open_key(self._server.url, key)
        if spending is None:
            spending = Spending(JudgeFile(cache), ceiling or CallCeiling())
        if spending.ceiling.cost is not None and prices is None:
            raise MaylinkError("prices: a ceiling on cost needs them; give both prices")
        self.spending = spending
        self._pacer = Pacer(self.settings.per_minute)
        self._chance = random.Random(self.settings.seed)
        self._rows = ""
        self._answered = 0  # calls, so that one knows whether the server is alive

    # ------------------------------------------------------------------ what a judge does

    def recall(self, rows: str) -> list[Judgement]:
        """Return what it has said before of rows with this fingerprint."""
        self._rows = rows
        return self.spending.file.said_of(rows, self.source)

    def judge(
        self, pairs: Sequence[AskedPair], stop: StopAsked = never
    ) -> Iterator[Judgement | Unanswered]:
        """Yield what it says of each pair; see :class:`JudgeLike`."""
        keys = [self.key(pair) for pair in pairs]
        known = self.spending.file.find(keys)
        twins: dict[str, list[AskedPair]] = {}
        for key, pair in zip(keys, pairs, strict=True):
            if key in known:
                yield known[key]._replace(i=pair.i, j=pair.j)
            else:
                twins.setdefault(key, []).append(pair)
        new = [(key, same[0]) for key, same in twins.items()]
        tasks = [_ChatTask(some) for some in _groups(new, self.settings.pairs_per_call)]
        if not tasks:
            return
        self._server.open()
        threads = min(self.settings.concurrency, len(tasks))
        for key, one in in_threads(tasks, self._work, threads, stop):
            first = True
            for pair in twins[key]:
                said = one._replace(i=pair.i, j=pair.j)
                yield said if first or isinstance(said, Unanswered) else said._replace(is_new=False)
                first = False

    def close(self) -> None:
        """Close the connections; the file of answers stays open for others."""
        self._server.close()

    def key(self, pair: AskedPair) -> str:
        """Return the key under which the answer about a pair is kept."""
        return content_key(self.model, self.template.fingerprint, pair)

    def is_known(self, pair: AskedPair) -> bool:
        """Say whether the pair is answered already, and costs nothing."""
        return bool(self.spending.file.find([self.key(pair)]))

    def estimate(self, pairs: Sequence[AskedPair]) -> CallEstimate:
        """Return what it would cost to ask about pairs, without retries; sends nothing."""
        groups = _groups(pairs, self.settings.pairs_per_call)
        prompts = [self.template.prompt(group) for group in groups]
        tokens_in = sum(likely_tokens(prompt) for prompt in prompts)
        tokens_out = TOKENS_OF_AN_ANSWER * len(pairs)
        most = sum(
            self._most(prompt, len(group)) for prompt, group in zip(prompts, groups, strict=True)
        )
        cost = (self.prices or Prices()).cost(tokens_in, tokens_out)
        return CallEstimate(len(prompts), tokens_in, tokens_out, cost, most)

    # ------------------------------------------------------------------ one task

    def _work(self, task: _ChatTask, stop: StopAsked) -> TaskResult:
        """Ask about the pairs of a task, with retries, and return what was said of them."""
        prompt = self.template.prompt([pair for _, pair in task.pairs])
        if task.problem:
            prompt = f"{prompt}\n\n{AGAIN.format(problem=task.problem)}"
        tokens, most = self._answer_tokens(len(task.pairs)), self._most(prompt, len(task.pairs))
        answered_before = self._answered
        attempt = 0
        while True:
            if not self._pacer.wait(stop):
                return TaskResult([], [])
            call = self.spending.reserve(self.source, most, stop)
            if call is None:
                return TaskResult([], [])
            reply = self._send(call, prompt, tokens)
            if reply.state == ANSWERED:
                self._answered += 1
                return self._take(task, call, prompt, reply)
            self.spending.settle(call, self._failure(call, prompt, reply), self.source)
            if reply.state == FATAL:
                raise JudgeError(f"judge {self.source!r}: the server says {reply.problem}")
            if reply.state == REFUSED:
                return self._refused(task, reply)
            if reply.state == ADAPTED:
                continue
            attempt += 1
            if attempt > self.settings.retry.most:
                return self._given_up(task, reply, self._answered > answered_before)
            if not self._rest(attempt, reply, stop):
                return TaskResult([], [])

    def _send(self, call: Reservation, prompt: str, tokens: int) -> ChatReply:
        try:
            return self._server.send(prompt, tokens)
        except BaseException:  # a bug or Ctrl-C: what was set aside stays so
            self.spending.settle(call, Bill("lost", call.most, reason="broken off"), self.source)
            raise

    def _take(
        self, task: _ChatTask, call: Reservation, prompt: str, reply: ChatReply
    ) -> TaskResult:
        """Keep the answers of a reply, and ask again about pairs of which it tells nothing."""
        read = read_reply(reply.text, len(task.pairs))
        judged = [
            JudgedEntry(
                task.pairs[at][0],
                Judgement(
                    *task.pairs[at][1][:2], said.kind, said.confidence, read.notes.get(at, "")
                ),
            )
            for at, said in read.said.items()
        ]
        bad = [
            BadAnswer(*task.pairs[at][1][:2], problem, reply.text)
            for at, problem in read.problems.items()
        ]
        bill = self._bill(call, prompt, reply)
        self.spending.settle(call, bill, self.source, self._rows, judged, bad)
        results: list[tuple[str, Judgement | Unanswered]] = [(one.key, one.said) for one in judged]
        if not bad:
            return TaskResult(results, [])
        open_pairs = tuple(task.pairs[at] for at in read.problems)
        if task.tried + 1 < self.settings.tries:
            return TaskResult(results, [_ChatTask(open_pairs, task.tried + 1, bad[0].problem)])
        return TaskResult(results + _unanswered(open_pairs, bad[0].problem), [])

    def _refused(self, task: _ChatTask, reply: ChatReply) -> TaskResult:
        """Ask about halves of what the server does not take; a single pair stays unanswered."""
        if len(task.pairs) > 1:
            half = len(task.pairs) // 2
            parts = (task.pairs[:half], task.pairs[half:])
            return TaskResult([], [task._replace(pairs=part) for part in parts])
        i, j = task.pairs[0][1][:2]
        self.spending.file.add_bad(self.source, [BadAnswer(i, j, "refused", reply.problem)])
        return TaskResult(_unanswered(task.pairs, reply.problem), [])

    def _given_up(self, task: _ChatTask, reply: ChatReply, alive: bool) -> TaskResult:
        """Leave pairs unanswered if the server answers others; otherwise it is no use to go on."""
        if alive:
            return TaskResult(_unanswered(task.pairs, reply.problem), [])
        raise JudgeError(
            f"judge {self.source!r}: the server failed {self.settings.retry.most + 1} times in a "
            f"row ({reply.problem}); run again later, what was answered is kept"
        )

    def _rest(self, attempt: int, reply: ChatReply, stop: StopAsked) -> bool:
        """Wait before a retry; False if it is time to stop."""
        plan = self.settings.retry
        if reply.wait is not None:
            if reply.wait > plan.longest_told:
                raise JudgeError(
                    f"judge {self.source!r}: the server asks to wait {reply.wait:.0f} s "
                    f"({reply.problem}); run again later, what was answered is kept"
                )
            self._pacer.pause(reply.wait)
        return self._pacer.rest(max(reply.wait or 0.0, plan.wait(attempt, self._chance)), stop)

    # ------------------------------------------------------------------ money

    def _answer_tokens(self, n_pairs: int) -> int:
        return self.settings.answer_tokens + self.settings.tokens_a_pair * (n_pairs - 1)

    def _most(self, prompt: str, n_pairs: int) -> float:
        prices = self.prices or Prices()
        return prices.cost(most_tokens(prompt), self._answer_tokens(n_pairs))

    def _bill(self, call: Reservation, prompt: str, reply: ChatReply) -> Bill:
        """Return what an answered call came to."""
        prices = self.prices or Prices()
        if reply.tokens is not None:
            cost = prices.cost(*reply.tokens)
            return Bill("answered", cost, cost, *reply.tokens, told=True)
        likely = likely_tokens(prompt), likely_tokens(reply.text)
        return Bill("answered", call.most, prices.cost(*likely), *likely)

    def _failure(self, call: Reservation, prompt: str, reply: ChatReply) -> Bill:
        """Return what a call came to that gave no answer: nothing, if the server turned it away."""
        if reply.state in (BUSY, FATAL, REFUSED, ADAPTED):
            return Bill("failed", reason=reply.reason)
        if reply.tokens is not None:
            return self._bill(call, prompt, reply)._replace(state="lost", reason=reply.reason)
        likely = likely_tokens(prompt)
        cost = (self.prices or Prices()).cost(likely, 0)
        return Bill("lost", call.most, cost, likely, reason=reply.reason)


def _groups(items: Sequence[Item], size: int) -> list[tuple[Item, ...]]:
    return [tuple(items[at : at + size]) for at in range(0, len(items), size)]


def _unanswered(
    pairs: Sequence[tuple[str, AskedPair]], problem: str
) -> list[tuple[str, Judgement | Unanswered]]:
    return [(key, Unanswered(pair.i, pair.j, problem)) for key, pair in pairs]


def _warn_of_open_key(url: str, key: Secret) -> None:
    parts = urlsplit(url)
    if key.is_set and parts.scheme == "http" and parts.hostname not in LOOPBACK:
        warnings.warn(
            f"the key goes to {parts.hostname} without encryption; write https:// if you can",
            stacklevel=3,
        )
