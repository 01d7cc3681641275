"""One document on a terminal, as HTML and as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from heapwise.document import (
    DRAWING,
    Code,
    Facts,
    Folded,
    Heading,
    Labelled,
    Notice,
    Plot,
    Sentence,
    SentenceList,
    TableCell,
    TextOrCell,
    TextTable,
    column_table,
    plain_table,
    table_cell,
    under,
    with_content,
)
from heapwise.document.html import html
from heapwise.document.markdown import markdown
from heapwise.document.terminal import terminal

DOCUMENT = [
    Heading("Is a < b?"),
    Sentence("Yes."),
    Plot("<svg>drawn</svg>", "a & b"),
    TextTable(
        [table_cell("name"), table_cell("first | of all", "1")],
        [[table_cell("a <b>"), table_cell("stopped after 3", "later")]],
        "A caption.",
        folded="Each",
    ),
    Notice("later: after it."),
]


def test_a_terminal_has_short_cells_and_no_figure() -> None:
    assert terminal(DOCUMENT).splitlines() == [
        "Is a < b?",
        "",
        "Yes.",
        "",
        "A caption.",
        "name   1",
        "a <b>  later",
        "later: after it.",
    ]


def test_a_narrow_terminal_leaves_spare_columns_out_and_breaks_no_name() -> None:
    head = ["", "time", "min to max", "user", "system"]
    rows = [
        ["a-name-of-twenty-lets", "1,000 ms", "990 to 1,100", "800 ms", "100 ms"],
        ["glibc", "1,100 ms", "1,090 to 1,200", "900 ms", "100 ms"],
    ]
    for is_fitted in (True, False):
        table = replace(plain_table([head, *rows], fits=is_fitted), spare=("system", "min to max"))
        heads = [terminal([table], width).split("\n")[0].split() for width in (80, 62, 50)]
        assert heads[0] == ["time", "min", "to", "max", "user", "system"]
        assert heads[1] == ["time", "min", "to", "max", "user"]
        assert heads[2] == ["time", "user"]
        assert "a-name-of-twenty-lets  1,000 ms  800 ms" in terminal([table], 50)


def test_html_escapes_all_but_the_figure() -> None:
    text = html(DOCUMENT)
    assert "<h3>Is a &lt; b?</h3>" in text
    assert "<figure><svg>drawn</svg><figcaption>a &amp; b</figcaption></figure>" in text
    assert '<th scope="row">a &lt;b&gt;</th><td>stopped after 3</td>' in text
    assert "<details><summary>Each</summary>" in text
    assert '<p class="small">later: after it.</p>' in text


def test_markdown_keeps_a_bar_in_its_cell() -> None:
    lines = markdown(DOCUMENT, level=3)
    assert lines[0] == "### Is a < b?"
    assert "| name | first \\| of all |" in lines
    assert "| a <b> | stopped after 3 |" in lines
    assert not any("svg" in line for line in lines)


def test_nothing_is_nothing_in_each_form() -> None:
    assert (terminal([]), html([]), markdown([])) == ("", "", [])


def test_an_entry_follows_the_one_above_it_and_its_label_stands_once() -> None:
    entries = [
        Labelled("Advice", "Use it."),
        Labelled("", "Or not."),
        Labelled("Trust", "good", folds=False),
    ]
    assert terminal([Sentence("Yes."), *entries]).splitlines() == [
        "Yes.",
        "",
        "Advice   Use it.",
        "         Or not.",
        "Trust    good",
    ]
    assert html(entries[:1]) == "<p><b>Advice</b> Use it.</p>"
    assert markdown(entries[:2]) == ["Advice: Use it.", "", "Or not.", ""]


def test_a_table_that_fits_is_folded_where_the_terminal_is_narrow() -> None:
    table = plain_table([["name", "figure"], ["a name of many words", "1"]], fits=True)
    assert len(terminal([table]).splitlines()) == 2
    assert max(map(len, terminal([table], 20).splitlines())) <= 20


def test_a_cell_keeps_its_colour_its_interval_and_its_code() -> None:
    table = TextTable(
        [table_cell("verdict"), table_cell("here"), table_cell("command")],
        [
            [
                table_cell("refuted", mark="worse"),
                table_cell("6.3", "6.30", "6.2 to 6.4"),
                table_cell("a <b>", is_code=True),
            ]
        ],
        of_figures=True,
    )
    page = html([table])
    assert '<th scope="row" class="worse">refuted</th>' in page
    assert "<td>6.3<small>6.2 to 6.4</small></td>" in page
    assert '<td class="wrapped"><code>a &lt;b&gt;</code></td>' in page
    assert markdown([table])[2] == "| refuted | 6.3 (6.2 to 6.4) | `a <b>` |"
    assert terminal([table]).splitlines() == ["verdict  here  command", "refuted  6.30    a <b>"]


def test_a_character_that_turns_words_is_as_wide_as_it_is_shown() -> None:
    table = plain_table([["name", "figure"], ["x\u202ey", "1"], ["a name", "2"]], fits=True)
    assert terminal([table]).splitlines() == [
        "name      figure",
        "x\\u202ey  1",
        "a name    2",
    ]


def test_a_sentence_with_a_link_has_it_where_forms_have_links() -> None:
    sentence = Sentence("Of 1999.", "https://a.example/?a&b")
    assert terminal([sentence]) == "Of 1999."
    assert '<a href="https://a.example/?a&amp;b">https://a.example/?a&amp;b</a>' in html([sentence])
    assert markdown([sentence])[0] == "Of 1999. [Where it can be read](https://a.example/?a&b)."


def test_rows_have_a_title_and_a_cell_fills_several_columns() -> None:
    table = TextTable(
        [table_cell("row", ""), table_cell("time"), table_cell("memory")],
        [Heading("pools"), [table_cell("a"), TableCell("no figure", "none", span=2)]],
        folded="All",
        is_open=True,
    )
    page = html([table])
    assert "<details open>" in page
    assert '<tr class="kind"><th scope="rowgroup" colspan="3">pools</th></tr>' in page
    assert '<td colspan="2">no figure</td>' in page
    assert markdown([table])[2:4] == ["| pools |", "| a | no figure |  |"]
    assert terminal([table]).splitlines()[1:] == ["pools:", "a       none"]


def test_facts_lists_and_what_can_be_opened_stand_in_each_form() -> None:
    document = [
        Facts([("Caches", "32 KiB"), ("Memory", "a < b")]),
        SentenceList(["first", "second"]),
        Folded("More", [Notice("inside")]),
        Code("heapwise run a"),
    ]
    assert terminal(document).splitlines() == [
        "Caches  32 KiB",
        "Memory  a < b",
        "",
        "- first",
        "- second",
        "",
        "More",
        "",
        "inside",
        "",
        "heapwise run a",
    ]
    page = html(document)
    assert "<div><dt>Memory</dt><dd>a &lt; b</dd></div>" in page
    assert "<li>first</li>\n<li>second</li>" in page
    assert '<details><summary>More</summary>\n<p class="small">inside</p>\n</details>' in page
    assert "<code>heapwise run a</code>" in page
    lines = markdown(document)
    assert lines[:2] == ["- Caches: 32 KiB", "- Memory: a < b"]
    assert lines[lines.index("## More") + 2] == "inside"
    assert "    heapwise run a" in lines


def test_a_column_of_drawings_and_one_without_text_are_left_out_of_text() -> None:
    table = TextTable(
        [table_cell("name"), table_cell("where", ""), table_cell("every sample", mark=DRAWING)],
        [[table_cell("a"), table_cell("here", ""), TableCell("", "", svg="<svg>dots</svg>")]],
        sortable=True,
    )
    assert terminal([table]).splitlines() == ["name", "a"]
    assert markdown([table])[0] == "| name | where |"
    page = html([table])
    assert "<td><svg>dots</svg></td>" in page
    assert page.count("<button") == 2, "nobody sorts by a drawing"


def test_the_note_of_a_row_stands_below_its_table_or_within_it() -> None:
    rows = [
        [TableCell(name, name, note=note), table_cell("1")]
        for name, note in (("a", "weak"), ("b", ""), ("c", "weak"))
    ]
    table = TextTable([table_cell("name"), table_cell("figure")], rows)
    assert terminal([table]).splitlines()[-1] == "  a, c: weak"
    assert "- a, c: weak" in markdown([table])
    assert html([table]).count('<small class="note">weak</small>') == 2


def test_long_names_stand_last_and_above_their_row_where_there_is_no_room() -> None:
    table = TextTable(
        [table_cell("site"), table_cell("bytes")],
        [[table_cell("a_very_long_name_of_a_function"), table_cell("12 KiB")]],
        cut=lambda name, most: name[:most],
    )
    assert terminal([table], 36).splitlines() == [
        "bytes   site",
        "12 KiB  a_very_long_name_of_a_functi",
    ]
    assert terminal([table], 30).splitlines() == [
        "bytes",
        "a_very_long_name_of_a_function",
        "  12 KiB",
    ]


def test_a_part_without_content_is_left_out_in_each_form() -> None:
    empty = [
        Sentence(""),
        SentenceList([]),
        Facts([]),
        plain_table([["name", "figure"]]),
        Plot("", "A caption."),
        Folded("More", [Notice("")]),
    ]
    assert with_content([Sentence("Yes."), *empty]) == [Sentence("Yes.")]
    assert terminal([Sentence("Yes."), *empty, Sentence("No.")]) == "Yes.\n\nNo."
    assert html(empty) == ""
    assert markdown(empty) == under("Title", empty) == []


def test_a_table_of_columns_has_a_row_for_each_item() -> None:
    columns: dict[str, Callable[[int], TextOrCell]] = {
        "number": str,
        "twice": lambda number: table_cell(str(2 * number), mark="better"),
    }
    table = column_table(columns, [1, 2], "Doubles.")
    assert terminal([table]).splitlines() == ["Doubles.", "number  twice", "1       2", "2       4"]
    assert '<td class="better">4</td>' in html([table])


def test_a_column_behind_a_wide_cell_is_left_out_where_it_is_empty() -> None:
    wide = TableCell("failed", "failed", span=2)
    rows = [["a", wide, "", "seen"], ["b", "1", "2", "", "seen"]]
    table = plain_table([["name", "least", "most", "", "note"], *rows])
    assert '<th scope="row">a</th><td colspan="2">failed</td><td>seen</td></tr>' in html([table])
    assert '<th scope="row">b</th><td>1</td><td>2</td><td>seen</td></tr>' in html([table])
