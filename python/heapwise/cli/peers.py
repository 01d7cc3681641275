"""``heapwise peers``: the allocators that can be compared."""

from __future__ import annotations

from typing import Annotated

import typer

from heapwise.cli.frame.console import Console
from heapwise.cli.frame.options import DebugOption, JsonOption, QuietOption
from heapwise.errors import Exit, Problem
from heapwise.model import Peer

NamesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these; all if none.")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=False, rich_markup_mode=None, invoke_without_command=True)
    group.callback()(peers)
    group.command("list")(list_peers)
    group.command("path")(path)
    group.command("check")(check)
    app.add_typer(group, name="peers")


def peers(context: typer.Context) -> None:
    """The allocators that can be compared: which are here, where, and do they work.

    \b
    heapwise peers list
    LD_PRELOAD=$(heapwise peers path mimalloc) ./server
    heapwise peers check
    """
    if context.invoked_subcommand is None:
        list_peers()


def list_peers(
    json: JsonOption = False, quiet: QuietOption = False, debug: DebugOption = False
) -> int:
    """List every peer with its version, or how to get it.

    \b
    heapwise peers list
    heapwise peers list --json
    heapwise peers list --quiet
    """
    from heapwise.catalog import find_peers

    console = Console(quiet, json)
    found = find_peers()
    if json:
        console.json(found)
        return 0
    for peer in found:
        if peer.path is None:
            console.result(f"{peer.name:<10} missing     ->  {peer.get}")
        elif quiet:
            console.result(peer.name)
        else:
            mark = "  debug build" if peer.debug_build else ""
            where = peer.path or "the system's C library"
            console.result(f"{peer.name:<10} {peer.version:<11} {peer.licence:<32} {where}{mark}")
    return 0


def path(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A peer of the list.")],
    json: JsonOption = False,
    debug: DebugOption = False,
) -> int:
    """Print the library of a peer, for LD_PRELOAD; an empty line for the system's own.

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
        list[str] | None, typer.Option(metavar="NAME=/PATH.so", help="One more; repeatable.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> int:
    """Load each peer into a process, prove that it is there, and test what malloc promises.

    \b
    heapwise peers check
    heapwise peers check jemalloc
    heapwise peers check --allocator mine=/home/me/libmine.so
    """
    from heapwise.catalog import adhoc_peer, installed_peers
    from heapwise.runner.contract import check_peer

    console = Console(quiet, json)
    chosen = [_installed(name) for name in names or []]
    chosen += [adhoc_peer(text) for text in allocator or []]
    answers = [check_peer(peer) for peer in chosen or installed_peers()]
    for answer in answers:
        if answer.trouble or not quiet:
            kept = sum(not text for text in answer.promises.values())
            known = f", known fault: {answer.known}" if answer.known else ""
            words = answer.trouble or f"loaded, {kept} promises kept{known}"
            console.result(f"{answer.peer:<10} {'FAILED  ' if answer.trouble else ''}{words}")
    if json:
        console.json(answers)
    failed = any(answer.trouble for answer in answers)
    return int(Exit.NOT_TRUSTWORTHY if failed else Exit.DONE)


def _installed(name: str) -> Peer:
    from heapwise.catalog import choose_peers

    present, missing = choose_peers([name])
    if missing:
        raise Problem("E053", f"{name} is not installed", do=missing[0].get)
    return present[0]
