"""What we ask of Heapwise again and again, as data in the ``*.toml`` beside this."""

from workshop.questions.ask import ask, kept_runs
from workshop.questions.page import page
from workshop.questions.question import Question, question_names, read_question

__all__ = ["Question", "ask", "kept_runs", "page", "question_names", "read_question"]
