"""What a gate found, in the forms that systems of continuous integration read."""

from heapwise.report.gate.forms import FORMS, suffix_of, text

__all__ = ["FORMS", "suffix_of", "text"]
