"""What the user's environment holds stays with the user and with the measured program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

NAMES = (
    "DATABASE_URL", "ORDERS_DSN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
    "MYSQL_PWD", "PGPASSWORD", "STRIPE_KEY", "GITHUB_PAT", "GH_TOKEN", "GOOGLE_API_KEY",
    "SESSION_COOKIE", "HTTP_COOKIE", "HTTPS_PROXY", "REDIS_URL", "AMQP_URI", "SLACK_WEBHOOK",
    "NPM_CONFIG__AUTH", "SSH_PASSPHRASE", "TWINE_PASSWORD", "LC_TELEPHONE", "ENCRYPTION_SALT",
)
SECRETS = {name: f"{name[::-1].lower()}-s3cr3t-{place}" for place, name in enumerate(NAMES)}

SPY = """
import json, os, pathlib, sys
names = sys.argv[2].split(",")
secrets = {name: os.environ.get(name, "") for name in names}
lines = []
for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        lines.append(path.read_bytes())
    except OSError:
        pass
seen = [name for name, value in secrets.items()
        if not value or any(value.encode() in line for line in lines)]
launchers = sum(b"heapwise-launch" in line for line in lines)
with open(sys.argv[1], "a") as file:
    print(json.dumps({"seen": seen, "launchers": launchers, "values": secrets}), file=file)
"""
"""The measured program reads every command line of the machine while it is measured."""


@pytest.fixture
def spied(heapwise: Any, tmp_path: Path) -> list[dict[str, Any]]:
    """What each measured process saw."""
    (tmp_path / "spy.py").write_text(SPY)
    out = tmp_path / "seen.jsonl"
    done = heapwise(
        "compare", "--runs", "2", "--warmup", "0", "--allocators", "glibc,jemalloc", "--",
        sys.executable, "-I", "spy.py", str(out), ",".join(NAMES), env=SECRETS)
    assert done.returncode in (0, 4), done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_no_command_line_shows_a_variable_and_the_program_gets_all(
    spied: list[dict[str, Any]]
) -> None:
    assert len(spied) >= 6
    for seen in spied:
        assert seen["launchers"] >= 1
        assert seen["values"] == SECRETS
        assert seen["seen"] == []
