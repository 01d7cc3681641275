"""``serve``: real servers under real load generators, sound ones and others."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from test_interrupted import PATIENCE_S, start

from heapwise.model import SIDE_BY_SIDE, Process
from heapwise.store import StoredRun, read_run, run_ids
from heapwise.study.server.readiness import free_port

pytestmark = pytest.mark.usefixtures("built_native")

SERVER = str(Path(__file__).resolve().parents[1] / "data" / "http_server.py")
WRK = "wrk -c 4 -t 1 -d {time}s http://127.0.0.1:{port}/"
OHA = "oha -c 10 -z {time}s -q {rate} http://127.0.0.1:{port}/"

BECOMES_A_DAEMON = """
import os, subprocess, sys
subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True)
"""

needs_wrk = pytest.mark.skipif(not shutil.which("wrk"), reason="wrk is not installed")
needs_oha = pytest.mark.skipif(not shutil.which("oha"), reason="oha is not installed")


def serve(
    heapwise: Any,
    *words: str,
    ready: str = "tcp:{port}",
    load: str = WRK,
    kind: str = "",
    server: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    command = server or (sys.executable, SERVER, "{port}", *([kind] if kind else []))
    done: subprocess.CompletedProcess[str] = heapwise(
        "serve",
        "--ready",
        ready,
        "--load",
        load,
        "--load-time",
        "1s",
        "--idle",
        "0.1s",
        "--allocators",
        "glibc,jemalloc",
        "-r",
        "1",
        *words,
        "--",
        *command,
    )
    return done


def stored(tmp_path: Path) -> StoredRun:
    store = tmp_path / "store"
    return read_run(store, run_ids(store)[-1])


def last(tmp_path: Path) -> Process:
    return stored(tmp_path).processes[-1]


@needs_wrk
def test_each_allocator_runs_beside_a_server_of_the_baseline(heapwise: Any, tmp_path: Path) -> None:
    done = serve(heapwise, "--side-by-side", "-r", "3")
    assert done.returncode in (0, 4), done.stderr
    run = stored(tmp_path)
    beside = [process for process in run.processes if process.facts.beside]
    assert [p.subject for p in beside if p.status == "ok"].count("glibc") >= 4
    pairs = [sample for sample in run.samples if SIDE_BY_SIDE in sample.values]
    assert {s.subject for s in pairs} == {"glibc", "glibc-control", "jemalloc"}
    assert {s.values[SIDE_BY_SIDE] for s in pairs if s.subject == "glibc"} == {1.0}
    assert all(0.5 < sample.values[SIDE_BY_SIDE] < 2 for sample in pairs)
    assert "CPU a request, side by side with glibc" in done.stdout
    assert "and in each round two at once for 1 s" in done.stdout + done.stderr


@needs_wrk
def test_a_server_of_one_port_runs_by_itself(heapwise: Any, tmp_path: Path) -> None:
    port = str(free_port())
    words = {"ready": f"tcp:{port}", "server": (sys.executable, SERVER, port)}
    load = WRK.replace("{port}", port)
    refused = serve(heapwise, "--side-by-side", load=load, **words)  # type: ignore[arg-type]
    assert refused.returncode == 2
    assert "two servers would have one port" in " ".join(refused.stderr.split())
    assert serve(heapwise, load=load, **words).returncode == 0  # type: ignore[arg-type]
    assert not any(process.facts.beside for process in stored(tmp_path).processes)


@needs_wrk
def test_throughput_and_memory_of_a_server(heapwise: Any, tmp_path: Path) -> None:
    done = serve(heapwise)
    assert done.returncode == 0, done.stderr
    run = stored(tmp_path)
    assert {p.status for p in run.processes} == {"ok"}
    assert {s.subject for s in run.samples} == {"glibc", "glibc-control", "jemalloc"}
    alone = [sample for sample in run.samples if SIDE_BY_SIDE not in sample.values]
    assert len(alone) == 3
    for sample in alone:
        assert sample.values["throughput"] > 10
        assert not [name for name in sample.values if name.startswith("latency")]
        assert 4 << 20 < sample.values["after_idle"] <= sample.values["tree_peak"] < 1 << 28
    for process in run.processes:
        load = process.facts.load
        assert load is not None
        if process.facts.counting:
            continue
        assert (load.generator, load.open_loop, load.errors) == ("wrk", False, 0)
        assert process.identity
        assert process.facts.stopped_by == "SIGTERM"
    assert "throughput" in done.stdout
    assert "after idle" in done.stdout
    looks = [line for line in done.stderr.splitlines() if line.endswith("(one server, no verdict)")]
    assert sorted(line.partition(":")[0] for line in looks) == ["glibc", "jemalloc"]
    assert all("requests/s, " in line for line in looks)


@needs_wrk
def test_a_line_says_that_the_server_is_ready(heapwise: Any, tmp_path: Path) -> None:
    done = serve(heapwise, ready="line:ready to .*")
    assert done.returncode == 0, done.stderr
    assert {p.status for p in stored(tmp_path).processes} == {"ok"}


@needs_wrk
def test_a_server_that_dies_under_load_has_no_figures(heapwise: Any, tmp_path: Path) -> None:
    done = serve(heapwise, kind="dies")
    assert done.returncode == 3
    assert "it ended under the load (exit code 7)" in done.stderr
    assert not stored(tmp_path).samples


@needs_wrk
def test_a_server_that_crashes_at_its_end_has_no_figures(heapwise: Any, tmp_path: Path) -> None:
    done = serve(heapwise, kind="aborts")
    assert done.returncode == 3
    assert "crashed (SIGABRT) when it was told to end" in " ".join(done.stderr.split())
    assert not stored(tmp_path).samples


def test_a_generator_that_fails_with_its_server_accuses_the_server(heapwise: Any) -> None:
    """pgbench ends with an error if nobody answers it; the server has ended after one
    connection."""
    if not shutil.which("pgbench"):
        pytest.skip("pgbench is not installed")
    program = (
        "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1])));"
        "s.accept(); s.accept()"
    )
    done = serve(
        heapwise,
        load="pgbench -h localhost -p {port} -n -S -T {time} postgres",
        server=(sys.executable, "-c", program, "{port}"),
    )
    assert done.returncode == 3
    assert "it ended under the load" in " ".join(done.stderr.split())


@needs_wrk
def test_a_worker_without_the_allocator_is_refused(heapwise: Any, tmp_path: Path) -> None:
    serve(heapwise, kind="child")
    processes = stored(tmp_path).processes
    by_status = {p.subject: (p.status, p.reason) for p in processes}
    assert by_status["glibc"][0] == "ok"
    assert by_status["jemalloc"][0] == "wrong_allocator"
    assert "nothing was preloaded into" in by_status["jemalloc"][1]


@needs_wrk
def test_a_server_that_is_never_ready(
    heapwise: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = serve(heapwise, "--ready-time", "1s", kind="late")
    assert done.returncode == 3
    assert "it was not ready after 1 s" in done.stderr


@needs_wrk
@pytest.mark.parametrize(
    "server",
    [
        (sys.executable, "-c", BECOMES_A_DAEMON, SERVER, "{port}"),
        pytest.param(
            ("/usr/sbin/nginx", "-g", "daemon on;", "-e", "stderr", "-c", "{folder}/conf"),
            marks=pytest.mark.skipif(
                not Path("/usr/sbin/nginx").exists(), reason="nginx is not installed"
            ),
        ),
    ],
)
def test_a_server_that_goes_into_the_background_is_told_to_stay(
    heapwise: Any, tmp_path: Path, server: tuple[str, ...]
) -> None:
    """Whether the load begins before it is ended or not."""
    port = free_port()
    (tmp_path / "conf").write_text(
        f"pid {tmp_path}/pid; events {{}}\nhttp {{ server {{ listen 127.0.0.1:{port}; }} }}\n"
    )
    words = tuple(
        word.replace("{folder}", str(tmp_path)).replace("{port}", str(port)) for word in server
    )
    done = serve(heapwise, ready=f"tcp:{port}", load=WRK.replace("{port}", str(port)), server=words)
    assert done.returncode == 3
    said = " ".join(done.stderr.split())
    assert re.search(
        r"it ended (before it was ready|under the load): it went into the background", said
    ), said


@needs_wrk
def test_a_server_at_the_other_address_of_the_loopback(heapwise: Any, tmp_path: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no ::1")
    (tmp_path / "index.html").write_text("page")
    done = serve(
        heapwise,
        load="wrk -c 4 -t 1 -d {time}s http://[::1]:{port}/",
        server=(
            sys.executable,
            "-m",
            "http.server",
            "{port}",
            "--bind",
            "::1",
            "--directory",
            str(tmp_path),
        ),
    )
    assert done.returncode == 0, done.stderr
    assert {p.status for p in stored(tmp_path).processes} == {"ok"}


def with_mark(mark: str) -> list[str]:
    """The programs whose command lines have the mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(mark.encode() in word for word in words):
            found.append(Path(os.fsdecode(words[0])).name)
    return found


@needs_wrk
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_load_that_is_interrupted_leaves_no_process(
    environment: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    """Neither server nor generator. They are told by a mark in their words."""
    mark = f"mark-{os.getpid()}-{int(number)}"
    child = start(
        environment,
        tmp_path,
        "serve",
        "--ready",
        "tcp:{port}",
        "--load",
        f"wrk -c 4 -t 1 -d {{time}}s http://127.0.0.1:{{port}}/{mark}",
        "--load-time",
        "900s",
        "--allocators",
        "glibc,jemalloc",
        "-r",
        "1",
        "--",
        sys.executable,
        SERVER,
        "{port}",
        mark,
    )
    deadline = time.monotonic() + PATIENCE_S
    while "wrk" not in with_mark(mark):
        assert time.monotonic() < deadline, "the load never began"
        assert child.poll() is None
        time.sleep(0.02)
    os.killpg(child.pid, number)
    try:
        _, said = child.communicate(timeout=PATIENCE_S)  # far less than the load takes
    finally:
        child.kill()
    while with_mark(mark) and time.monotonic() < deadline + PATIENCE_S:
        time.sleep(0.02)
    assert with_mark(mark) == []
    if number != signal.SIGKILL:
        assert child.returncode == 130, said
        assert "heapwise resume" in said
        assert stored(tmp_path).run.state == "interrupted"
        assert not stored(tmp_path).samples


@needs_wrk
def test_a_port_that_is_in_use(heapwise: Any) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = serve(heapwise, ready=f"tcp:{port}", server=(sys.executable, SERVER, str(port)))
    assert done.returncode == 3
    assert f"port {port} is in use" in done.stderr


@needs_wrk
def test_a_sample_with_failed_requests_has_no_figures(heapwise: Any, tmp_path: Path) -> None:
    """The page that is asked for is one that the server has not."""
    folder = tmp_path / "www"
    folder.mkdir()
    serve(
        heapwise,
        server=(
            sys.executable,
            "-m",
            "http.server",
            "{port}",
            "--bind",
            "127.0.0.1",
            "--directory",
            str(folder),
        ),
        load=WRK + "none",
    )
    process = last(tmp_path)
    assert process.status == "discarded"
    assert "requests failed" in process.reason


def test_a_generator_that_is_overloaded_is_refused(heapwise: Any, tmp_path: Path) -> None:
    """It uses all of its processor, or is late because a neighbour has some of that too."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < 2:
        pytest.skip("server and generator would share the only processor")
    program = Path(SERVER).with_name("busy_generator.py")
    generator = tmp_path / "oha"
    generator.write_text(f"#!{sys.executable}\n{program.read_text()}")
    generator.chmod(0o755)
    serve(
        heapwise,
        "--rates",
        "30%",
        "--cpus",
        ",".join(map(str, processors[:-1])),
        load=OHA.replace("oha", str(generator)),
    )
    found = stored(tmp_path).processes
    assert {p.status for p in found if p.parameters["load"] == "capacity"} == {"ok"}
    for process in (p for p in found if p.parameters["load"] == "30%"):
        assert process.status == "discarded"
        assert re.search(r"so its schedule was late|of the intended rate", process.reason)
    assert not [s for s in stored(tmp_path).samples if s.parameters["load"] == "30%"]


@needs_wrk
def test_tails_of_a_generator_that_waits_are_refused(heapwise: Any) -> None:
    done = serve(heapwise, "--rates", "50%", load=WRK.replace("-c 4", "-c 4 -R {rate}"))
    assert done.returncode == 2
    assert "wrk sends no schedule" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ready", "soon"), "--ready soon is not understood"),
        (("--load", "ab http://127.0.0.1/"), "no load generator of that name is known"),
        (("--rates", "0%"), "it is a share above 0 %"),
        (("--load", "wrk http://127.0.0.1/", "--rates", "50%"), "--rates needs {rate} in --load"),
        (
            ("--load", "wrk 'http://127.0.0.1/"),
            "--load cannot be taken apart: No closing quotation",
        ),
        (("--ready", "tcp:70000"), "--ready tcp:70000 is not understood"),
    ],
)
def test_options_that_exclude_each_other_are_refused_before_anything_runs(
    heapwise: Any, words: tuple[str, ...], said: str
) -> None:
    done = serve(heapwise, *words, "--dry-run")
    assert done.returncode == 2
    assert said in done.stderr


@needs_wrk
@pytest.mark.parametrize(
    "server",
    [
        ("docker", "run", "--rm", "-p", "{port}:6379", "redis"),
        ("/usr/bin/systemctl", "start", "x"),
        ("systemd-run", "redis-server"),
    ],
)
def test_a_server_that_another_process_starts_is_refused(
    heapwise: Any, server: tuple[str, ...]
) -> None:
    done = serve(heapwise, "--dry-run", server=server)
    assert done.returncode == 2
    assert f"{Path(server[0]).name} asks another process" in " ".join(done.stderr.split())


def test_serve_needs_a_load_and_a_moment(heapwise: Any) -> None:
    done = heapwise("serve", "--", "redis-server")
    assert done.returncode == 2
    assert "serve needs --ready" in done.stderr


@needs_oha
def test_all_get_the_same_rate_and_latencies_count_from_the_plan(
    heapwise: Any, tmp_path: Path
) -> None:
    done = serve(heapwise, "--rates", "30%", load=OHA)
    assert done.returncode == 0, done.stderr
    loads = [
        p.facts.load
        for p in stored(tmp_path).processes
        if p.parameters["load"] == "30%" and p.status == "ok"
    ]
    assert len({load.intended_rate for load in loads if load}) == 1
    assert all(load and load.open_loop and load.histogram for load in loads)


@pytest.mark.skipif(not shutil.which("k6"), reason="k6 is not installed (Go, no Debian package)")
def test_k6_sends_by_a_schedule(heapwise: Any, tmp_path: Path) -> None:
    script = Path(SERVER).with_name("k6_script.js")
    done = serve(
        heapwise,
        "--rates",
        "10%",
        "--load-time",
        "2s",
        load=f"k6 run -e RATE={{rate}} -e TIME={{time}} -e URL=http://127.0.0.1:{{port}}/ {script}",
    )
    assert done.returncode == 0, done.stderr
    loads = [p.facts.load for p in stored(tmp_path).processes if p.parameters["load"] == "10%"]
    assert all(load and load.open_loop for load in loads)


@needs_oha
def test_a_pause_shows_at_full_length_in_an_open_loop(heapwise: Any, tmp_path: Path) -> None:
    """A server that stands still for 100 ms every second: of the requests of an open loop a tenth
    comes in such a pause and waits for up to 100 ms, evenly: the 99th percentile is 90 ms."""
    pauses = tmp_path / "pauses.sh"
    pauses.write_text(f"""#!/bin/sh
{sys.executable} {SERVER} "$1" &
server=$!
trap 'kill -CONT $server; kill $server; exit 0' TERM
sleep 1
while kill -0 $server; do
  sleep 0.9 & wait $!
  kill -STOP $server; sleep 0.1; kill -CONT $server
done
""")
    done = serve(
        heapwise,
        "--rates",
        "10%",
        "--load-time",
        "4s",
        server=("/bin/sh", str(pauses), "{port}"),
        load=OHA,
    )
    assert done.returncode == 0, done.stderr
    found = [s.values["latency_p99"] for s in stored(tmp_path).samples if "latency_p99" in s.values]
    assert found
    assert min(found) > 0.07, found
    assert median(found) < 0.25, found  # a machine may stall during one


RECIPES = ["redis", "nginx", "postgresql", "memcached", "inference"]
ONE_RECIPE = [
    name if name == "redis" else pytest.param(name, marks=pytest.mark.long) for name in RECIPES
]
"""All in `make test-long`."""


@pytest.mark.parametrize("recipe", ONE_RECIPE)
def test_recipes_run_on_the_real_servers(heapwise: Any, tmp_path: Path, recipe: str) -> None:
    done = heapwise(
        "serve",
        "--recipe",
        recipe,
        "--allocators",
        "jemalloc",
        "-r",
        "1",
        "--load-time",
        "1s",
        "--idle",
        "0.2s",
    )
    if done.returncode == 2 and re.search("(is not installed|packages are not here)", done.stderr):
        pytest.skip(done.stderr.splitlines()[0])
    assert done.returncode == 0, done.stderr
    free = [p for p in stored(tmp_path).processes if p.parameters["load"] == "capacity"]
    assert {p.status for p in free} == {"ok"}, [p.reason for p in free]
    [counted] = [p for p in free if p.facts.counting]
    if recipe in ("redis", "memcached"):  # they end by exit, so the counting probe reports
        assert (counted.facts.peak_live_bytes or 0) > 10 << 20


@needs_wrk
def test_windows_of_one_server(heapwise: Any, tmp_path: Path) -> None:
    """The last --load-time counts: four windows of a second."""
    page = tmp_path / "page.html"
    done = serve(heapwise, "--load-time", "4s", "--window", "1s", "--export", str(page))
    assert done.returncode == 0, done.stderr
    for process in stored(tmp_path).processes:
        if process.facts.beside:
            continue
        load = process.facts.load
        assert load is not None
        assert len(load.windows) == 4
        kept = [window for window in load.windows if not window.warm_up]
        assert 2 <= len(kept) <= 4
        assert sum(window.requests for window in kept) == load.requests
        assert load.windows[0].began_s < load.windows[1].began_s
    words = " ".join(done.stdout.split())
    assert "of 4" in words
    assert "Windows of one process depend on each other" in words
    assert "Windows of one server" in page.read_text()


@needs_wrk
def test_results_are_written_to_files(heapwise: Any, tmp_path: Path) -> None:
    files = [tmp_path / f"result{end}" for end in (".json", ".csv", ".md", ".html")]
    done = serve(heapwise, *(word for file in files for word in ("--export", str(file))))
    assert done.returncode == 0, done.stderr
    result, rows, text, page = (file.read_text() for file in files)
    names = {row["parameters"]["quantity"] for row in json.loads(result)["rows"]}
    assert {"throughput", "tree_peak", "after_idle"} <= names
    assert "throughput" in rows.splitlines()[1] or "throughput" in rows
    assert "jemalloc" in text
    assert "Memory over time" in page


@needs_wrk
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--window", "1s"), "--load-time 1s has fewer than 4 of them"),
        (("--window", "0.5s"), "load generators take whole seconds"),
        (("--export", "result.pdf"), "a name ends with .bmf.json"),
    ],
)
def test_windows_and_files_that_cannot_be(heapwise: Any, words: tuple[str, ...], said: str) -> None:
    done = serve(heapwise, *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


@needs_wrk
def test_the_plan_is_stored_and_the_run_goes_on(heapwise: Any, tmp_path: Path) -> None:
    serve(heapwise)
    run = stored(tmp_path).run
    assert run.plan.options.server is not None
    done = heapwise("resume", run.id, "--rounds", "2", "--json")
    assert done.returncode == 0, done.stderr
    rounds = {p.round for p in stored(tmp_path).processes}
    assert rounds >= {0, 1}
    assert json.loads(done.stdout)


def test_the_memory_of_a_process_that_runs_already(heapwise: Any) -> None:
    program = "import time\nblock = bytearray(64 << 20)\nprint('x', flush=True)\ntime.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        done = heapwise("watch", str(process.pid), "--time", "3s", "--json")
        process.kill()
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 64 << 10 <= found["memory"]["peak_kib"] < 128 << 10
    assert found["growth"] is None


def test_a_process_that_is_not_there(heapwise: Any) -> None:
    done = heapwise("watch", "4194303")
    assert done.returncode == 2
    assert "there is no such process" in done.stderr
