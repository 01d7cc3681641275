"""A range of values for a placeholder: ``-P NAME MIN MAX -D STEP``."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from heapwise.errors import Problem

MOST_VALUES = 1000


def scanned(scan: Sequence[str] | None, step: str | None) -> list[str]:
    """As ``--parameter`` has it: ``-P n 1 8 -D 3`` is ``n=1,4,7``. Problem E003 for what is not a
    range."""
    if not scan:
        if step is not None:
            raise Problem("E003", "-D needs -P", do="heapwise compare -P n 1 8 -D 2 'COMMAND {n}'")
        return []
    name, *ends = scan
    least, most = (_number(text, "-P") for text in ends)
    if step is None and (least % 1 or most % 1):
        raise Problem(
            "E003",
            f"-P {' '.join(scan)} needs -D",
            why="One end is not a whole number, so the step between two values is not clear.",
            do=f"heapwise compare -P {' '.join(scan)} -D 0.1 'COMMAND {{{name}}}'",
        )
    size = Decimal(1) if step is None else _number(step, "-D")
    if size <= 0 or most < least:
        raise Problem(
            "E003",
            f"-P {' '.join(scan)} -D {size} has no value",
            do=f"give the smaller end first, and a step above 0: -P {name} 1 8 -D 2",
        )
    number = int((most - least) / size) + 1
    if number > MOST_VALUES:
        raise Problem(
            "E003",
            f"-P {' '.join(scan)} -D {size} has {number:,} values",
            why=f"At most {MOST_VALUES:,} can be measured.",
            do="-D with a larger step",
        )
    return [f"{name}={','.join(str(least + size * place) for place in range(number))}"]


def _number(text: str, option: str) -> Decimal:
    try:
        found = Decimal(text)
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite():
        raise Problem(
            "E003",
            f"{option}: {text} is not a number",
            do="heapwise compare -P n 1 8 -D 2 'COMMAND {n}'",
        )
    return found
