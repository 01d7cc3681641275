"""``heapwise peers``: the allocators that can be compared."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from heapwise.cli.frame.ask import completion
from heapwise.cli.frame.ask.options import JsonOption, QuietOption
from heapwise.cli.frame.tell.console import Console
from heapwise.errors import Exit, Problem

if TYPE_CHECKING:
    from heapwise.model import Peer

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...", autocompletion=completion.peers, help="Only these peers. [all]"
    ),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=False, rich_markup_mode=None, invoke_without_command=True)
    group.callback()(peers)
    group.command("list")(list_peers)
    group.command("path", short_help="Print the library of a peer.")(path)
    group.command("check", short_help="Test each peer in a process.")(check)
    group.command("add", short_help="Build a peer from its sources.")(add)
    group.command("remove", short_help="Remove a peer that was added.")(remove)
    app.add_typer(group, name="peers", short_help="List, check, add and remove allocators.")


def peers(context: typer.Context) -> None:
    """List, check, add and remove the allocators that can be compared.

    \b
    heapwise peers list
    LD_PRELOAD=$(heapwise peers path mimalloc) ./server
    heapwise peers check
    heapwise peers add all
    """
    if context.invoked_subcommand is None:
        list_peers()


def list_peers(json: JsonOption = False, quiet: QuietOption = False) -> int:
    """List every peer with its version, or how to get it.

    \b
    heapwise peers list
    heapwise peers list --json
    heapwise peers list --quiet
    """
    from heapwise.catalog import find_peers
    from heapwise.study.trees.tree_list import tree_lines

    console = Console(quiet, json)
    found = find_peers()
    if json:
        console.json(found)
        return 0
    if not found:
        console.say("No peer is declared: HEAPWISE_PEERS names a folder without peer files.")
    width = max((len(peer.name) for peer in found), default=0)
    here = [peer for peer in found if peer.path is not None]
    version, licence = (
        max((len(word) for word in words), default=0)
        for words in ([peer.version for peer in here], [peer.licence for peer in here])
    )
    for peer in found:
        if peer.path is None:
            console.result(f"{peer.name:<{width}} missing     ->  {peer.get}")
        elif quiet:
            console.result(peer.name)
        else:
            mark = "  debug build" if peer.debug_build else ""
            where = peer.path or "the system's C library"
            console.result(
                f"{peer.name:<{width}} {peer.version:<{version}} {peer.licence:<{licence}} "
                f"{where}{mark}"
            )
    for line in [] if quiet else tree_lines(width):
        console.result(line)
    return 0


def path(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=completion.peers,
            help="A name that `heapwise peers list` prints.",
        ),
    ],
    json: JsonOption = False,
) -> int:
    """Print the path of a peer's library, for LD_PRELOAD; an empty line for the C library's malloc.

    \b
    heapwise peers path jemalloc
    LD_PRELOAD=$(heapwise peers path mimalloc) ./server
    heapwise peers path scudo --json
    """
    peer = _installed(name)
    console = Console(as_json=json)
    if json:
        console.json({"name": peer.name, "path": peer.path})
    else:
        console.result(peer.path or "")
    return 0


def check(
    names: NamesArgument = None,
    allocator: Annotated[
        list[str] | None, typer.Option(metavar="NAME=/PATH.so", help="Add a library; repeatable.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Load each peer into a process, prove that it is in use, and test what malloc promises.

    \b
    heapwise peers check
    heapwise peers check jemalloc
    heapwise peers check mine=/home/me/libmine.so
    """
    from heapwise.catalog import adhoc_peer, installed_peers
    from heapwise.runner.contract import check_peer

    console = Console(quiet, json)
    named = names or []
    loaded = [adhoc_peer(text) for text in [*(allocator or []), *(n for n in named if "=" in n)]]
    known_here = {peer.name for peer in loaded}
    chosen = [_installed(n) for n in named if "=" not in n and n not in known_here] + loaded
    answers = []
    for peer in chosen or installed_peers():
        answer = check_peer(peer)
        answers.append(answer)
        if answer.trouble or not quiet:
            kept = sum(not text for text in answer.promises.values())
            known = f", known fault: {answer.known}" if answer.known else ""
            words = answer.trouble or f"loaded, {kept} promises kept{known}"
            console.result(f"{answer.peer:<10} {'FAILED  ' if answer.trouble else ''}{words}")
    if json:
        console.json(answers)
    failed = any(answer.trouble for answer in answers)
    return int(Exit.NOT_TRUSTWORTHY if failed else Exit.DONE)


def add(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...|all|trees|programs",
            autocompletion=completion.buildable_peers,
            help="Peers of the list; every language of the binary trees, one of them "
            "by trees/NAME; or the Python packages of heap/rl_programs.",
        ),
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Build it again even if it is up to date.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Install Debian packages without asking (root).")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Build peers from their sources in a registry, into your data folder, and test them.

    \b
    heapwise peers add snmalloc mimalloc2
    heapwise peers add all
    heapwise peers add trees
    heapwise peers add programs

    trees: the programs of experiments like trees/binary_trees in every language whose compiler is
    here. As root it installs compilers that Debian has; on a terminal it asks first. programs: the
    Python packages of heap/rl_programs.
    """
    from heapwise.builder import choose_buildable, choose_trees, packages_to_install
    from heapwise.catalog import PROGRAMS, find_wheels
    from heapwise.cli.frame.adding import add_each, add_each_tree, add_each_wheels

    console = Console(quiet, json)
    # By name: "all" and a peer's name may stand side by side.
    languages = {
        one.name: one for name in names if _is_of_trees(name) for one in choose_trees(name)
    }
    peers = [name for name in names if name != PROGRAMS and not _is_of_trees(name)]
    chosen = {one.name: one for name in peers for one in choose_buildable(name)}
    wheels = find_wheels() if PROGRAMS in names else []
    install = yes or not languages or _may_install(packages_to_install([*languages.values()]))
    results = [
        *add_each([*chosen.values()], console, again=again),
        *add_each_tree([*languages.values()], console, again=again, install=install),
        *add_each_wheels(wheels, console, again=again),
    ]
    if json:
        console.json(results)
    return int(max((result.exit for result in results), default=Exit.DONE))


def remove(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", autocompletion=completion.buildable_peers, help="A peer that was added."
        ),
    ],
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Take a peer that was added out of your data folder. Stored results keep its rows.

    \b
    heapwise peers remove snmalloc
    heapwise peers remove jemalloc-current
    heapwise peers remove tcmalloc-google --json
    """
    from heapwise.builder import choose_buildable, choose_trees
    from heapwise.catalog import PROGRAMS, find_wheels, forget, forget_trees, forget_wheels

    console = Console(quiet, json)
    try:
        if name == PROGRAMS:
            removed = [found.name for found in find_wheels() if forget_wheels(found)]
        elif _is_of_trees(name):
            removed = [found.name for found in choose_trees(name) if forget_trees(found)]
        else:
            removed = [peer.name for peer in choose_buildable(name) if forget(peer.name)]
    except Problem as problem:
        raise Problem(
            problem.id, problem.what, why="There is nothing to remove.", do="heapwise peers list"
        ) from problem
    if not removed:
        raise Problem(
            "E053",
            f"{name} was not added",
            why="There is nothing to remove.",
            do="heapwise peers list",
        )
    if json:
        console.json(removed)
    for found in removed:
        console.say(f"{found}: removed")
    return 0


def _may_install(packages: list[str]) -> bool:
    """Asks on a terminal. Without one, the command itself is the permission."""
    if not packages or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    typer.echo(f"apt-get install {' '.join(packages)}", err=True)
    return typer.confirm("Install these Debian packages?", default=True, err=True)


def _is_of_trees(name: str) -> bool:
    return name.partition("/")[0] == "trees"


def _installed(name: str) -> Peer:
    from heapwise.catalog import choose_peers

    present, missing = choose_peers([name])
    if missing:
        raise Problem("E053", f"{name} is not installed", do=missing[0].get)
    return present[0]
