"""The options of ``maylink ask``, each declared once."""

from __future__ import annotations

from typing import Annotated

import typer

from maylink.cli import options

ASKING, MODELS, COST = "Asking", "Language models", "Cost"
EACH = "Once for all such judges, or once for each."

Judge = Annotated[
    list[str],
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="Who answers: a command that reads questions and writes answers, a line of JSON each; "
        "or openai:MODEL, a language model. May be given again: each is a source of its own.",
        show_default=False,
    ),
]
Questions = Annotated[
    int | None,
    typer.Option(
        "--questions",
        min=1,
        metavar="N",
        help="Answers that there are to be in all, those of earlier runs among them; without it "
        "until more would hardly change the clusters.",
        rich_help_panel=ASKING,
    ),
]
Batch = Annotated[
    int,
    typer.Option(
        "--batch",
        min=1,
        metavar="N",
        help="Questions before it is looked again which to ask.",
        rich_help_panel=ASKING,
    ),
]
Check = Annotated[
    int,
    typer.Option(
        "--check",
        min=0,
        metavar="N",
        help="Pairs of --links to put to each judge first, to tell how far it agrees.",
        rich_help_panel=ASKING,
    ),
]
Source = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="The name of a judge as a source of links; once for each judge.",
        rich_help_panel=ASKING,
    ),
]
Show = Annotated[
    list[str] | None,
    typer.Option(
        "--show",
        metavar="COLUMN,…",
        help="The columns that judges see; all but --id and --drop by default.",
        rich_help_panel=ASKING,
    ),
]
Tries = Annotated[
    int,
    typer.Option(
        "--tries",
        min=1,
        metavar="N",
        help="How often a question is put at most, where answers cannot be understood.",
        rich_help_panel=ASKING,
    ),
]
TimeLimit = Annotated[
    str,
    typer.Option(
        "--time-limit",
        metavar="TIME",
        help="How long a call may take, or a command be silent: 60s, 5m.",
        rich_help_panel=ASKING,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print the first questions, the number of calls and the likely cost; ask nobody.",
        rich_help_panel=ASKING,
    ),
]
About = Annotated[
    str | None,
    typer.Option(
        "--about",
        metavar="TEXT",
        help="What it means to belong together: 'Two rows belong together if they are the same "
        "person.'",
        rich_help_panel=MODELS,
    ),
]
Prompt = Annotated[
    list[str] | None,
    typer.Option(
        "--prompt",
        metavar="FILE",
        help="Your own prompt, with {a} and {b} for the rows, or {a.COLUMN} for a cell of one. "
        f"{EACH}",
        rich_help_panel=MODELS,
    ),
]
Address = Annotated[
    list[str] | None,
    typer.Option(
        "--address",
        metavar="URL",
        help="Where an OpenAI-compatible server answers; by default what OPENAI_BASE_URL says. "
        f"{EACH}",
        rich_help_panel=MODELS,
    ),
]
KeyVariable = Annotated[
    list[str] | None,
    typer.Option(
        "--key-variable",
        metavar="NAME",
        help=f"The environment variable that holds the key; OPENAI_API_KEY by default. {EACH}",
        rich_help_panel=MODELS,
    ),
]
PairsPerCall = Annotated[
    int,
    typer.Option(
        "--pairs-per-call", min=1, metavar="N", help="Pairs in a prompt.", rich_help_panel=MODELS
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(
        "--concurrency", min=1, metavar="N", help="Calls at a time.", rich_help_panel=MODELS
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        "--retries",
        min=0,
        metavar="N",
        help="How often a call that failed is sent again, with pauses that grow.",
        rich_help_panel=MODELS,
    ),
]
Rate = Annotated[
    float | None,
    typer.Option("--rate", metavar="N", help="Calls a minute at most.", rich_help_panel=MODELS),
]
AnswerTokens = Annotated[
    int,
    typer.Option(
        "--answer-tokens",
        min=1,
        metavar="N",
        help="The most tokens of a reply; models that think before they answer need more.",
        rich_help_panel=MODELS,
    ),
]
MostCalls = Annotated[
    int | None,
    typer.Option(
        "--most-calls",
        min=0,
        metavar="N",
        help="Calls at most, in all runs together, retries among them.",
        rich_help_panel=COST,
    ),
]
MostCost = Annotated[
    float | None,
    typer.Option(
        "--most-cost",
        min=0.0,
        metavar="COST",
        help="Cost at most, in all runs together; needs both prices.",
        rich_help_panel=COST,
    ),
]
PriceIn = Annotated[
    list[float] | None,
    typer.Option(
        "--price-in",
        metavar="PRICE",
        help=f"Of a million tokens of prompts, in any currency. {EACH}",
        rich_help_panel=COST,
    ),
]
PriceOut = Annotated[
    list[float] | None,
    typer.Option(
        "--price-out",
        metavar="PRICE",
        help=f"Of a million tokens of replies. {EACH}",
        rich_help_panel=COST,
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="FILE",
        help="Where answers of language models are kept by content, with what they cost; beside "
        "--out by default.",
        rich_help_panel=COST,
    ),
]
BadAnswers = Annotated[
    str | None,
    typer.Option(
        "--bad-answers",
        metavar="FILE",
        help="CSV of what judges wrote that is no answer, each with what is wrong.",
        rich_help_panel=options.WRITING,
    ),
]
