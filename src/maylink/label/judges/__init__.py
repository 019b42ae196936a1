"""Judges: programs and language models that are asked whether two rows belong together."""

from maylink.label.judges.asking import Asked, Asking, AskingEnd, AskSettings, ask
from maylink.label.judges.base import Judge, JudgeLike
from maylink.label.judges.budget import CallCeiling, Prices, Spending
from maylink.label.judges.cache import JudgeFile
from maylink.label.judges.chat import ChatJudge, ChatSettings
from maylink.label.judges.command import CommandJudge
from maylink.label.judges.pacing import RetryPlan
from maylink.label.judges.prompts import PromptTemplate
from maylink.label.judges.rows import ShownRows
from maylink.label.judges.words import AskedPair, Judgement, Unanswered

__all__ = [
    "AskSettings",
    "Asked",
    "AskedPair",
    "Asking",
    "AskingEnd",
    "CallCeiling",
    "ChatJudge",
    "ChatSettings",
    "CommandJudge",
    "Judge",
    "JudgeFile",
    "JudgeLike",
    "Judgement",
    "Prices",
    "PromptTemplate",
    "RetryPlan",
    "ShownRows",
    "Spending",
    "Unanswered",
    "ask",
]
