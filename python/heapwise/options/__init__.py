"""The options that verbs share: each is written here once, and stored or read by its name."""

from heapwise.options.option import Form, Option, declared, taken
from heapwise.options.options import FIRST, Options
from heapwise.options.process import ProcessOptions
from heapwise.options.rounds import RoundOptions
from heapwise.options.serving import ServingOptions

__all__ = [
    "FIRST",
    "Form",
    "Option",
    "Options",
    "ProcessOptions",
    "RoundOptions",
    "ServingOptions",
    "declared",
    "taken",
]
