"""The file for a systemd service in the how-to is one that systemd understands."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "measure-a-server.md"

pytestmark = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed"
)


def complaints(folder: Path, text: str) -> str:
    """What systemd says of a service to which this file is added."""
    service, added = folder / "your-server.service", folder / "your-server.service.d"
    added.mkdir()
    service.write_text("[Service]\nExecStart=/bin/true\n")
    (added / "override.conf").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(service)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:"},
    )
    lines = (done.stdout + done.stderr).splitlines()
    # It says of the system's services, too, what it does not like.
    return "\n".join(line for line in lines if line.startswith((str(folder), service.name)))


def guide() -> str:
    [block] = re.findall(
        r"^```ini\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return block


def test_systemd_understands_the_file(tmp_path: Path) -> None:
    assert "LD_PRELOAD" in guide()
    assert complaints(tmp_path, guide()) == ""


def test_a_planted_mistake_is_found(tmp_path: Path) -> None:
    assert "Enviroment" in complaints(tmp_path, guide().replace("Environment", "Enviroment"))
