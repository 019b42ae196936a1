"""What the user asks of ``maylink ask``: its options, checked, and the judges that they name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from maylink.cli.errors import USAGE, CommandError
from maylink.cli.gather_request import GatherRequest
from maylink.errors import MaylinkError

if TYPE_CHECKING:
    from maylink.label.judges import JudgeLike, PromptTemplate, Spending

Value = TypeVar("Value")
MODEL = "openai:"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True, kw_only=True)
class AskRequest(GatherRequest):
    """The arguments and options of the command; None or empty where one was not given."""

    judges: tuple[str, ...]
    questions: int | None = None
    batch: int = 20
    check_pairs: int = 0
    sources: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    tries: int = 3
    time_limit: str = "60s"
    dry_run: bool = False
    about: str | None = None
    prompts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    pairs_per_call: int = 1
    concurrency: int = 4
    retries: int = 6
    rate: float | None = None
    answer_tokens: int = 300
    most_calls: int | None = None
    most_cost: float | None = None
    prices_in: tuple[float, ...] = ()
    prices_out: tuple[float, ...] = ()
    cache: str | None = None
    bad_answers: str | None = None

    @property
    def judges_file(self) -> str:
        """The file that keeps answers by content, calls and bad answers."""
        return self.cache or f"{self.out}.judges.db"

    @property
    def models(self) -> tuple[str, ...]:
        """The language models among the judges."""
        return tuple(word.removeprefix(MODEL) for word in self.judges if word.startswith(MODEL))

    @property
    def outputs(self) -> dict[str, str]:
        """The files that are written, by the names of their options."""
        bad = {} if self.bad_answers is None else {"--bad-answers": self.bad_answers}
        return super().outputs | bad

    @property
    def inputs(self) -> dict[str, str | None]:
        """The files that are read, by the names of their options."""
        prompts = {f"--prompt {name}": name for name in self.prompts}
        return {**super().inputs, "--cache": self.judges_file, **prompts}

    @property
    def seconds(self) -> float:
        """How long a call may take, or a command be silent."""
        from maylink.parameters import as_time_budget

        try:
            return as_time_budget(self.time_limit) or 0.0
        except MaylinkError:
            raise CommandError(
                f"--time-limit: {self.time_limit!r} is not a time; write 60s or 5m", USAGE
            ) from None

    def check(self) -> None:
        """Refuse what makes no sense before anything is read or paid for."""
        if not all(word.strip() for word in self.judges):
            raise CommandError("--judge: it is empty; give a command, or openai:MODEL", USAGE)
        if not self.models:
            given = {
                "--about": self.about, "--prompt": self.prompts, "--address": self.addresses,
                "--key-variable": self.key_variables, "--rate": self.rate,
                "--most-calls": self.most_calls, "--most-cost": self.most_cost,
                "--price-in": self.prices_in, "--price-out": self.prices_out,
            }  # fmt: skip
            for option, value in given.items():
                if value not in (None, ()):
                    raise CommandError(
                        f"{option}: of which language model? name it with --judge openai:MODEL",
                        USAGE,
                    )
        if bool(self.prices_in) != bool(self.prices_out):
            raise CommandError("--price-in and --price-out: give both", USAGE)
        if self.most_cost is not None and not self.prices_in:
            raise CommandError("--most-cost: say what a million tokens cost, with --price-in and "
                               "--price-out", USAGE)  # fmt: skip
        if any(price < 0.0 for price in (*self.prices_in, *self.prices_out)):
            raise CommandError("--price-in and --price-out: a price is not below 0", USAGE)
        if self.rate is not None and self.rate <= 0.0:
            raise CommandError("--rate: give a number above 0", USAGE)
        if self.check_pairs and self.links is None:
            raise CommandError("--check: of which links? name them with --links", USAGE)
        _ = self.seconds
        super().check()

    # ------------------------------------------------------------------ judges

    def make_judges(self, spending: Spending, columns: Sequence[str]) -> list[JudgeLike]:
        """Return the judges; no process is started, and nothing sent.

        Parameters
        ----------
        spending : Spending
            What language models may cost in all.
        columns : sequence of str
            The columns that judges see.
        """
        from maylink.label.judges import CommandJudge
        from maylink.label.judges.base import as_judges
        from maylink.label.judges.secret import Secret

        names = one_each("--source", self.sources, len(self.judges), each=True)
        models = iter(self._make_models(spending, columns, [
            name for word, name in zip(self.judges, names, strict=True) if word.startswith(MODEL)
        ]))  # fmt: skip
        secret = Secret(os.environ.get((*self.key_variables, KEY_VARIABLE)[0]))
        made: list[JudgeLike] = []
        for word, name in zip(self.judges, names, strict=True):
            if word.startswith(MODEL):
                made.append(next(models))
            else:
                made.append(
                    CommandJudge(
                        word,
                        source=name,
                        tries=self.tries,
                        time_limit=self.seconds,
                        file=spending.file,
                        secret=secret,
                    )
                )
        return as_judges(made)

    def _make_models(
        self, spending: Spending, columns: Sequence[str], names: Sequence[str | None]
    ) -> list[JudgeLike]:
        from maylink.label.judges import ChatJudge, ChatSettings, Prices, RetryPlan

        n = len(self.models)
        prompts = one_each("--prompt", self.prompts, n)
        addresses = one_each("--address", self.addresses, n)
        variables = one_each("--key-variable", self.key_variables, n)
        prices_in = one_each("--price-in", self.prices_in, n)
        prices_out = one_each("--price-out", self.prices_out, n)
        settings = ChatSettings(
            self.pairs_per_call, self.concurrency, self.tries, self.rate, self.seconds,
            self.answer_tokens, retry=RetryPlan(self.retries), seed=self.seed,
        )  # fmt: skip
        made: list[JudgeLike] = []
        for at, model in enumerate(self.models):
            low, high = prices_in[at], prices_out[at]
            made.append(
                ChatJudge(
                    model,
                    addresses[at] or _usual_address(),
                    template=self._template(prompts[at], columns),
                    source=names[at],
                    key_variable=variables[at] or KEY_VARIABLE,
                    settings=settings,
                    prices=None if low is None or high is None else Prices(low, high),
                    spending=spending,
                )
            )
        return made

    def _template(self, path: str | None, columns: Sequence[str]) -> PromptTemplate:
        from maylink.label.judges import PromptTemplate

        if path is None:
            return PromptTemplate(about=self.about, columns=columns)
        return PromptTemplate.from_file(path, self.about, columns)


def one_each(
    option: str, values: Sequence[Value], n: int, *, each: bool = False
) -> list[Value | None]:
    """Return a value for each of n judges: those given, or the only one for all.

    Examples
    --------
    >>> one_each("--prompt", ["a.txt"], 2), one_each("--prompt", [], 2)
    (['a.txt', 'a.txt'], [None, None])
    """
    if not values:
        return [None] * n
    if len(values) == 1 and not each:
        return [values[0]] * n
    if len(values) != n:
        once = "" if each else "once, or "
        raise CommandError(
            f"{option}: given {len(values)} times for {n} judges; give it {once}once for each",
            USAGE,
        )
    return list(values)


def _usual_address() -> str:
    address = os.environ.get(ADDRESS_VARIABLE, "").strip()
    if not address:
        raise CommandError(
            "--address: where does the model answer? give the URL, or set the environment variable "
            f"{ADDRESS_VARIABLE}; that of OpenAI is https://api.openai.com/v1",
            USAGE,
        )
    return address
