"""A document as a part of an HTML page. Everything is escaped but the drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from heapwise.document.model import (
    DRAWING,
    Code,
    Facts,
    Folded,
    Heading,
    Labelled,
    Notice,
    Passage,
    Plot,
    Sentence,
    SentenceList,
    TableCell,
    TextTable,
    with_content,
)

NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
"""A figure needs it in a file of its own, and not in a page."""

ZOOMS = Markup(
    '<p class="small"><button type="button" class="quiet" data-zoom="2" hidden>Zoom in</button>\n'
    '<button type="button" class="quiet" data-zoom="0.5" hidden>Zoom out</button></p>\n'
    '<div class="zoom" tabindex="0" role="group" aria-label="The keys + and − zoom">{}</div>'
)
FACT = Markup("<div><dt>{}</dt><dd>{}</dd></div>")
COMMAND = Markup(
    '<div class="command"><code>{}</code>\n'
    '<button type="button" data-copy>Copy the command</button></div>'
)


def html(blocks: Sequence[Passage]) -> Markup:
    return Markup("\n").join(_element(block) for block in with_content(blocks))


def _element(block: Passage) -> Markup:
    match block:
        case Heading(text, anchor):
            name = Markup(' id="{}"').format(anchor) if anchor else ""
            return Markup("<h3{}>{}</h3>").format(name, text)
        case Sentence(text, ""):
            return Markup("<p>{}</p>").format(text)
        case Sentence(text, link):
            return Markup('<p>{0} <a href="{1}">{1}</a></p>').format(text, link)
        case SentenceList(texts):
            return Markup('<ul class="told">\n{}\n</ul>').format(_each("<li>{}</li>", texts))
        case Facts(pairs):
            facts = Markup("\n").join(FACT.format(*pair) for pair in pairs)
            return Markup('<dl class="facts">\n{}\n</dl>').format(facts)
        case Code(text, ""):
            return COMMAND.format(text)
        case Code(text):
            return Markup("<pre>{}</pre>").format(text)
        case Notice(text):
            return Markup('<p class="small">{}</p>').format(text)
        case Labelled(label, text):
            return Markup("<p><b>{}</b> {}</p>").format(label, text)
        case Plot(svg, caption, zooms):
            drawn = ZOOMS.format(drawing(svg)) if zooms else drawing(svg)
            words = Markup("<figcaption>{}</figcaption>").format(caption) if caption else ""
            return Markup("<figure>{}{}</figure>").format(drawn, words)
        case Folded(title, passages, is_open):
            return _folded(title, html(passages), is_open=is_open)
        case TextTable():
            return _table(block)


def _each(form: str, texts: Sequence[str]) -> Markup:
    return Markup("\n").join(Markup(form).format(text) for text in texts)


def _folded(title: str, content: Markup, *, is_open: bool) -> Markup:
    return Markup("<details{}><summary>{}</summary>\n{}\n</details>").format(
        Markup(" open") if is_open else "", title, content
    )


def _table(table: TextTable) -> Markup:
    shown = _shown(table)
    head = Markup("").join(
        _head(cell, sortable=table.sortable) for at, cell in enumerate(table.head) if at in shown
    )
    if head:
        head = Markup("<thead><tr>{}</tr></thead>\n").format(head)
    caption = Markup("<caption>{}</caption>\n").format(table.caption) if table.caption else ""
    looks = {"figures": table.of_figures, table.look: table.look, "sortable": table.sortable}
    names = " ".join(name for name, has in looks.items() if has)
    style = Markup(' class="{}"').format(names) if names else ""
    rows, foot = (
        Markup("\n").join(_row(row, shown) for row in part) for part in (table.rows, table.foot)
    )
    if foot:
        foot = Markup("\n<tfoot>\n{}\n</tfoot>").format(foot)
    text = Markup('<div class="scroll"><table{}>\n{}{}<tbody>\n{}\n</tbody>{}\n</table></div>')
    text = text.format(style, caption, head, rows, foot)
    return _folded(table.folded, text, is_open=table.is_open) if table.folded else text


def _shown(table: TextTable) -> list[int]:
    """The columns that have a text or a drawing."""
    filled = {
        at
        for row in (table.head, *table.rows, *table.foot)
        if not isinstance(row, Heading)
        for at, cell in _columns(row)
        if cell.text or cell.svg
    }
    return sorted({0, *filled})


def _columns(row: Sequence[TableCell]) -> Iterator[tuple[int, TableCell]]:
    """Each cell with the first of the columns that it fills."""
    at = 0
    for cell in row:
        yield at, cell
        at += cell.span


def _head(cell: TableCell, *, sortable: bool) -> Markup:
    """Nobody sorts by a drawing."""
    sorts = sortable and cell.mark != DRAWING
    form = Markup('<button type="button">{}</button>') if sorts else Markup("{}")
    return Markup('<th scope="col"{}>{}</th>').format(_attributes(cell), form.format(cell.text))


def _row(row: Sequence[TableCell] | Heading, shown: Sequence[int]) -> Markup:
    if isinstance(row, Heading):
        return Markup('<tr class="kind"><th scope="rowgroup" colspan="{}">{}</th></tr>').format(
            len(shown), row.text
        )
    first, *others = (cell for at, cell in _columns(row) if at in shown)
    values = Markup("").join(
        Markup("<td{}>{}</td>").format(_attributes(cell), _content(cell)) for cell in others
    )
    return Markup('<tr><th scope="row"{}>{}</th>{}</tr>').format(
        _attributes(first), _content(first), values
    )


def _attributes(cell: TableCell) -> Markup:
    names = [*([cell.mark] if cell.mark else []), *(["wrapped"] if cell.is_code else [])]
    found = {
        "class": " ".join(names) or None,
        "colspan": cell.span if cell.span > 1 else None,
        "data-value": cell.value,
        "title": cell.hint or None,
    }
    return Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in found.items() if value is not None
    )


def _content(cell: TableCell) -> Markup:
    text = Markup("<code>{}</code>").format(cell.text) if cell.is_code else escape(cell.text)
    text = Markup('<a href="{}">{}</a>').format(cell.link, text) if cell.link else text
    small = Markup("<small>{}</small>").format(cell.small) if cell.small else ""
    note = Markup('<small class="note">{}</small>').format(cell.note) if cell.note else ""
    return text + small + note + drawing(cell.svg)


def drawing(svg: str) -> Markup:
    """A figure as a part of a page."""
    return Markup(svg.replace(NAMESPACE, ""))
