"""What the user asks of ``maylink ask``: its options, checked, and the judges that they name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from maylink.cli.errors import OUTPUT, USAGE, CommandError
from maylink.cli.input_checks import check_inputs
from maylink.cli.inputs import ReadingOptions
from maylink.cli.options import STDIN
from maylink.cli.outputs import check_format, check_outputs
from maylink.errors import MaylinkError

if TYPE_CHECKING:
    from maylink.label.judges import JudgeFile, JudgeLike, PromptTemplate, Spending

Value = TypeVar("Value")
MODEL = "openai:"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True)
class AskRequest:
    """The arguments and options of the command; None or empty where one was not given."""

    data: str
    judges: tuple[str, ...]
    out: str
    links: str | None
    reading: ReadingOptions
    questions: int | None = None
    batch: int = 20
    check: int = 0
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
    fit: bool = True
    report: str | None = None
    family: str = "auto"
    seed: int = 0
    force: bool = False
    json: bool = False
    ours: frozenset[str] = frozenset()  # outputs that are there as an earlier run left them

    @property
    def quiet(self) -> bool:
        """Whether nothing goes to standard error."""
        return self.reading.quiet

    @property
    def answers_file(self) -> str:
        """The file that keeps answers about rows."""
        return f"{self.out}.answers.db"

    @property
    def judges_file(self) -> str:
        """The file that keeps answers by content, calls and bad answers."""
        return self.cache or f"{self.out}.judges.db"

    @property
    def models(self) -> tuple[str, ...]:
        """The language models among the judges."""
        return tuple(word.removeprefix(MODEL) for word in self.judges if word.startswith(MODEL))

    @property
    def outputs(self) -> dict[str, str | None]:
        """The files that are written, by option."""
        return {"--out": self.out, "--report": self.report, "--bad-answers": self.bad_answers}

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

    def checked(self) -> AskRequest:
        """Return itself; refuse what makes no sense before anything is read or paid for."""
        if self.data == STDIN or os.path.isdir(self.data):
            raise CommandError("DATA: judges are shown its rows as they stand; name a file", USAGE)
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
        if self.check and self.links is None:
            raise CommandError("--check: of which links? name them with --links", USAGE)
        if self.report is not None and not self.fit:
            raise CommandError("--report: there is nothing to tell without a fit", USAGE)
        self._check_files()
        _ = self.seconds
        ours = frozenset(option for option in self.outputs if self._is_ours(option))
        for option, path in self.outputs.items():
            if path is not None and os.path.lexists(path) and not (self.force or option in ours):
                raise CommandError(
                    f"{path}: is there already, and not as maylink ask has left it; say --force to "
                    "write over it",
                    OUTPUT,
                )
        return replace(self, ours=ours)

    def _check_files(self) -> None:
        features = self.reading.features
        inputs = {"DATA": self.data, "--links": self.links, "--embeddings": features.embeddings,
                  "--ids": features.ids, "--cache": self.judges_file}  # fmt: skip
        inputs |= {f"--prompt {name}": name for name in self.prompts}
        check_outputs(self.outputs, inputs, force=True)
        check_inputs(self.data, self.reading, self.links)
        check_format(self.out)

    # ------------------------------------------------------------------ files that are our own

    def may_replace(self, option: str) -> bool:
        """Say whether a file may be written over: by --force, or if it stood as we left it."""
        return self.force or option in self.ours

    def _is_ours(self, option: str) -> bool:
        """Say whether a file is there as an earlier run has left it."""
        from maylink.label.judges import JudgeFile

        path = self.outputs[option]
        if path is None or not os.path.isfile(path) or not os.path.isfile(self.judges_file):
            return False
        with JudgeFile(self.judges_file) as file:
            return file.fact(_fact(option, path)) == _digest(path)

    def remember(self, file: JudgeFile, option: str) -> None:
        """Keep in mind what was written, so that the command can go on."""
        path = self.outputs[option]
        if path is not None:
            file.set_facts({_fact(option, path): _digest(path)})

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


def _fact(option: str, path: str) -> str:
    return f"{option} {os.path.realpath(path)}"


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
