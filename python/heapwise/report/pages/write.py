"""The files of all pages: path -> text. Every number in them comes from the run."""

from __future__ import annotations

from itertools import groupby

from heapwise.document import Heading, Passage, Sentence
from heapwise.document.markdown import markdown_page
from heapwise.model import Experiment
from heapwise.report.pages.experiment_page import page
from heapwise.report.pages.machine import built_words, kind_of
from heapwise.report.pages.picture import picture
from heapwise.report.sections.experiments import story_table
from heapwise.report.story import story
from heapwise.report.view import View

MADE_BY = "Made by `heapwise export RUN --format pages`; edit the experiment, not this."


def pages(view: View) -> dict[str, str]:
    """``README.md``, ``cache/levels.md``, ``cache/levels.svg``, ... Empty for a comparison."""
    experiments = [e for e in view.run.experiments if view.of(e) and not view.is_compare]
    files: dict[str, str] = {"README.md": _index(view, experiments)} if experiments else {}
    for experiment in experiments:
        drawn = picture(view, experiment)
        told = page(view, experiment, pictured=bool(drawn))
        files[f"{experiment.id}.md"] = markdown_page(experiment.id, told, MADE_BY)
        if drawn:
            files[f"{experiment.id}.svg"] = drawn
    return files


def _index(view: View, experiments: list[Experiment]) -> str:
    run = view.run
    words = (
        f"Run {run.id} of {run.created[:10]} on {kind_of(run.machine)}. "
        f"Trust: {view.result.trust.verdict}. {built_words(run.revision, '')}"
    )
    passages: list[Passage] = [Sentence(words.strip())]
    by_family = sorted(experiments, key=lambda e: e.family)  # a run mixes families
    for family, members in groupby(by_family, key=lambda e: e.family):
        stories = [story(view, experiment) for experiment in members]
        passages += [Heading(family), story_table(stories, "{}.md")]
    return markdown_page("Experiments", passages, MADE_BY)
