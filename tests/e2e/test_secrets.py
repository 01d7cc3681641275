"""What the user's environment holds stays with the user and with the measured program."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from heapwise.store import read_run, run_ids

pytestmark = pytest.mark.usefixtures("built_native")

NAMES = (
    "DATABASE_URL",
    "ORDERS_DSN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "MYSQL_PWD",
    "PGPASSWORD",
    "STRIPE_KEY",
    "GITHUB_PAT",
    "GH_TOKEN",
    "GOOGLE_API_KEY",
    "SESSION_COOKIE",
    "HTTP_COOKIE",
    "HTTPS_PROXY",
    "REDIS_URL",
    "AMQP_URI",
    "SLACK_WEBHOOK",
    "NPM_CONFIG__AUTH",
    "SSH_PASSPHRASE",
    "TWINE_PASSWORD",
    "LC_TELEPHONE",
    "ENCRYPTION_SALT",
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
        "compare",
        "--runs",
        "2",
        "--warmup",
        "0",
        "--allocators",
        "glibc,jemalloc",
        "--",
        sys.executable,
        "-I",
        "spy.py",
        str(out),
        ",".join(NAMES),
        env=SECRETS,
    )
    assert done.returncode in (0, 4), done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_no_command_line_shows_a_variable_and_the_program_gets_all(
    spied: list[dict[str, Any]],
) -> None:
    assert len(spied) >= 6
    for seen in spied:
        assert seen["launchers"] >= 1
        assert seen["values"] == SECRETS
        assert seen["seen"] == []


def test_the_store_holds_names_but_no_value_and_is_private(
    spied: list[dict[str, Any]], heapwise: Any, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    assert heapwise("report", "--open", "no").returncode == 0
    files = [path for path in store.rglob("*") if path.is_file()]
    assert {"run.json", "samples.jsonl", "report.html"} <= {path.name for path in files}
    for path in files:
        text = path.read_bytes()
        assert [name for name, value in SECRETS.items() if value.encode() in text] == [], path
    environment = read_run(store, run_ids(store)[0]).run.plan.environment
    assert set(NAMES) <= set(environment)
    assert environment["PATH"] == os.environ["PATH"]
    for path in (store, *store.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_run_that_goes_on_in_another_environment_says_so(heapwise: Any, tmp_path: Path) -> None:
    words = ("--allocators", "glibc,jemalloc", "--warmup", "0")
    first = {"MODE": "fast", "GONE": "1", "SAME": "s"}
    done = heapwise("compare", "--runs", "1", *words, "--", "sh", "-c", "true", env=first)
    assert done.returncode in (0, 4), done.stderr
    done = heapwise("resume", "--runs", "2", env={"MODE": "slow", "SAME": "s"})
    assert done.returncode in (0, 4), done.stderr
    assert "changed since the run began: GONE, MODE." in done.stdout
    options = read_run(tmp_path / "store", "last").run.plan.options
    assert options.environment_changed == ["GONE", "MODE"]
