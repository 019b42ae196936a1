"""Ceilings on calls and cost that are never passed: what a call may cost is set aside before.

A call may cost at most

    price_in · (bytes of the prompt + some for its wrapping) + price_out · (tokens it may answer)

since no token is shorter than a byte, and the server is told how many tokens it may answer. So much
is set aside, on disk, before the call is sent; every retry is a call of its own. When the server
tells what was used, the rest is given free. Where it does not tell, what was set aside stays so,
and the likely cost, four bytes a token, is told beside it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import NamedTuple

from maylink.errors import CeilingError
from maylink.label.judges.cache import BadAnswer, Bill, JudgedEntry, JudgeFile, Spent
from maylink.label.judges.words import StopAsked, never

WRAPPING = 64  # tokens that a server may put round a message
BYTES_A_TOKEN = 4.0  # of plain text, as a rule of thumb
ROUNDING = 1e-12
LOOK = 0.05  # seconds between two looks whether to stop


class Prices(NamedTuple):
    """What a million tokens cost, in any currency.

    Parameters
    ----------
    tokens_in, tokens_out : float
        Of prompts, and of replies.
    """

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: float, tokens_out: float) -> float:
        """Return what so many tokens cost.

        Examples
        --------
        >>> Prices(0.5, 2.0).cost(1_000_000, 500_000)
        1.5
        """
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / 1e6


class CallCeiling(NamedTuple):
    """What may be spent in all, earlier runs with the same file among it.

    Parameters
    ----------
    calls : int, optional
        Calls.
    cost : float, optional
        In the currency of the prices.
    """

    calls: int | None = None
    cost: float | None = None


class Reservation(NamedTuple):
    """A call that may be sent.

    Parameters
    ----------
    number : int
        Its number in the file.
    most : float
        What is set aside for it.
    """

    number: int
    most: float


def most_tokens(prompt: str) -> int:
    """Return how many tokens a prompt has at most."""
    return len(prompt.encode()) + WRAPPING


def likely_tokens(text: str) -> int:
    """Return about how many tokens a text has.

    Examples
    --------
    >>> likely_tokens("Do these two belong together?")
    8
    """
    return math.ceil(len(text.encode()) / BYTES_A_TOKEN)


class Spending:
    """Sets aside what calls may cost, and knows what was spent; safe for several threads.

    Parameters
    ----------
    file : JudgeFile
        Where calls are written down.
    ceiling : CallCeiling, optional
        What may be spent in all; no end by default.

    Examples
    --------
    >>> from maylink.label.judges.budget import CallCeiling, Spending
    >>> from maylink.label.judges.cache import Bill, JudgeFile
    >>> spending = Spending(JudgeFile(), CallCeiling(cost=1.0))
    >>> call = spending.reserve("model", most=0.8)
    >>> spending.settle(call, Bill("answered", held=0.3, cost=0.3), "model")
    >>> call = spending.reserve("model", most=0.6)
    >>> spending.spent.calls, round(spending.spent.held, 2)
    (2, 0.9)
    """

    def __init__(self, file: JudgeFile, ceiling: CallCeiling | None = None) -> None:
        self.file, self.ceiling = file, ceiling or CallCeiling()
        self._changed = threading.Condition()
        before = file.spent()
        self._calls, self._held = before.calls, before.held
        self._under_way = 0

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        return self.file.spent()

    def reserve(self, source: str, most: float, stop: StopAsked = never) -> Reservation | None:
        """Set aside what a call may cost; None if it is time to stop.

        Waits while calls are under way that may turn out cheaper than what was set aside for them.

        Parameters
        ----------
        source : str
            Who is asked.
        most : float
            What the call may cost.
        stop : callable
            Says whether to stop waiting.

        Raises
        ------
        CeilingError
            If the call could pass a ceiling.
        """
        with self._changed:
            while not stop():
                self._forbid_more_calls()
                if self.ceiling.cost is None or self._fits(most):
                    self._calls += 1
                    self._held += most
                    self._under_way += 1
                    try:
                        return Reservation(self.file.begin_call(source, most), most)
                    except BaseException:
                        self._give_back(most, 0.0)
                        raise
                if not self._under_way:
                    raise CeilingError(
                        f"most_cost: {self._held:.6g} of {self.ceiling.cost:.6g} are spent or set "
                        f"aside, and the next call may cost {most:.6g}; allow more to go on"
                    )
                self._changed.wait(LOOK)
        return None

    def settle(
        self,
        call: Reservation,
        bill: Bill,
        source: str,
        rows: str = "",
        judged: Sequence[JudgedEntry] = (),
        bad: Sequence[BadAnswer] = (),
    ) -> None:
        """Write down what a call came to, and its answers; all of it is on disk then."""
        try:
            self.file.end_call(call.number, bill, source, rows, judged, bad)
        finally:
            with self._changed:
                self._give_back(call.most, bill.held)

    def _give_back(self, most: float, held: float) -> None:
        self._held += held - most
        self._under_way -= 1
        self._changed.notify_all()

    def _fits(self, most: float) -> bool:
        ceiling = self.ceiling.cost or 0.0
        return self._held + most <= ceiling * (1.0 + ROUNDING)

    def _forbid_more_calls(self) -> None:
        if self.ceiling.calls is not None and self._calls >= self.ceiling.calls:
            raise CeilingError(
                f"most_calls: all {self.ceiling.calls} calls are made; allow more to go on"
            )
