"""The example repository of docs/how-to/gate-in-ci.md, and the steps of both templates in it."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest
from planted_commits import git

pytestmark = pytest.mark.usefixtures("built_native")

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = (ROOT / "docs" / "how-to" / "gate-in-ci.md").read_text(encoding="utf-8")
ACTION = (ROOT / "ci" / "github" / "action.yml").read_text(encoding="utf-8")
GITLAB = (ROOT / "ci" / "gitlab" / "heapwise-gate.yml").read_text(encoding="utf-8")

FILES = {"c": "app.c", "make": "Makefile"}
"""Language of a block of the how-to -> its file."""


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", HOW_TO, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """On a branch that adds one allocation."""
    folder = tmp_path / "example"
    folder.mkdir()
    for language, name in FILES.items():
        (folder / name).write_text(block(language))
    (folder / ".gitignore").write_text("app\n")
    git(folder, "init", "--quiet", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "begin")
    git(folder, "checkout", "--quiet", "-b", "change")
    source = (folder / "app.c").read_text()
    (folder / "app.c").write_text(source.replace("< 1000", "< 1001"))
    git(folder, "commit", "--quiet", "-am", "allocate once more")
    return folder


@pytest.fixture
def shell_environment(tmp_path: Path, environment: dict[str, str]) -> dict[str, str]:
    """With a ``heapwise`` on PATH, and the files that a runner gives."""
    command = tmp_path / "bin" / "heapwise"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m heapwise "$@"\n')
    command.chmod(0o755)
    return environment | {
        "PATH": f"{command.parent}:{environment['PATH']}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_OUTPUT": str(tmp_path / "outputs"),
    }


def step_of_the_action(inputs: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The script of the step Gate, and its variables as a runner fills them in."""
    step = ACTION.partition("- name: Gate\n")[2]
    script = step.partition("run: |\n")[2]
    defaults = dict(
        re.findall(r"^  ([\w-]+):\n    description: .*\n    default: (.*)$", ACTION, re.MULTILINE)
    )
    values = {name: value.strip('"') for name, value in defaults.items()} | inputs
    variables = {
        name: values[wanted]
        for name, wanted in re.findall(
            r"^ +(GATE_\w+): \$\{\{ inputs\.([\w-]+) \}\}$", step, re.MULTILINE
        )
    }
    return re.sub(r"^ {8}", "", script, flags=re.MULTILINE), variables


def inputs_of_the_how_to() -> dict[str, str]:
    text = block("yaml").partition("- uses: OWNER/heapwise")[2]
    found = dict(re.findall(r"^ {10}([\w-]+): (.*)$", text, re.MULTILINE))
    return found | {
        "base-commit": found["base-commit"].replace("origin/${{ github.base_ref }}", "main")
    }


def bash(script: str, folder: Path, environment: dict[str, str]) -> int:
    """As both runners call it: the first command that fails ends it."""
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    print(done.stdout, done.stderr)
    return done.returncode


def test_the_action_fails_for_one_more_allocation_and_says_so(
    repository: Path, shell_environment: dict[str, str], tmp_path: Path
) -> None:
    inputs = inputs_of_the_how_to() | {"limits": "allocations=0"}
    script, variables = step_of_the_action(inputs)
    assert len(variables) == 9
    assert bash(script, repository, shell_environment | variables) == 1
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert "**Regressed**" in summary
    assert "1 more, exact, limit 0 %" in summary
    answer = (repository / "heapwise-gate" / "pull-request.md").read_text(encoding="utf-8")
    assert answer == summary
    assert "heapwise gate --base-commit main --build-command make" in answer
    assert (tmp_path / "outputs").read_text() == "exit-code=1\n"
    junit = Xml.parse(repository / "heapwise-gate" / "gate.xml").getroot()
    assert junit[0].get("failures") == "1"


def test_the_action_passes_a_change_of_documents_at_once(
    repository: Path, shell_environment: dict[str, str], tmp_path: Path
) -> None:
    git(repository, "checkout", "--quiet", "main")
    (repository / "README").write_text("words\n")
    script, variables = step_of_the_action(inputs_of_the_how_to())
    assert bash(script, repository, shell_environment | variables) == 0
    assert "Fine" in (tmp_path / "summary").read_text(encoding="utf-8")


def test_the_template_of_gitlab_fails_for_one_more_allocation(
    repository: Path, shell_environment: dict[str, str]
) -> None:
    script = "\n".join(
        re.findall(
            r"^    - (.*)$",
            GITLAB.partition("script:\n")[2].partition("allow_failure")[0],
            re.MULTILINE,
        )
    )
    variables = {
        "GATE_PROGRAM": "./app",
        "GATE_BUILD_COMMAND": "make",
        "GATE_BASE_COMMIT": "main",
        "GATE_LIMITS": "allocations=0",
        "GATE_ARGUMENTS": "",
        "GATE_TIME": "3m",
    }
    assert set(re.findall(r"GATE_\w+", script)) == set(variables)
    assert bash(script, repository, shell_environment | variables) == 1
    assert (repository / "gate.xml").exists()


@pytest.mark.parametrize(
    ("inputs", "code"), [({}, 0), ({"fail-on-noise": "true"}, 4), ({"strict": "true"}, 4)]
)
def test_noise_is_a_warning_of_the_action_unless_it_must_fail(
    repository: Path,
    shell_environment: dict[str, str],
    tmp_path: Path,
    inputs: dict[str, str],
    code: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "bin" / "heapwise").write_text("#!/bin/sh\nexit 4\n")
    script, variables = step_of_the_action(inputs_of_the_how_to() | inputs)
    assert bash(script, repository, shell_environment | variables) == code
    assert ("::warning" in capsys.readouterr().out) == (code == 0)
    assert (tmp_path / "outputs").read_text() == "exit-code=4\n"
    assert not (repository / "heapwise-gate" / "pull-request.md").exists(), "nothing was measured"


def test_the_summary_of_times_has_the_figures_the_machine_and_the_command(
    repository: Path, shell_environment: dict[str, str], tmp_path: Path
) -> None:
    inputs = inputs_of_the_how_to() | {"limits": "time=90% peak_memory=50%", "time": "4s"}
    script, variables = step_of_the_action(inputs)
    assert bash(script, repository, shell_environment | variables) == 0
    summary = (tmp_path / "summary").read_text(encoding="utf-8")
    assert "| metric | limit |" in summary
    names = ("time", "time (CPU time, side by side)")  # as the machine allows
    assert any(f"| {name} | 90 % |" in summary for name in names)
    assert "95 % intervals; trust:" in summary


def test_the_sources_that_the_action_installs_are_a_package() -> None:
    """``install: source`` of the how-to is the folder two above the action."""
    assert "install: source" in HOW_TO
    assert "${{ github.action_path }}/../.." in ACTION
    assert (ROOT / "ci" / "github" / ".." / ".." / "pyproject.toml").exists()
