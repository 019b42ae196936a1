"""Which pair to ask about next: questions, answers, and when to stop asking."""

from maylink.questions.interview import Interview
from maylink.questions.words import Answer, Question, Standing

__all__ = ["Answer", "Interview", "Question", "Standing"]
