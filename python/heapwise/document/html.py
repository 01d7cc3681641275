"""A document as a part of an HTML page. Everything is escaped but the drawings."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from heapwise.document.model import (
    Entry,
    Heading,
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
        case Sentence(text):
            return Markup("<p>{}</p>").format(text)
        case Notice(text):
            return Markup('<p class="small">{}</p>').format(text)
        case Entry(label, text):
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
    text = Markup("<table>\n{}<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>").format(
        caption, head, Markup("\n").join(map(_row, table.rows))
    )
    if not table.folded:
        return text
    return Markup(
        '<details><summary>{}</summary>\n<div class="scroll">{}</div>\n</details>'
    ).format(table.folded, text)


def _row(cells: Sequence[TableCell]) -> Markup:
    first, *others = (escape(cell.text) for cell in cells)
    values = Markup("").join(Markup("<td>{}</td>").format(text) for text in others)
    return Markup('<tr><th scope="row">{}</th>{}</tr>').format(first, values)
