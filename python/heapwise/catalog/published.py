"""The published reports that are known here, and their figures for the experiments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from heapwise.catalog.added import data_folder
from heapwise.catalog.published_file import read_published
from heapwise.errors import Problem
from heapwise.model import CitedFigure, Experiment, PublishedReport
from heapwise.natives import CHECKOUT, PACKAGE
from heapwise.wording.suggest import did_you_mean

PUBLISHED = "published"
SUFFIX = ".toml"


def published_folders() -> list[Path]:
    """``HEAPWISE_PUBLISHED``, or ours (in the package, or in the checkout) and the user's."""
    if configured := os.environ.get("HEAPWISE_PUBLISHED"):
        return [Path(configured).absolute()]
    inside = PACKAGE / PUBLISHED
    return [inside if inside.is_dir() else CHECKOUT / PUBLISHED, data_folder() / PUBLISHED]


def find_published() -> tuple[list[PublishedReport], list[Problem]]:
    """All that can be read, by name; and what is wrong with the others."""
    found: dict[str, PublishedReport] = {}
    problems = []
    for folder in published_folders():
        for path in sorted(folder.glob(f"*{SUFFIX}")):
            try:
                found[path.stem] = _read(path)
            except Problem as problem:
                problems.append(problem)
    return [found[name] for name in sorted(found)], problems


def choose_published(name: str) -> PublishedReport:
    """By name, or by the path of a file. Problem E007 if there is none, E008 if it is damaged."""
    if name.endswith(SUFFIX):
        return read_published(Path(name))
    paths = {
        path.stem: path
        for folder in published_folders()
        for path in sorted(folder.glob(f"*{SUFFIX}"))
    }
    if name not in paths:
        there = f"there are {', '.join(sorted(paths))}" if paths else "there is none"
        raise Problem(
            "E007", f"no published report is called '{name}'{did_you_mean(name, paths, there)}"
        )
    return _read(paths[name])


def with_published(experiments: list[Experiment]) -> list[Experiment]:
    """Each with the figures of all reports for it."""
    figures: dict[str, list[CitedFigure]] = {}
    for report in find_published()[0]:
        for experiment, figure in cited_figures(report):
            figures.setdefault(experiment, []).append(figure)
    return [replace(e, published=figures[e.id]) if e.id in figures else e for e in experiments]


def cited_figures(report: PublishedReport) -> Iterator[tuple[str, CitedFigure]]:
    """The medians that stand beside a value of ours, in the unit of ours."""
    for table in report.tables:
        machine = report.machines[table.machine]
        for figure in table.figures:
            place = figure.ours.value_of if figure.ours else None
            if place and figure.value is not None and figure.statistic == "median":
                yield (
                    place.experiment,
                    CitedFigure(
                        place.subject,
                        place.quantity,
                        place.parameters,
                        figure.value * figure.scale + figure.offset,
                        machine.title,
                        report.title,
                    ),
                )


def _read(path: Path) -> PublishedReport:
    return _read_once(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _read_once(path: Path, _changed_at: int) -> PublishedReport:
    return read_published(path)
