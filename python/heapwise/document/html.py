"""A document as a part of an HTML page. Everything is escaped but the drawings."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from heapwise.document.model import (
    Heading,
    Labelled,
    Notice,
    Passage,
    Plot,
    Sentence,
    TableCell,
    TextTable,
)


def html(blocks: Sequence[Passage]) -> Markup:
    return Markup("\n").join(_element(block) for block in blocks)


def _element(block: Passage) -> Markup:
    match block:
        case Heading(text):
            return Markup("<h3>{}</h3>").format(text)
        case Sentence(text, ""):
            return Markup("<p>{}</p>").format(text)
        case Sentence(text, link):
            return Markup('<p>{0} <a href="{1}">{1}</a></p>').format(text, link)
        case Notice(text):
            return Markup('<p class="small">{}</p>').format(text)
        case Labelled(label, text):
            return Markup("<p><b>{}</b> {}</p>").format(label, text)
        case Plot(svg, caption):
            return Markup("<figure>{}<figcaption>{}</figcaption></figure>").format(
                Markup(svg), caption
            )
        case TextTable():
            return _table(block)


def _table(table: TextTable) -> Markup:
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(c.text) for c in table.head)
    caption = Markup("<caption>{}</caption>\n").format(table.caption) if table.caption else ""
    name = Markup(' class="figures"') if table.of_figures else ""
    rows = Markup("\n").join(_row(row, len(table.head)) for row in table.rows)
    text = Markup(
        "<table{}>\n{}<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>"
    ).format(name, caption, head, rows)
    if not table.folded:
        return Markup('<div class="scroll">{}</div>').format(text)
    return Markup(
        '<details{}><summary>{}</summary>\n<div class="scroll">{}</div>\n</details>'
    ).format(Markup(" open") if table.is_open else "", table.folded, text)


def _row(row: Sequence[TableCell] | Heading, columns: int) -> Markup:
    if isinstance(row, Heading):
        return Markup('<tr class="kind"><th scope="rowgroup" colspan="{}">{}</th></tr>').format(
            columns, row.text
        )
    first, *others = row
    values = Markup("").join(
        Markup("<td{}{}>{}</td>").format(_classes(cell), _span(cell), _content(cell))
        for cell in others
    )
    return Markup('<tr><th scope="row"{}>{}</th>{}</tr>').format(
        _classes(first), _content(first), values
    )


def _span(cell: TableCell) -> Markup:
    return Markup(' colspan="{}"').format(cell.span) if cell.span > 1 else Markup("")


def _classes(cell: TableCell) -> Markup:
    names = [*([cell.mark] if cell.mark else []), *(["wrapped"] if cell.is_code else [])]
    return Markup(' class="{}"').format(" ".join(names)) if names else Markup("")


def _content(cell: TableCell) -> Markup:
    text = Markup("<code>{}</code>").format(cell.text) if cell.is_code else escape(cell.text)
    return text + Markup("<small>{}</small>").format(cell.small) if cell.small else text
