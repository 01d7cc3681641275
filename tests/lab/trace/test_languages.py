"""Call sites of programs in other languages: Python, and code that a runtime compiles."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heapwise.trace.names.perf_map import PerfMap, keep_perf_map, kept_map, perf_map_of
from heapwise.trace.names.symbols import read_python_frames

pytestmark = pytest.mark.usefixtures("built_native")

PROGRAM = """\
import threading

class Store:
    def __init__(self):
        self.kept = []

    def add(self, number):
        self.kept.append(
            bytes(100_000 + number))

def load(store):
    for number in range(200):
        store.add(number)

load(Store())
thread = threading.Thread(target=load, args=(Store(),), name="other")
thread.start()
thread.join()
"""


def pythons() -> list[str]:
    """The interpreter of the tests, and others that are installed, of versions that are read."""
    found = [sys.executable]
    for root in (Path.home() / ".pyenv" / "versions").glob("3.1[123].*"):
        if (root / "bin" / "python3").exists():
            found.append(str(root / "bin" / "python3"))
    return found


def sites(heapwise: Any, trace: Path) -> dict[str, int]:
    """Function and line -> bytes."""
    found = json.loads(heapwise("trace", str(trace), "--json").stdout)
    return {
        f"{site['place']['function']} ({site['place']['line']})": site["bytes"]
        for site in found["named_sites"]
    }


@pytest.mark.skipif(sys.version_info < (3, 11), reason="its frames are not read")
@pytest.mark.parametrize("python", pythons())
def test_call_sites_of_python_are_its_functions_and_lines(
    heapwise: Any, tmp_path: Path, python: str
) -> None:
    program, trace = tmp_path / "p.py", tmp_path / "p.hwt"
    program.write_text(PROGRAM)
    done = heapwise("record", "--stacks", "all", "-o", str(trace), "--", python, str(program))
    assert done.returncode == 0, done.stderr
    found = sites(heapwise, trace)
    both = 2 * sum(100_000 + number for number in range(200))
    assert both <= found["Store.add (p.py:9)"] < 1.2 * both
    folded = tmp_path / "p.folded"
    assert heapwise("trace", str(trace), "--export", str(folded), "-q").returncode == 0
    stacks = [line for line in folded.read_text().splitlines() if ";load;Store.add;" in line]
    assert stacks, "the callers in Python stand in the order of the calls"
    assert any("<module>;load;Store.add" in line for line in stacks)
    assert not any("_PyEval_EvalFrameDefault;load" in line for line in stacks)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="its frames are not read")
@pytest.mark.parametrize("file", ["made.py", "made_{number:02}.py"])
def test_code_that_takes_the_place_of_freed_code_has_its_own_name(
    heapwise: Any, tmp_path: Path, file: str
) -> None:
    """The recorder remembers frames that it has seen."""
    program, trace = tmp_path / "p.py", tmp_path / "p.hwt"
    program.write_text(
        "for number in range(60):\n"
        "    blank = chr(10) * (number % 7)\n"
        "    text = f'{blank}def work_{number // 2:02}():\\n    return bytes(100_000)\\n'\n"
        f"    space = {{}}\n    exec(compile(text, f'{file}', 'exec'), space)\n"
        "    for _ in range(3): space[f'work_{number // 2:02}']()\n"
    )
    words = ["record", "--stacks", "all", "-o", str(trace), "--", sys.executable, str(program)]
    assert heapwise(*words).returncode == 0
    wanted = {
        f"work_{number // 2:02} ({file.format(number=number)}:{number % 7 + 2})": 3
        for number in range(60)
    }
    found = sites(heapwise, trace)
    assert wanted.keys() <= found.keys()
    for name in wanted:
        assert 300_000 <= found[name] < 400_000


def test_a_child_that_is_forked_has_its_own_names(heapwise: Any, tmp_path: Path) -> None:
    program, trace = tmp_path / "p.py", tmp_path / "p.hwt"
    program.write_text(
        "import os\ndef of_child():\n    return [bytes(100_000) for _ in range(50)]\n"
        "kept = bytes(100_000)\nif os.fork() == 0:\n    of_child()\n    os._exit(0)\nos.wait()\n"
    )
    words = ["record", "--stacks", "all", "--follow", "-o", str(trace), "--json", "--"]
    done = heapwise(*words, sys.executable, str(program))
    assert done.returncode == 0, done.stderr
    _, child = json.loads(done.stdout)["summary"]["processes"]
    found = sites(heapwise, Path(child["trace"]))
    assert any("of_child" in name or "listcomp" in name for name in found), found


def test_a_frame_of_python_with_a_file_in_a_folder_with_spaces_is_read() -> None:
    found = read_python_frames(
        "python 8000000000ab C.f.<locals>.g\t/a folder/b-c.py:12\nbuild-id 12 ab\npython x\n"
    )
    [place] = found.values()
    assert (place.function, place.line, place.is_script) == ("C.f.<locals>.g", "b-c.py:12", True)
    assert list(found) == [0x8000000000AB]


NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_functions_that_node_compiled_have_names(heapwise: Any, tmp_path: Path) -> None:
    program, trace = tmp_path / "p.js", tmp_path / "p.hwt"
    program.write_text(
        "function fillOne(k) { return Buffer.allocUnsafeSlow(1000000 + k); }\n"
        "const kept = []; for (let k = 0; k < 100; k++) kept.push(fillOne(k));\n"
    )
    flags = ["--perf-basic-prof", "--interpreted-frames-native-stack"]
    words = ["record", "--stacks", "64:frames", "-o", str(trace), "--", str(NODE), *flags]
    done = heapwise(*words, str(program))
    assert done.returncode == 0, done.stderr
    folded = tmp_path / "p.folded"
    assert heapwise("trace", str(trace), "--export", str(folded), "-q").returncode == 0
    mine = [line for line in folded.read_text().splitlines() if "fillOne" in line]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in mine) > 50_000_000


JAVA = """\
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

public class Direct {
    static ByteBuffer fillOne(int k) { return ByteBuffer.allocateDirect(100_000 + k); }

    public static void main(String[] words) {
        List<ByteBuffer> kept = new ArrayList<>();
        for (int k = 0; k < 300; k++) kept.add(fillOne(k));
        System.out.println(kept.size());
    }
}
"""


JAVA_FLAGS = (
    "-XX:+PreserveFramePointer",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+DumpPerfMapAtExit",
)


@pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")
def test_functions_that_java_compiled_have_names(heapwise: Any, tmp_path: Path) -> None:
    program, trace = tmp_path / "Direct.java", tmp_path / "p.hwt"
    program.write_text(JAVA)
    compiled = ("Direct::*", "java.nio.*::*", "jdk.internal.misc.Unsafe::*")
    flags = [f"-XX:CompileCommand=compileonly,{each}" for each in compiled]
    flags += ["-XX:CompileCommand=dontinline,Direct::fillOne", "-Xcomp", *JAVA_FLAGS]
    words = ["record", "--stacks", "1:frames", "-o", str(trace), "--", "java", *flags]
    done = heapwise(*words, str(program))
    assert done.returncode == 0, done.stderr
    wanted = sum(100_000 + k for k in range(300))
    found = json.loads(heapwise("trace", str(trace), "--json").stdout)["named_sites"]
    mine = [site for site in found if "Direct.fillOne" in site["place"]["function"]]
    assert sum(site["bytes"] for site in mine) >= 0.9 * wanted, found[:5]
    assert "Names" not in heapwise("trace", str(trace)).stdout
    assert "Direct.fillOne" in Path(f"{trace}.perf-map").read_text(), "/tmp is not needed any more"


@pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")
def test_a_trace_of_java_without_names_says_how_to_get_them(heapwise: Any, tmp_path: Path) -> None:
    trace = tmp_path / "p.hwt"
    assert heapwise("record", "-o", str(trace), "--", "java", "-version").returncode == 0
    said = " ".join(heapwise("trace", str(trace)).stdout.split())
    assert "functions that Java compiled have no names" in said
    assert all(flag in said for flag in JAVA_FLAGS)


def test_a_map_of_another_process_or_of_before_is_not_believed(tmp_path: Path) -> None:
    path = Path(f"/tmp/perf-{os.getpid()}.map")
    path.write_text("1000 10 first\n1000 20 later\nnonsense\n2000 8 a name\n")
    about = {"process": {"pid": os.getpid()}}
    try:
        assert perf_map_of(about | {"recorded": "2020-01-01T00:00:00+00:00"}) == str(path)
        assert perf_map_of(about | {"recorded": "2999-01-01T00:00:00+00:00"}) == ""
        assert perf_map_of({"process": {"pid": 1}, "recorded": "2020-01-01T00:00:00+00:00"}) == ""
        trace = tmp_path / "p.hwt"
        keep_perf_map(trace, os.getpid(), "2020-01-01T00:00:00+00:00")
        assert kept_map(trace).read_text() == path.read_text()
        keep_perf_map(trace, os.getpid(), "2999-01-01T00:00:00+00:00")
        assert not kept_map(trace).exists(), "the names of an older trace are not of this one"
        found = PerfMap.read(str(path))
        assert [found.name(at) for at in (0xFFF, 0x1000, 0x101F, 0x1020, 0x2007)] == [
            "",
            "later",
            "later",
            "",
            "a name",
        ]
    finally:
        subprocess.run(["rm", "-f", path], check=True)
