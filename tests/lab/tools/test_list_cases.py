"""The names that ctest has for cases of doctest."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_a_case_that_ccache_has_from_another_clone_is_named_as_here(tmp_path: Path) -> None:
    program, script = tmp_path / "program", tmp_path / "cases.cmake"
    cases = "".join(
        f'<TestCase name="{name}" filename="{file}" line="1" skipped="false"/>\n'
        for name, file in (
            ("kept", f"{ROOT}/tests/unit/here_test.cpp"),
            ("freed", "/elsewhere/tests/clone/tests/unit/there_test.cpp"),
        )
    )
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{cases}END\n")
    program.chmod(0o755)
    subprocess.run(
        ["cmake", "-D", f"PROGRAM={program}", "-D", "EMULATOR=", "-D", "PROPERTIES=TIMEOUT;1",
         "-D", "CASES=", "-D", f"FOLDER={tmp_path}", "-D", f"OUTPUT={script}",
         "-P", str(ROOT / "cmake" / "list_cases.cmake")],
        check=True, timeout=120,
    )  # fmt: skip
    tests = re.findall(r"add_test\(\[==\[(.*?)\]==\].*?--source-file=(.*?)\]", script.read_text())
    assert tests == [
        ("unit/here_test: kept", "*/unit/here_test.cpp"),
        ("unit/there_test: freed", "*/unit/there_test.cpp"),
    ]
