"""``report`` and ``export`` as a user types them, over the frozen runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwise.cli.frame.app import run
from heapwise.report.formats import find_formats
from heapwise.store import run_ids

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that may be written to."""
    place = tmp_path / "store"
    shutil.copytree(DATA / "runs", place / "runs")
    monkeypatch.setenv("HEAPWISE_STORE", str(place))
    monkeypatch.chdir(tmp_path)
    return place


def test_the_last_run_by_default_and_the_path_in_the_last_line(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "--open", "no"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    path = Path(last.removeprefix("Report: "))
    assert path.parent.name == run_ids(store)[-1]
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_several_runs_and_all_of_them(store: Path, tmp_path: Path) -> None:
    some, every = tmp_path / "some.html", tmp_path / "all.html"
    assert run(["report", *run_ids(store), "-o", str(some), "--open", "no"]) == 0
    assert run(["report", "--all", "-o", str(every), "--open", "no"]) == 0
    assert some.read_text(encoding="utf-8") == every.read_text(encoding="utf-8")
    assert some.read_text(encoding="utf-8").count('<article class="run"') == 2


def test_list(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == run_ids(store)
    assert run(["report", "--list", "--json"]) == 0
    assert [entry["id"] for entry in json.loads(capsys.readouterr().out)] == run_ids(store)


def test_a_damaged_run_does_not_hide_the_others(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = run_ids(store)
    (store / "runs" / bad / "run.json").write_text("{", encoding="utf-8")
    assert run(["report", "--list"]) == 0
    out = capsys.readouterr().out
    assert good in out
    assert "left out" in out
    assert run(["report", bad, "--open", "no"]) == 2


def test_stdout_is_only_json_when_json_was_asked_for(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", "--json", "--open", "no"]) == 0
    shown = capsys.readouterr()
    assert Path(json.loads(shown.out)["report"]).exists()
    assert "Report: " in shown.err


@pytest.mark.parametrize("name", find_formats())
def test_export_to_a_file_and_to_stdout(
    store: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out"
    assert run(["export", "last", "--format", name, "-o", str(target)]) == 0
    capsys.readouterr()
    assert run(["export", "last", "--format", name]) == 0
    assert capsys.readouterr().out == target.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "id"),
    [
        (["report", "zzzz"], 2, "E004"),
        (["report", "--open", "maybe"], 2, "E003"),
        (["report", "-o", "/nonexistent/x.html"], 5, "E050"),
        (["export", "zzzz"], 2, "E004"),
        (["export", "--format", "pdf"], 2, "E003"),
        (["export", "-o", "/nonexistent/x.csv"], 5, "E050"),
        (["export", "--redact", "--frobnicate"], 2, "E003"),
    ],
)
def test_bad_input_says_what_why_and_what_next(
    store: Path, words: list[str], code: int, id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    assert run(words) == code
    shown = capsys.readouterr()
    assert f"error {id}:" in shown.err
    assert "do: " in shown.err
    assert "Traceback" not in shown.err
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before


def test_a_store_that_cannot_be_written_still_gives_a_report_elsewhere(
    store: Path, tmp_path: Path
) -> None:
    last = store / "runs" / run_ids(store)[-1]
    last.chmod(0o555)
    try:
        assert run(["report", "--open", "no", "-o", str(tmp_path / "r.html")]) == 0
    finally:
        last.chmod(0o755)
    assert not (last / "report.html").exists()


def test_an_empty_store_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--all", "--store", str(tmp_path)]) == 2
    assert "is empty" in " ".join(capsys.readouterr().err.split())


def renamed(store: Path, run: str, old: str, new: str) -> None:
    """Everywhere in the run, as a user would who sends it."""
    for name in ("run.json", "samples.jsonl"):
        file = store / "runs" / run / name
        file.write_text(
            file.read_text(encoding="utf-8").replace(json.dumps(old), json.dumps(new)),
            encoding="utf-8",
        )


@pytest.mark.parametrize(
    "id",
    [
        "../../x/evil",
        "{tmp}/evil",
        "pool/../../evil",
        "pool//bulk",
        "..",
        "pool/a/b",
        "",
        "a b",
    ],
)
def test_an_experiment_with_a_hostile_id_is_damage_and_nothing_is_written(
    store: Path, tmp_path: Path, id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    renamed(store, "749d", "pool/latency", id.format(tmp=tmp_path))
    before = sorted(tmp_path.rglob("*"))
    assert run(["export", "749d", "--format", "pages", "-o", str(tmp_path / "a" / "b")]) == 2
    assert "error E061" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_with_a_hostile_id_is_damage(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renamed(store, "749d", "749d", "../749d")
    assert run(["report", "749d", "--open", "no"]) == 2
    assert "error E061" in capsys.readouterr().err


def test_pages_do_not_follow_a_link_out_of_their_folder(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "pool").symlink_to(tmp_path / "elsewhere")
    assert run(["export", "749d", "--format", "pages", "-o", str(tmp_path / "pages")]) == 5
    assert "error E050" in capsys.readouterr().err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_that_the_user_names_stays_a_link(store: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "real.html", tmp_path / "link.html"
    target.write_text("older")
    link.symlink_to(target)
    assert run(["report", "-o", str(link), "--open", "no"]) == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_link_in_the_store_is_not_followed(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run folder of somebody else could hold one that leads anywhere."""
    elsewhere = tmp_path / "elsewhere"
    (store / "runs" / run_ids(store)[-1] / "report.html").symlink_to(elsewhere)
    assert run(["report", "--open", "no"]) == 5
    assert "--output PATH" in capsys.readouterr().err
    assert not elsewhere.exists()


def test_a_pipe_gets_the_report_and_stays_a_pipe(store: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = tmp_path / "received"
    with received.open("wb") as file, subprocess.Popen(["cat", str(pipe)], stdout=file) as cat:
        try:
            assert run(["report", "-o", str(pipe), "--open", "no"]) == 0
        except BaseException:
            cat.kill()  # nothing was written, so it waits for ever
            raise
    assert received.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert pipe.is_fifo()
