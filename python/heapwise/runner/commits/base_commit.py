"""The builds of a gate: the program as an earlier commit has it, and as the working tree has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from heapwise.catalog.built_tree import names_path
from heapwise.errors import Problem
from heapwise.model import BuildPlace, Relinked
from heapwise.runner.commits.checkout import Checkout, cache
from heapwise.runner.commits.owner import has_ended, own_name
from heapwise.runner.commits.relinking import Linked, Relinking
from heapwise.runner.process.place import standing

BASE, HEAD, STANDS = "base", "head", "tree"

LAST_LINES = 20
"""This many lines of a build that failed are shown."""


class NoBaseError(Problem):
    """The base is before the first commit, or its commit cannot be built: there is nothing to
    compare with, and the new build is not to blame."""


@dataclass(frozen=True)
class TwoTrees:
    """The base's and the new build's."""

    base: BuildPlace
    head: BuildPlace
    relinked: Relinked | None = None


@contextmanager
def built_commit(
    revision: str,
    command: str,
    program: Path,
    environment: Mapping[str, str],
    layouts: int = 0,
) -> Iterator[TwoTrees]:
    """The program at ``revision`` and with the user's changes, in worktrees that are gone when this
    is left.

    program: as the working tree has it. The command runs in both trees, from the folder that
    corresponds to the current one, and both have one path while it runs: only then are both builds
    of one kind. layouts: how often each is linked again; 0 for not at all. Problems: those of
    ``Checkout``, E057 failed build, E059 if it cannot be linked again; as ``NoBaseError`` if there
    can be no base.
    """
    checkout = Checkout.of(program, command)
    if checkout.precedes_all(revision):
        raise NoBaseError("E009", f"'{revision}' is before the first commit of the branch")
    commit = checkout.commit(revision)
    trees = cache() / "commits"
    _remove_left(checkout, trees)
    folder = trees / f"{commit[:12]}-{own_name()}"
    base, head = (_place(folder, name, checkout.program) for name in (BASE, HEAD))
    try:
        checkout.check_out(commit, Path(base.root))
        checkout.add_submodules(Path(base.root))
        checkout.copy_working_tree(Path(head.root))
        if not layouts:
            for place in (head, base):
                _build(checkout, place, folder / "log", environment)
            yield TwoTrees(_with_own_path(base), _with_own_path(head))
            return
        new = _relinked(checkout, head, folder, environment, layouts)
        old = _relinked(checkout, base, folder, environment, 2 * layouts)
        yield TwoTrees(
            structs.replace(base, layouts=old.files[:layouts], control_layouts=old.files[layouts:]),
            structs.replace(head, layouts=new.files),
            Relinked(
                layouts,
                *(
                    new.record[part]
                    for part in ("linker", "method", "objects", "functions", "moved")
                ),
            ),
        )
    finally:
        checkout.forget(folder)


def _place(folder: Path, name: str, program: Path) -> BuildPlace:
    root, stands = folder / name, folder / STANDS
    return BuildPlace(str(root / program), str(root), str(stands), str(stands / program))


def _with_own_path(place: BuildPlace) -> BuildPlace:
    """The program can run at the path of its own tree if nothing in it names the one at which the
    trees were built."""
    if names_path(Path(place.root), place.stands):
        return place
    return structs.replace(place, beside=place.program)


def _relinked(
    checkout: Checkout,
    place: BuildPlace,
    folder: Path,
    environment: Mapping[str, str],
    layouts: int,
) -> Linked:
    """Builds the program, and links it this often again."""
    relinking = Relinking(
        folder / f"layouts-{Path(place.root).name}", checkout.program.name, layouts
    )
    _build(checkout, place, folder / "log", relinking.prepare(environment))
    return relinking.linked(Path(place.program))


def _build(
    checkout: Checkout, place: BuildPlace, log: Path, environment: Mapping[str, str]
) -> None:
    """Problem E057, with the last lines of what the command printed."""
    with standing(place):
        tree = Path(place.stands)
        built = checkout.build(tree, log, environment)
        has_submodules = (tree / ".gitmodules").exists()
    if built is None:
        last = "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])
        is_base = Path(place.root).name == BASE
        which = "the base" if is_base else "the working tree"
        what = f"--build-command failed in {tree / checkout.inside}, a copy of {which}:\n{last}\n"
        if not has_submodules:
            raise (NoBaseError if is_base else Problem)(
                "E057",
                what,
                why="Files that git ignores are not there. The build command has to make them.",
            )
        raise Problem(
            "E057",
            what,
            why="The repository has submodules (.gitmodules). Those that your working tree lacks, "
            "or whose commit is not here, are empty.",
            do="git submodule update --init --recursive, then this again; or --build-command "
            f"'git submodule update --init --recursive && {checkout.build_command}'",
        )


def _remove_left(checkout: Checkout, trees: Path) -> None:
    """What a process that was killed has left behind."""
    for path in trees.iterdir() if trees.is_dir() else ():
        if has_ended(path.stem.rpartition("-")[2]):
            checkout.forget(path)
            path.unlink(missing_ok=True)
