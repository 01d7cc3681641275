"""Two builds are one program only if nothing that the program may use differs."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.catalog.built_tree import names_path, tree_digest
from heapwise.catalog.same_build import roots_of, same_build

PROGRAM = "int main(void) { return 0; }\n"


@pytest.fixture
def builds(tmp_path: Path) -> tuple[Path, Path]:
    """A program with a plug-in, a script, data, a link and an empty folder, twice."""
    old = tmp_path / "old"
    (old / "lib" / "empty").mkdir(parents=True)
    (old / "app.c").write_text(PROGRAM)
    subprocess.run(["cc", "-O1", "-o", "app", "app.c"], cwd=old, check=True)
    subprocess.run(["cc", "-shared", "-o", "lib/work.so", "app.c"], cwd=old, check=True)
    (old / "tool.py").write_text("print(1)\n")
    (old / "lib" / "data.bin").write_bytes(bytes(range(256)))
    (old / "lib" / "link").symlink_to("data.bin")
    shutil.copytree(old, tmp_path / "new", symlinks=True)
    return old / "app", tmp_path / "new" / "app"


def test_copies_are_one_program(builds: tuple[Path, Path]) -> None:
    assert same_build(*builds)
    assert same_build(builds[0], builds[0]) == "they are one file"


def rebuild(library: Path) -> None:
    source = library.with_suffix(".c")
    source.write_text("int work(void) { return 1; }\n")
    subprocess.run(["cc", "-shared", "-o", str(library), str(source)], check=True)
    source.unlink()


CHANGES: dict[str, Callable[[Path], object]] = {
    "plug-in": lambda tree: rebuild(tree / "lib" / "work.so"),
    "script": lambda tree: (tree / "tool.py").write_text("print(2)\n"),
    "data": lambda tree: (tree / "lib" / "data.bin").write_bytes(bytes(256)),
    "link": lambda tree: (
        (tree / "lib" / "link").unlink(),
        (tree / "lib" / "link").symlink_to("../tool.py"),
    ),
    "mode": lambda tree: (tree / "tool.py").chmod(0o755),
    "new file": lambda tree: (tree / "lib" / "more.so").touch(),
    "file gone": lambda tree: (tree / "tool.py").unlink(),
    "folder gone": lambda tree: (tree / "lib" / "empty").rmdir(),
    "other kind": lambda tree: ((tree / "lib" / "empty").rmdir(), (tree / "lib" / "empty").touch()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_anything_beside_the_program_is_a_change(
    builds: tuple[Path, Path], change: str
) -> None:
    CHANGES[change](builds[1].parent)
    assert same_build(*builds) == ""


def test_the_path_of_a_tree_in_its_own_files_does_not_count(builds: tuple[Path, Path]) -> None:
    for build in builds:
        (build.parent / "config").write_text(f"prefix={build.parent}/lib\n")
        flags = ["-g", f"-Wl,-rpath,{build.parent}/lib"]
        subprocess.run(
            ["cc", "-O1", *flags, "-o", str(build), str(build.parent / "app.c")], check=True
        )
    assert same_build(*builds)


def test_two_virtual_environments_are_two_programs(tmp_path: Path) -> None:
    """Their interpreters are links to one file, and their libraries are not equal."""
    for name in ("old", "new"):
        (tmp_path / name / "bin").mkdir(parents=True)
        (tmp_path / name / "bin" / "python").symlink_to("/bin/sh")
        (tmp_path / name / "library.py").write_text(name)
    old, new = (tmp_path / name / "bin" / "python" for name in ("old", "new"))
    assert same_build(old, new) == ""
    (tmp_path / "new" / "library.py").write_text("old")
    assert same_build(old, new)


def test_two_names_of_one_file_may_be_two_programs(tmp_path: Path) -> None:
    """As busybox is."""
    (tmp_path / "zip").symlink_to("/bin/sh")
    (tmp_path / "unzip").symlink_to("/bin/sh")
    assert same_build(tmp_path / "zip", tmp_path / "unzip") == ""


def test_trees_in_different_folders_may_find_other_files_above_them(
    builds: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "deeper").mkdir()
    shutil.move(builds[1].parent, tmp_path / "deeper" / "new")
    assert same_build(builds[0], tmp_path / "deeper" / "new" / "app") == ""


def test_a_tree_that_is_too_large_is_not_known(
    builds: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwise.catalog.built_tree.MOST_FILES", 3)
    assert tree_digest(builds[0].parent) == ""
    assert same_build(*builds) == ""


def test_the_roots_of_two_paths() -> None:
    assert roots_of(Path("/x/old/bin/app"), Path("/x/new/bin/app")) == (
        Path("/x/old"),
        Path("/x/new"),
    )
    assert roots_of(Path("/x/old"), Path("/x/new")) == (Path("/x/old"), Path("/x/new"))
    assert roots_of(Path("/a/bin/app"), Path("/b/c/bin/app")) == (Path("/a"), Path("/b/c"))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda tree: None, False),
        (lambda tree: (tree / "build.log").write_text("cc -o /the/place/app\n"), False),
        (lambda tree: (tree / "run").write_text("#!/the/place/sh\n"), False),
        (lambda tree: started(tree, "#!/the/place/sh\n"), True),
        (lambda tree: (tree / "data").symlink_to("/the/place/data"), True),
        (lambda tree: compiled(tree, "-Wl,-rpath,/the/place/lib"), True),
        (lambda tree: compiled(tree, "-g", "-fdebug-prefix-map=.=/the/place"), False),
    ],
)
def test_a_tree_names_a_path_if_something_that_runs_has_it(
    builds: tuple[Path, Path], change: Callable[[Path], object], named: bool
) -> None:
    """A build system names it for the compiler alone."""
    tree = builds[0].parent
    change(tree)
    assert names_path(tree, "/the/place") == named


def compiled(tree: Path, *flags: str) -> None:
    subprocess.run(["cc", *flags, "-o", "app", "app.c"], cwd=tree, check=True)


def started(tree: Path, script: str) -> None:
    (tree / "run").write_text(script)
    (tree / "run").chmod(0o755)
