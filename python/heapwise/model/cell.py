"""What a figure is of: an experiment, the value of each of its parameters, and a quantity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from heapwise.model.facts import Number

Setting = bool | Number | str | None
"""The value of one parameter, as JSON has it."""

WHOLE = 2**53
"""Below, a float that is a whole number is exactly that number."""


def one_spelling(value: Setting) -> Setting:
    """1 for 1.0: they are one setting, however it was written."""
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:
        return int(value)
    return value


def same_setting(one: Setting, other: Setting) -> bool:
    """1 and 1.0 are the same. True and 1 are not: a flag is not a number."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def setting_order(value: Setting) -> tuple[float, str]:
    """Numbers by their size, then words."""
    return (value, "") if isinstance(value, int | float) else (inf, str(value))


class Settings(Mapping[str, Setting]):
    """The value of each parameter of an experiment: immutable, hashable, in the order of the names.

    Values have one spelling. Two are equal if they have the same names and, by ``same_setting``,
    the same values.
    """

    __slots__ = ("_hash", "_key", "_values")

    def __init__(self, values: Mapping[str, Setting]) -> None:
        self._values = {name: one_spelling(values[name]) for name in sorted(values)}
        self._key = tuple(
            (name, isinstance(value, bool), value) for name, value in self._values.items()
        )
        self._hash = hash(self._key)

    @staticmethod
    def of(values: Mapping[str, Setting]) -> Settings:
        """The same object for the same values: thousands of samples share few settings."""
        found = tuple(values.values())
        return _settings(tuple(values), found, tuple(map(type, found)))

    def __getitem__(self, name: str) -> Setting:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Settings) and self._key == other._key)

    def number(self, name: str, otherwise: float) -> float:
        """``otherwise`` where there is no such parameter, and where its value is not a number."""
        value = self.get(name)
        return value if isinstance(value, int | float) else otherwise

    def __or__(self, others: Mapping[str, Setting]) -> Settings:
        """With the values of ``others`` where both have a name."""
        return Settings({**self._values, **others})

    def __repr__(self) -> str:
        return f"Settings({self._values!r})"

    def __str__(self) -> str:
        """``block_size=64 threads=2``."""
        return " ".join(f"{name}={value}" for name, value in self._values.items())


@lru_cache(maxsize=4096)
def _settings(names: tuple[str, ...], values: tuple[Setting, ...], _: tuple[type, ...]) -> Settings:
    """By the types as well, since True == 1 == 1.0."""
    return Settings(dict(zip(names, values, strict=True)))


Setup = tuple[str, Settings]
"""An experiment and its settings: what a process measures one subject in."""


@dataclass(frozen=True)
class Cell:
    """One quantity of an experiment at certain settings: its subjects can be compared there."""

    experiment: str
    parameters: Settings
    quantity: str

    @property
    def setup(self) -> Setup:
        return self.experiment, self.parameters

    @property
    def is_diagnostic(self) -> bool:
        """Nobody uses the blocks there: its figures are shown, and no sentence is made of them."""
        return self.parameters.get("touch") == "none"
