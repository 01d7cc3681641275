"""Published reports as data: what is read, what is refused in words, and what is joined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from heapwise.catalog import choose_published, find_experiments, find_published
from heapwise.catalog.formula import parse_formula, parse_statement
from heapwise.catalog.published import cited_figures
from heapwise.catalog.published_file import read_published
from heapwise.errors import Problem
from heapwise.model import FigureKey

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted((ROOT / "published").glob("*.toml"))

REPORT = """
title = "A report"
origin = "A report"
[machine.one]
title = "A machine"
[[table]]
name = "times"
title = "Times"
machine = "one"
unit = "ns/op"
experiment = "pool/bulk"
quantity = "free"
  [[table.row]]
  title = "pool"
  name = "pool"
  subject = "unsynchronized"
  values = [7.5]
  [[table.row]]
  title = "malloc"
  name = "malloc"
  subject = "malloc@glibc"
  values = ["~30"]
[[conclusion]]
says = "The pool is faster."
shows = ["malloc / pool >= 2"]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_report_of_ours_can_be_read(path: Path) -> None:
    report = read_published(path)
    assert report.tables
    assert report.conclusions
    assert len(report.origin) > 20


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_printed_figures_of_a_report_satisfy_its_conclusions(path: Path) -> None:
    """A bound that the report itself does not meet would be ours, and not the report's."""
    wrong = [
        (statement.words, statement.published)
        for conclusion in read_published(path).conclusions
        for statement in conclusion.statements
        for ratio in statement.published
        if not statement.at_least <= ratio <= (statement.at_most or float("inf"))
        or (statement.size and not statement.size[0] <= ratio <= statement.size[1])
    ]
    assert wrong == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_direction_of_a_ratio_is_judged_apart_from_its_size(path: Path) -> None:
    """A ratio of figures has no bound but 1: how large it is, the second verdict says."""
    bounded = [
        statement.words
        for conclusion in read_published(path).conclusions
        for statement in conclusion.statements
        if len(statement.formula.places) > 1 and statement.size
        if statement.at_least not in (0.0, 1.0)
    ]
    assert bounded == []


@pytest.mark.parametrize(
    ("name", "figures", "tables", "conclusions"),
    [
        ("pool-policies", 12 + 9, 5, 10),
        ("pool-vs-malloc", 30 + 3, 3, 10),
        ("latency-lab", 178, 48, 78 + 18),
        ("binary-trees", 2 * 25 * 3, 2, 15),
        ("allocatorbench", 17 + 8 + 12, 12, 20),
    ],
)
def test_every_figure_of_the_report_is_there(
    name: str, figures: int, tables: int, conclusions: int
) -> None:
    report = choose_published(name)
    assert sum(figure.value is not None for figure in report.figures) == figures
    assert (len(report.tables), len(report.conclusions)) == (tables, conclusions)


def test_every_place_is_a_figure_that_an_experiment_yields(built_native: Path) -> None:
    known = {experiment.id: experiment for experiment in find_experiments()}
    wrong = []
    for report in find_published()[0]:
        for place in report.places:
            experiment = known.get(place.experiment)
            subjects = {spec.name for spec in experiment.subjects} if experiment else set()
            if (
                experiment is None
                or place.subject.partition("@")[0] not in subjects
                or place.quantity not in {q.name for q in experiment.quantities}
                or not set(place.parameters) <= {p.name for p in experiment.parameters}
            ):
                wrong.append((report.name, place))
    assert wrong == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('title = "A report"\n', "", "title"),
        ('unit = "ns/op"', 'units = "ns/op"', "units"),
        ("values = [7.5]", "values = [7.5, 8]", "each of its 1 columns needs a value"),
        ('machine = "one"', 'machine = "two"', r"no \[machine.two\]"),
        ('subject = "unsynchronized"\n  ', "", "does not say experiment, subject and quantity"),
        ('name = "malloc"', 'name = "pool"', "two figures have the name 'pool'"),
        (
            "malloc / pool >= 2",
            "malloc / pol >= 2",
            "no figure has the name 'pol'; did you mean pool",
        ),
        ("malloc / pool >= 2", "malloc / pool > 2", "is not FORMULA >= NUMBER"),
        ("malloc / pool >= 2", "malloc + pool >= 2", "neither"),
        ('shows = ["malloc / pool >= 2"]', "", "needs either shows, or impossible"),
        ('experiment = "pool/bulk"', 'experiment = "../bulk"', "is not the id of an experiment"),
        ("shows = [", 'impossible = "no"\nshows = [', "needs either shows, or impossible"),
        ("~30", "a lot", ""),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_words(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    assert before in REPORT
    path = write(tmp_path, REPORT.replace(before, after, 1))
    if not words:  # a text without a number is a figure that the report does not have
        assert [figure.value for figure in read_published(path).figures] == [7.5, None]
        return
    with pytest.raises(Problem, match=words) as caught:
        read_published(path)
    assert caught.value.id == "E008"
    assert str(path) in caught.value.what
    assert caught.value.do


def test_a_figure_without_ours_needs_a_reason(tmp_path: Path) -> None:
    text = REPORT.replace('  name = "pool"\n  subject = "unsynchronized"\n', "").replace(
        'shows = ["malloc / pool >= 2"]', 'impossible = "only a test"'
    )
    with pytest.raises(Problem, match="no reason why there is none"):
        read_published(write(tmp_path, text))
    report = read_published(
        write(tmp_path, text.replace("values = [7.5]", 'values = [7.5]\n  reason = "gone"'))
    )
    assert [figure.reason for figure in report.figures] == ["gone", ""]


GRID = """
[[table]]
name = "all"
title = "All"
machine = "one"
experiment = "pool/concurrent"
quantity = "alloc_free"
columns = [{title = "pool", subject = "mutex"}, {title = "malloc", subject = "malloc@glibc"}]
  [[table.row]]
  title = "printed"
  values = ["", 30]
  [table.grid]
  block_size = [8, 64]
  threads = [1, 2]
[[conclusion]]"""


def test_figures_that_the_report_did_not_print_are_measured_beside_it(tmp_path: Path) -> None:
    report = read_published(write(tmp_path, REPORT.replace("[[conclusion]]", GRID)))
    table = report.table("all")
    assert [row.title for row in table.rows] == ["printed", "8, 1", "8, 2", "64, 1", "64, 2"]
    assert [figure.text for figure in table.rows[0].figures] == ["-", "30"]
    last = table.rows[-1].figures
    assert [figure.value for figure in last] == [None, None]
    assert [figure.ours and figure.ours.value_of for figure in last] == [
        FigureKey("pool/concurrent", name, "alloc_free", {"block_size": 64, "threads": 2})
        for name in ("mutex", "malloc@glibc")
    ]
    printed = table.rows[0].figures[0].ours
    assert printed is not None
    assert printed.places[0].subject == "mutex"


def test_users_add_reports_and_a_damaged_one_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / "heapwise" / "published"
    folder.mkdir(parents=True)
    write(folder, REPORT)
    (folder / "broken.toml").write_text("title = 1")
    reports, problems = find_published()
    assert {path.stem for path in SHIPPED} | {"mine"} == {report.name for report in reports}
    assert len(problems) == 1
    assert "broken.toml" in problems[0].what
    assert choose_published("mine").title == "A report"
    assert choose_published(str(folder / "mine.toml")).title == "A report"
    with pytest.raises(Problem, match="did you mean pool-vs-malloc") as caught:
        choose_published("pool-vs-maloc")
    assert caught.value.id == "E007"


def test_figures_are_joined_in_the_unit_of_the_experiment(built_native: Path) -> None:
    strides = {
        figure.parameters["stride"]: figure.value
        for id, figure in cited_figures(choose_published("latency-lab"))
        if id == "cache/stride_access"
    }
    assert strides == {1: 3490.0, 4: 3330.0, 16: 1010.0, 64: 346.0}
    [experiment] = [e for e in find_experiments() if e.id == "cache/stride_access"]
    assert {figure.report for figure in experiment.published} == {
        choose_published("latency-lab").title
    }


PLACES = {name: FigureKey("a/b", name, "q") for name in ("a", "b", "c", "d")}


@pytest.mark.parametrize(
    ("words", "above", "below"),
    [
        ("a", "a", ""),
        ("a / b", "a", "b"),
        ("a * d / b / c", "ad", "bc"),
        (" a/b*c ", "ac", "b"),
    ],
)
def test_formulas(words: str, above: str, below: str) -> None:
    found = parse_formula(words, PLACES)
    assert "".join(place.subject for place in found.above) == above
    assert "".join(place.subject for place in found.below) == below


PRINTED = {"old": {"a": 60.0, "b": 20.0, "c": 5.0}, "new": {"a": 30.0, "b": 15.0}}


@pytest.mark.parametrize(
    ("words", "bounds"),
    [
        ("a / b >= 1.5", (1.5, None)),
        ("a <= 0", (0.0, 0.0)),
        ("a/b within 0.9..1.1", (0.9, 1.1)),
        ("a / b about 3", (1.0, None)),
        ("a / b about 0.5", (0.0, 1.0)),
        ("a / b level", (1 / 1.1, 1.1)),
    ],
)
def test_statements(words: str, bounds: Any) -> None:
    found = parse_statement(words, PLACES)
    assert (found.at_least, found.at_most) == bounds


@pytest.mark.parametrize(
    ("words", "bounds"),
    [
        ("a / b >= 1", (1 / 1.1, 1.1)),
        ("a / b <= 1", (1 / 1.1, 1.1)),
        ("a / b about 3", (0.0, 2.0)),
        ("a / b about 1.2", (0.0, 1.1)),
        ("a / b about 0.5", (0.75, None)),
        ("a / b >= 1.5", None),
        ("a / b level", None),
        ("a >= 1", None),
    ],
)
def test_a_stated_difference_has_bounds_of_none(words: str, bounds: Any) -> None:
    found = parse_statement(words, PLACES, PRINTED).no_effect
    assert found == (bounds if bounds is None else pytest.approx(bounds))


def test_a_spread_is_a_statistic_of_a_place() -> None:
    found = parse_formula("spread(a) / b", PLACES)
    assert (found.above[0].statistic, found.below[0].statistic) == ("spread", "median")


@pytest.mark.parametrize(
    ("words", "published", "size"),
    [
        ("a / b >= 1", (3.0, 2.0), (2 / 1.5, 3 * 1.5)),
        ("a / b about 6", (3.0, 2.0), (4.0, 9.0)),
        ("processor_time(a) / processor_time(b) >= 1", (3.0, 2.0), (2 / 1.5, 3 * 1.5)),
        ("a / c >= 1", (12.0,), (8.0, 18.0)),
        ("a / d >= 1", (), None),
        ("a / b level", (3.0, 2.0), None),
        ("a / b within 1..9", (3.0, 2.0), None),
        ("spread(a) / spread(b) >= 1", (), None),
        ("a >= 1", (), None),
    ],
)
def test_the_size_of_a_statement_is_that_of_the_printed_figures(
    words: str, published: tuple[float, ...], size: tuple[float, float] | None
) -> None:
    found = parse_statement(words, PLACES, PRINTED)
    assert found.published == pytest.approx(published)
    assert found.size == (size if size is None else pytest.approx(size))


def test_functions_of_a_place() -> None:
    found = parse_formula("a / published(a)", PLACES, PRINTED)
    assert (found.places, found.factor) == ((PLACES["a"],), 1 / 60)
    [timed] = parse_formula("processor_time(a)", PLACES).places
    assert timed.quantity == "processor_time"
    [largest] = parse_formula("peak(a)", PLACES).places
    assert largest.statistic == "peak"


def test_processor_time_of_a_rate_takes_the_other_side_of_the_fraction() -> None:
    words = "processor_time(a) / processor_time(b)"
    of_rates = parse_formula(words, PLACES, PRINTED, {"a", "b"})
    assert [place.subject for place in of_rates.above] == ["b"]
    assert [place.subject for place in of_rates.below] == ["a"]
    found = parse_statement(f"{words} >= 1", PLACES, PRINTED, {"a", "b"})
    assert found.published == parse_statement("a / b >= 1", PLACES, PRINTED).published
    mixed = parse_formula(words, PLACES, PRINTED, {"b"})
    assert "".join(place.subject for place in mixed.above) == "ab"


def test_a_figure_is_a_rate_by_the_unit_of_the_report() -> None:
    [statement] = next(
        each for each in choose_published("latency-lab").conclusions if "3.4 times" in each.says
    ).statements
    assert [place.subject for place in statement.formula.above] == ["counter_1"]
    assert {place.quantity for place in statement.formula.places} == {"processor_time"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a about 3", "is for a ratio"),
        ("a / b about 1", "not 1"),
        ("a / published(d) >= 1", "does not print the figure 'd'"),
        ("published(a) / b >= 1", "that is not a divisor"),
        ("a / b level 3", "is not FORMULA"),
    ],
)
def test_statements_that_say_nothing_are_refused(words: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_statement(words, PLACES, PRINTED)
