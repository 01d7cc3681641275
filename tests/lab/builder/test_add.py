"""Adding a peer: all of it or nothing, plain, and known afterwards by version and build id."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from toy_peer import Place, Told, script

from heapwise.builder import add_peer, choose_buildable
from heapwise.catalog import find_peers, forget, read_elf
from heapwise.errors import Problem
from heapwise.model import Peer

WHOLE = ["toy/1.0/libtoy.so.1", "toy/1.0/made.json"]


def toy() -> Peer:
    return next(peer for peer in find_peers() if peer.name == "toy")


def test_a_peer_is_built_and_found(place: Place, told: Told) -> None:
    declared = place.declare()
    assert toy().path is None
    added = add_peer(declared, told)
    assert added.news
    assert place.left() == WHOLE
    found = toy()
    assert (found.path, found.version) == (added.path, "1.0")
    assert found.notes.startswith("a toy; crate toy-sys 0.9.1, built by ")
    facts = read_elf(added.path)
    assert facts is not None
    assert len(facts.build_id) == 40
    assert found.build_id == added.record.build_id == facts.build_id
    assert told.steps == [
        "fetching the crate toy-sys",
        "configuring",
        "compiling",
        "looking at the library",
    ]
    assert "--locked" in (place.root / "asked").read_text().split()


def test_the_crate_itself_is_left_as_it_was(place: Place, told: Told) -> None:
    before = sorted(path.name for path in place.crate.rglob("*"))
    add_peer(place.declare(), told)
    assert sorted(path.name for path in place.crate.rglob("*")) == before


def test_the_licences_of_the_sources_lie_beside_the_library(place: Place, told: Told) -> None:
    (place.crate / "LICENSE-MIT").write_text("of the crate")
    (place.crate / "toy" / "COPYING").write_text("of the sources")
    (place.peer / "LICENSE").write_text("of the declaration")
    folder = Path(add_peer(place.declare(), told).path).parent / "licences"
    files = [path for path in folder.rglob("*") if path.is_file()]
    texts = {str(path.relative_to(folder)): path.read_text() for path in files}
    assert texts == {
        "LICENSE-MIT": "of the crate",
        "toy/COPYING": "of the sources",
        "LICENSE": "of the declaration",
    }


def wheel_of(place: Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What was added, as the wheel of peers has it, in an empty data folder."""
    site = place.root / "site"
    site.mkdir()
    (place.data / "heapwise").rename(site / "heapwise_peers")
    (site / "heapwise_peers" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(site))
    return site / "heapwise_peers" / "peers"


def test_a_peer_of_the_wheel_is_found_and_not_built_again(
    place: Place, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = place.declare()
    add_peer(declared, told)
    peers = wheel_of(place, monkeypatch)
    library = peers / "toy/1.0/libtoy.so.1"
    assert (toy().path, toy().version) == (str(library), "1.0")
    assert toy().notes.endswith(", from the wheel heapwise-peers")
    added = add_peer(declared, told)
    assert (added.news, added.path) == (False, str(library))
    assert not forget("toy")
    assert library.is_file()


def test_a_peer_that_the_user_built_goes_before_that_of_the_wheel(
    place: Place, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = place.declare()
    add_peer(declared, told)
    wheel_of(place, monkeypatch)
    added = add_peer(declared, told, again=True)
    assert Path(added.path).is_relative_to(place.data)
    assert (toy().path, toy().build_id) == (added.path, added.record.build_id)
    assert "wheel" not in toy().notes
    add_peer(place.declare("1.1"), told)
    assert toy().version == "1.1"
    assert forget("toy")
    assert toy().version == "1.0", "that of the wheel is left"


def test_an_installed_peer_is_built_again_only_if_told_or_old(place: Place, told: Told) -> None:
    declared = place.declare()
    add_peer(declared, told)
    told.steps.clear()
    assert not add_peer(declared, told).news
    assert told.steps == []
    assert add_peer(declared, told, again=True).news
    (place.peer / "Cargo.lock").write_text("locked otherwise\n")
    assert add_peer(declared, told).news
    assert not add_peer(place.declare(more="also = []\n"), told).news, "nothing has changed"
    assert place.left() == WHOLE


def test_a_new_version_takes_the_place_of_the_old_one(place: Place, told: Told) -> None:
    add_peer(place.declare("1.0"), told)
    declared = place.declare("1.1")
    assert toy().version == "1.0", "what was added stays until the new one is there"
    add_peer(declared, told)
    assert toy().version == "1.1"
    assert place.left() == ["toy/1.1/libtoy.so.1", "toy/1.1/made.json"]


@pytest.mark.parametrize(
    "step", ["fetching the crate toy-sys", "configuring", "compiling", "looking at the library"]
)
def test_an_interrupted_build_leaves_nothing(place: Place, told: Told, step: str) -> None:
    told.stop_at = step
    with pytest.raises(KeyboardInterrupt):
        add_peer(place.declare(), told)
    assert place.left() == []
    assert toy().path is None


def test_an_interrupted_build_keeps_what_was_there(place: Place, told: Told) -> None:
    add_peer(place.declare(), told)
    told.stop_at = "looking at the library"
    with pytest.raises(KeyboardInterrupt):
        add_peer(place.declare("1.1"), told)
    assert place.left() == WHOLE
    assert toy().version == "1.0"


def test_a_build_that_was_killed_is_swept_up(place: Place, told: Told) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    home = place.data / "heapwise" / "peers" / "toy"
    for owner in (dead.pid, os.getpid()):
        (home / f".partial-{owner}-x").mkdir(parents=True)
        (home / f".partial-{owner}-x" / "made.json").write_text("{}")
    declared = place.declare()
    assert toy().path is None, "half a peer is not a peer"
    add_peer(declared, told)
    assert place.left() == [f"toy/.partial-{os.getpid()}-x/made.json", *WHOLE]


def test_ctrl_c_ends_the_children_too(place: Place) -> None:
    """The compiler here waits for ever on a pipe that closes only when it is gone."""
    place.declare()
    pipe = place.root / "pipe"
    os.mkfifo(pipe)
    environment = {**os.environ, "MORE": f"sh -c 'echo here; exec cat {place.root}/never' >{pipe}"}
    os.mkfifo(place.root / "never")
    process = subprocess.Popen(
        [sys.executable, "-m", "heapwise", "peers", "add", "toy"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=interruptible,
    )
    with pipe.open() as reader:
        assert reader.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        assert select.select([reader], [], [], 60)[0], "the last child holds it open"
        assert reader.read() == ""
    assert process.wait(timeout=120) == 130
    process.communicate()
    assert place.left() == []


def interruptible() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    ("tools", "advice"),
    [
        (["cargo"], "rustup"),
        (["make"], "apt install make"),
        (["cc"], "apt install gcc"),
        (["cargo", "c++"], "apt install g++"),
    ],
)
def test_missing_tools_are_named_before_anything_is_done(
    place: Place, told: Told, without: Callable[..., None], tools: list[str], advice: str
) -> None:
    declared = place.declare()
    without(*tools)
    with pytest.raises(Problem, match=", ".join(tools).replace("+", r"\+")) as caught:
        add_peer(declared, told)
    assert (caught.value.id, caught.value.exit) == ("E054", 5)
    assert advice in caught.value.do
    assert told.steps == []
    assert not place.data.exists()


def test_the_users_compiler_is_asked_for(
    place: Place, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    with pytest.raises(Problem, match=r"without c\+\+"):
        add_peer(place.declare(), told)


BROKEN = {
    "a compiler's error": ("toy/toy.c", "int x = y;", "compiling ended with 2"),
    "a configure that fails": ("script/configure", "exit 3", "configuring ended with 3"),
    "no library": ("toy/Makefile.in", "liball:\n\ttrue\n", r"made no library lib/libtoy\.so\.1"),
    "no malloc": ("toy/toy.c", "int x;", "defines no malloc"),
}


@pytest.mark.parametrize(("file", "text", "words"), BROKEN.values(), ids=BROKEN)
def test_a_failure_names_its_log_and_leaves_nothing(
    place: Place, told: Told, file: str, text: str, words: str
) -> None:
    (place.crate / file).write_text(text)
    with pytest.raises(Problem, match=words) as caught:
        add_peer(place.declare(), told)
    assert (caught.value.id, caught.value.exit) == ("E055", 5)
    log = place.data / "heapwise" / "peers" / "logs" / "toy.log"
    assert str(log) in caught.value.do
    assert log.read_text().strip()
    assert place.left() == []
    assert sorted(path.name for path in log.parents[1].iterdir()) == ["logs"]


def test_the_compilers_own_words_are_in_the_sentence(place: Place, told: Told) -> None:
    (place.crate / "toy" / "toy.c").write_text("int x = y;")
    with pytest.raises(Problem, match=r"error:.*y.*undeclared"):
        add_peer(place.declare(), told)


def test_another_lock_file_is_refused_by_cargo(place: Place, told: Told) -> None:
    (place.peer / "Cargo.lock").write_text("something else\n")
    with pytest.raises(Problem, match="error: the lock file"):
        add_peer(place.declare(), told)


@pytest.mark.parametrize("answer", ["", "{}", '{"packages": []}', "[]"])
def test_a_cargo_that_talks_nonsense(place: Place, told: Told, answer: str) -> None:
    (place.root / "metadata.json").write_text(answer)
    with pytest.raises(Problem, match="does not say where toy-sys is"):
        add_peer(place.declare(), told)


def test_a_library_without_build_id_is_refused(place: Place, told: Told) -> None:
    makefile = place.crate / "toy" / "Makefile.in"
    makefile.write_text(makefile.read_text().replace("$(LDFLAGS)", "-Wl,--build-id=none"))
    with pytest.raises(Problem, match="has no build id"):
        add_peer(place.declare(), told)


def test_the_build_is_the_plain_one(
    place: Place, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's flags would make another allocator than the one the row names."""
    for name in ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS"):
        monkeypatch.setenv(name, "-O0")
    monkeypatch.setenv("CARGO_HOME", "theirs")
    monkeypatch.setenv("TOY_ENVIRONMENT", str(place.root / "environment"))
    add_peer(place.declare(), told)
    lines = (place.root / "environment").read_text().splitlines()
    seen = dict(line.partition("=")[::2] for line in lines)
    assert "-O0" not in seen.values()
    assert seen["LDFLAGS"] == "-Wl,--build-id=sha1"
    assert seen["CARGO_HOME"] == "theirs"


def test_cmake_builds_upstreams_project_or_ours(place: Place, told: Told) -> None:
    cmake = (
        "cmake_minimum_required(VERSION 3.18)\nproject(toy C)\n"
        "add_library(toy SHARED {}/toy.c)\n"
        "target_compile_options(toy PRIVATE -fno-builtin)\n"
    )
    path = place.declare().path
    path.write_text(
        path.read_text().partition("[build]")[0]
        + (
            '[build]\nversion = "1.0"\nrecipe = "cmake"\ncrate = "toy-sys"\nsource = "toy"\n'
            'options = ["-DTOY=1"]\ntarget = "toy"\nlibrary = "libtoy.so"\n'
        )
    )
    (place.crate / "toy" / "CMakeLists.txt").write_text(cmake.format("."))
    theirs = add_peer(choose_buildable("toy")[0], told)
    (place.crate / "toy" / "CMakeLists.txt").unlink()
    (place.peer / "CMakeLists.txt").write_text(cmake.format("${HEAPWISE_SOURCE}"))
    ours = add_peer(choose_buildable("toy")[0], told)
    assert ours.news, "our project is part of what decides what is built"
    assert len(theirs.record.build_id) == len(ours.record.build_id) == 40
    assert place.left() == ["toy/1.0/libtoy.so", "toy/1.0/made.json"]
    assert told.ticks, "cmake says how far it is"


def test_names(place: Place) -> None:
    place.declare()
    other = place.peer.parent / "toyota"
    other.mkdir()
    (other / "peer.toml").write_text(
        'title = "T"\nkind = "preload"\nlibraries = ["x.so"]\n'
        'get = "apt install it"\nlicence = "MIT"\n'
    )
    assert [peer.name for peer in choose_buildable("all")] == ["toy"]
    for name, words in (("toi", "did you mean toy"), ("toyota", "does not build toyota")):
        with pytest.raises(Problem, match=words) as caught:
            choose_buildable(name)
        assert caught.value.id == "E002"
    assert caught.value.do == "apt install it"


def test_a_misspelt_name_is_answered_with_the_names_like_it() -> None:
    with pytest.raises(Problem, match="did you mean mimalloc3 or mimalloc2") as caught:
        choose_buildable("mimaloc3")
    assert caught.value.do == "heapwise peers add mimalloc3"
    with pytest.raises(Problem, match=r"there are .*mimalloc2.*") as caught:
        choose_buildable("nosuch")
    assert caught.value.do == "heapwise peers list"


def test_a_peer_can_be_removed(place: Place, told: Told) -> None:
    add_peer(place.declare(), told)
    assert forget("toy")
    assert place.left() == []
    assert toy().path is None
    assert not forget("toy")


def test_a_peer_whose_library_is_gone_is_missing(place: Place, told: Told) -> None:
    Path(add_peer(place.declare(), told).path).unlink()
    assert toy().path is None
    assert add_peer(place.declare(), told).news


def test_a_relative_data_folder_is_ignored(
    place: Place, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    monkeypatch.setenv("HOME", str(place.root / "home"))
    assert add_peer(place.declare(), told).path.startswith(f"{place.root}/home/.local/share/")


def test_a_data_folder_that_cannot_be_written(
    place: Place, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(place.root / "file", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(place.root / "file"))
    with pytest.raises(Problem, match="cannot be written") as caught:
        add_peer(place.declare(), told)
    assert caught.value.id == "E050"
