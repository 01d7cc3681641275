"""One self-contained HTML file from any number of runs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import jinja2
from markupsafe import Markup

import heapwise.report.sections
from heapwise import __version__
from heapwise.document import Passage
from heapwise.document.html import html
from heapwise.figures.svg import PALETTE
from heapwise.report.context import Context
from heapwise.report.protection import prices
from heapwise.report.view import View
from heapwise.study.section import sections
from heapwise.wording.visible import visible


@dataclass(frozen=True)
class Block:
    """A section as it stands in the page: its template has been filled already."""

    id: str
    title: str
    html: Markup


def section_modules() -> list[ModuleType]:
    """Files of ``sections``, by their ORDER. Each has TITLE, ORDER, and ``tell(view)`` for a
    document, or ``build(view)`` for the fields of its template. Kinds of study have more."""
    path = heapwise.report.sections.__path__
    found = [
        importlib.import_module(f"heapwise.report.sections.{module.name}")
        for module in pkgutil.iter_modules(path)
    ]
    return sorted(found, key=lambda module: module.ORDER)


def environment() -> jinja2.Environment:
    """Everything is escaped; SVG of ours comes marked as safe. A character that turns the order of
    words is written as its number, in names that figures hold too."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("heapwise.report"),
        autoescape=True,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _visible(value: Any) -> Any:
    if isinstance(value, Markup):
        return Markup(visible(value))
    return visible(value) if isinstance(value, str) else value


def whole_page(template: str, scripts: Sequence[str], **values: Any) -> str:
    """One file that loads nothing from the network."""
    templates = environment()
    assert templates.loader is not None
    style, *texts = (
        Markup(templates.loader.get_source(templates, name)[0]) for name in ("style.css", *scripts)
    )
    shared = {"palette": PALETTE, "version": __version__, "style": style}
    return templates.get_template(template).render(
        **{**shared, "script": Markup("").join(texts), **values}
    )


def told_page(title: str, what: str, answer: str, told: Sequence[Passage]) -> str:
    """A document as a page. what: is shown."""
    text = html(told)
    return whole_page("told.html", ("zoom.js",), title=title, what=what, answer=answer, told=text)


def build_page(views: list[View]) -> str:
    """The whole file. Raises ValueError for no run."""
    if not views:
        raise ValueError("a report needs at least one run")
    templates = environment()
    runs = [
        {
            "view": view,
            "blocks": [*_blocks(templates, view), *_price_of_protection(view, views)],
        }
        for view in views
    ]
    return whole_page(
        "page.html",
        ("script.js", "zoom.js"),
        runs=runs,
        views=views,
        version=views[0].run.version,
    )


def _blocks(templates: jinja2.Environment, view: View) -> list[Block]:
    found = [
        (module.ORDER, _name(module), module.TITLE, _text(templates, module, view))
        for module in section_modules()
    ]
    found += [
        (each.order, each.name, each.title, html(each.tell(view.result, view.evidence)))
        for each in sections()
    ]
    return [
        Block(f"{name}-{view.run.id}", title, text)
        for _, name, title, text in sorted(found)
        if text
    ]


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _text(templates: jinja2.Environment, module: ModuleType, view: View) -> Markup:
    """Empty if the run has nothing for this section."""
    if hasattr(module, "tell"):
        return html(module.tell(view))
    content: Context | None = module.build(view)
    if content is None:
        return Markup()
    template = templates.get_template(f"sections/{_name(module)}.html")
    return Markup(template.render(view=view, **content))


def _price_of_protection(view: View, views: list[View]) -> list[Block]:
    """The only block that needs two runs: a comparison, and one of attacks."""
    text = html(prices(view, views))
    return [Block(f"protection-{view.run.id}", "Protection and its price", text)] if text else []
