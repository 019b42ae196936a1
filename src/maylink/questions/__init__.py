"""Which pair to ask about next: questions, answers, and when to stop asking."""

from maylink.questions.interview import Interview
from maylink.questions.words import Answer, Standing, Question

__all__ = ["Answer", "Interview", "Standing", "Question"]
