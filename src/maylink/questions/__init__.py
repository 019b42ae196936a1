"""Which pair to ask about next: questions, answers, and when to stop asking.

An :class:`Interview` holds what is known between questions. :func:`next_questions` asks once.
"""

from maylink.questions.interview import Interview
from maylink.questions.once import next_questions
from maylink.questions.words import Answer, Question, Standing

__all__ = ["Answer", "Interview", "Question", "Standing", "next_questions"]
