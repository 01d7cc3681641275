"""Options that mean the same in every verb that has them."""

from __future__ import annotations

from typing import Annotated

import typer

StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="DIR", help="Folder of the runs. [HEAPWISE_STORE]"),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="JSON on stdout, everything else on stderr.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
DebugOption = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of an error.", expose_value=True)
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="End with 4 if the result is not trustworthy.")
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print the plan and its cost; measure nothing.")
]

PASS_THROUGH = {"allow_interspersed_args": False, "ignore_unknown_options": False}
"""Context settings of a verb that takes a program: everything after it is left untouched."""
