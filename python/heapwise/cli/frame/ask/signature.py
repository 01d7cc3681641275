"""From a verb that takes ``Options`` to the function that the command line calls."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any, get_args, get_type_hints

import typer

from heapwise.cli.frame.ask.command_form import parse_exits
from heapwise.cli.frame.ask.options import (
    parse_cpus,
    parse_precision,
    parse_shares,
    parse_whole_seconds,
)
from heapwise.options import FIRST, Form, Option, Options, declared
from heapwise.wording.durations import parse_duration
from heapwise.wording.time_unit import choose_time_unit


def with_options(verb: Callable[..., int]) -> Callable[..., int]:
    """The verb with a parameter for each of its options in place of ``options``."""
    name = verb.__name__
    own = [
        parameter
        for parameter in inspect.signature(verb, eval_str=True).parameters.values()
        if parameter.name != "options"
    ]
    found = declared(Options, name)
    order = sorted(found, key=lambda field: found[field].of_hyperfine)
    shared = {field: found[field] for field in (*FIRST, *order) if field in found}

    def called(**typed: Any) -> int:
        values = {field: (option, typed.pop(option.key)) for field, option in shared.items()}
        options = Options(
            **{
                field: read(option, value)
                for field, (option, value) in values.items()
                if value is not None and (value != "" or option.form is Form.PLAIN)
            }
        )
        if options.machine:  # the facts of the machine are read far from the command line
            os.environ["HEAPWISE_MACHINE"] = options.machine
        if options.time_unit:
            choose_time_unit(options.time_unit)
        return verb(**typed, options=options)

    called.__name__, called.__doc__ = name, verb.__doc__
    called.__annotations__ = {}
    called.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            *(parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own),
            *(_parameter(field, option) for field, option in shared.items()),
        ]
    )
    return called


def read(option: Option, value: Any) -> Any:
    """What was typed, as the field has it. Problem E003 for another form."""
    flag = f"--{option.key.replace('_', '-')}"
    match option.form:
        case Form.DURATION:
            return parse_duration(value, flag)
        case Form.PROCESSORS:
            return parse_cpus(value)
        case Form.EXITS:
            return parse_exits(value)
        case Form.PERCENT:
            return parse_precision(value)
        case Form.WORDS:
            return [word for word in value.split(",") if word]
        case Form.SHARES:
            return parse_shares(value, flag)
        case Form.WHOLE_SECONDS:
            return parse_whole_seconds(value, flag)
        case Form.PLAIN:
            return value


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(Options)


def _parameter(field: str, option: Option) -> Parameter:
    kind = _types()[field] if option.form is Form.PLAIN else type(option.typed or "")
    default: Any = option.typed
    if kind is bool:
        default = False
    elif default is None and type(None) not in get_args(kind):
        kind = kind | None
    described = typer.Option(
        *option.flags, metavar=option.metavar, help=option.help, min=option.least
    )
    return Parameter(
        option.key, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, described]
    )
