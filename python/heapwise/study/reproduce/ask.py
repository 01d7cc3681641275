"""From a published report to a plan: its experiments, in its cells, with the subjects it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from heapwise.catalog import find_experiments, find_peers
from heapwise.errors import Problem
from heapwise.model import (
    PROGRAM,
    AuthorOutput,
    Experiment,
    FigureKey,
    PublishedReport,
    Reproduction,
    Setting,
    SubjectName,
    settle,
)
from heapwise.runner.plan.compare_plan import Prepared
from heapwise.runner.plan.examined import with_programs
from heapwise.runner.plan.experiment_plan import (
    RunRequest,
    parse_settings,
    plan_run,
    resolve,
    usable,
)
from heapwise.wording.lists import listed
from heapwise.wording.suggest import did_you_mean


def prepare_reproduction(
    report: PublishedReport,
    source: str,
    request: RunRequest,
    environment: Mapping[str, str],
    *,
    output: str = "",
    pdf: bool = False,
    author_outputs: Sequence[AuthorOutput] = (),
) -> Prepared:
    """given: the name or the path that a later invocation finds the report by. Problems: E003 bad
    setting, E008 a report none of whose experiments is here, E052 no native parts."""
    peers = find_peers()
    named = [place.subject for place in report.places]
    known = {e.id: resolve(e, usable(peers, named)) for e in find_experiments()}
    places = _by_experiment(report)
    for id, found in places.items():
        if id in known:
            _demand_subjects(known[id], found, [peer.name for peer in peers], report.name)
    experiments = [_with_subjects(known[id], found) for id, found in places.items() if id in known]
    experiments = [e for e in experiments if any(spec.available for spec in e.subjects)]
    if not experiments:
        raise Problem(
            "E008",
            f"no experiment of {report.name} can run here",
            do="heapwise list   says which experiments there are",
        )
    for experiment in experiments:
        _demand_quantities(experiment, places[experiment.id], report.name)
    chosen = parse_settings(request.settings, experiments)
    changes = {e.id: _changes(e, places[e.id], chosen, request.smoke) for e in experiments}
    cells = {e.id: _cells(e, places[e.id], changes[e.id]) for e in experiments}
    experiments = [
        with_programs(e, [cell[PROGRAM] for cell in cells[e.id]]) if e.programs else e
        for e in experiments
    ]
    if report.repeats and not request.smoke:
        request = replace(request, repeats=report.repeats)
    prepared = plan_run(
        request,
        environment,
        peers,
        experiments,
        {},
        Reproduction(source, cells, changes, output, pdf, list(author_outputs)),
    )
    wanted = {SubjectName.parse(subject).peer for subject in named}
    return replace(prepared, missing=[p for p in prepared.missing if p.name in wanted])


def changes_of(
    report: PublishedReport, experiments: Sequence[Experiment], settings: list[str]
) -> dict[str, dict[str, Setting]]:
    """Experiment -> what ``settings`` say instead of the report. Problem E003 for a bad one."""
    places = _by_experiment(report)
    chosen = parse_settings(settings, experiments)
    return {
        e.id: _changes(e, places[e.id], chosen, smoke=False) for e in experiments if e.id in places
    }


def _by_experiment(report: PublishedReport) -> dict[str, list[FigureKey]]:
    places: dict[str, list[FigureKey]] = {}
    for place in report.places:
        places.setdefault(place.experiment, []).append(place)
    return places


def _demand_subjects(
    experiment: Experiment, places: Sequence[FigureKey], peers: Sequence[str], report: str
) -> None:
    """Problem E008 for a subject that the experiment has with no allocator."""
    names = [subject.name for subject in experiment.subjects]
    declared = {SubjectName.parse(name).declared for name in names}
    for place in places:
        wanted = SubjectName.parse(place.subject)
        if wanted.declared in declared and (not wanted.peer or wanted.peer in peers):
            continue
        hint = did_you_mean(place.subject, names)
        raise Problem(
            "E008",
            f"{report}: {experiment.id} has no subject {place.subject}{hint}",
            why="The figure would have nothing beside it.",
            do=f"its subjects are {listed(names, len(names))}",
        )


def _demand_quantities(experiment: Experiment, places: Sequence[FigureKey], report: str) -> None:
    """Problem E008 for a quantity that the experiment does not have."""
    known = [quantity.name for quantity in experiment.quantities]
    for place in places:
        if place.quantity not in known:
            hint = did_you_mean(place.quantity, known)
            what = f"{report}: {experiment.id} has no quantity {place.quantity}{hint}"
            raise Problem(
                "E008",
                what,
                why="The figure would have nothing beside it.",
                do=f"its quantities are {', '.join(known)}",
            )


def _with_subjects(experiment: Experiment, places: Sequence[FigureKey]) -> Experiment:
    """Only those that the report names, and the baseline, without which there is no noise floor."""
    names = {place.subject for place in places} | {experiment.baseline}
    return replace(experiment, subjects=[s for s in experiment.subjects if s.name in names])


def _changes(
    experiment: Experiment,
    places: Sequence[FigureKey],
    chosen: Mapping[str, list[Any]],
    smoke: bool,
) -> dict[str, Setting]:
    """What the user set; and in a smoke run the smoke value of each number that is the same in the
    whole report: it is a size, and what the report compares is kept."""
    found: dict[str, Setting] = {}
    for parameter in experiment.parameters:
        usual = (parameter.default or parameter.smoke)[0]
        values = {str(place.parameters.get(parameter.name, usual)) for place in places}
        if parameter.name in chosen:
            found[parameter.name] = _only(parameter.name, chosen[parameter.name])
        elif smoke and len(values) == 1 and _is_number(usual) and parameter.smoke:
            found[parameter.name] = parameter.smoke[0]
    return found


def _only(name: str, values: list[Any]) -> Setting:
    if len(values) != 1:
        raise Problem(
            "E003",
            f"--set {name}: a published report is reproduced with one value",
            do=f"--set {name}={values[0]}",
        )
    value: Setting = values[0]
    return value


def _is_number(value: Setting) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cells(
    experiment: Experiment, places: Sequence[FigureKey], changes: Mapping[str, Setting]
) -> list[dict[str, Setting]]:
    """Each once, in the order of the report."""
    found = [settle(experiment, place.parameters, changes) for place in places]
    return [cell for at, cell in enumerate(found) if cell not in found[:at]]
