"""What load generators print, as their real versions print it, and how they are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from heapwise.study.server.generators import (
    GENERATORS,
    Measured,
    Printed,
    generator_of,
    without_rate,
)

OHA = """request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status
0.5,0.000055813,0.000628706,0.001340154,0.25,2000,200
1.0,0.000007251,0.000378553,0.001030823,0.5,2000,200
2.0,0.000007251,0.000378553,0.001030823,0.125,2000,503
"""
REDIS = """"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",\
"p99_latency_ms","max_latency_ms"
"SET","10000.00","0.4","0.1","0.3","0.9","1.2","5.0"
"GET","40000.00","0.4","0.1","0.3","0.9","1.2","5.0"
"""
WRK = """Running 1s test @ http://127.0.0.1:18080/none
  1 threads and 4 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   145.27us  190.04us   4.21ms   95.83%
    Req/Sec    35.50k     8.80k   44.57k    54.55%
  38830 requests in 1.10s, 11.52MB read
  Non-2xx or 3xx responses: 38830
Requests/sec:  35299.83
Transfer/sec:     10.47MB
"""
MEMCSLAP = """Time to generate       5000 test keys:                0.084 seconds.
Time to start             4 threads:                  0.000 seconds.
--------------------------------------------------------------------
Time to set           20000 keys by    4 threads:     0.504 seconds.
--------------------------------------------------------------------
Time total:                                           0.589 seconds.
"""
H2LOAD = """finished in 1.00s, 25000.00 req/s, 57.05MB/s
requests: 25010 total, 25010 started, 25010 done, 25000 succeeded, 10 failed, 0 errored, 0 timeout
"""


def parsed(name: str, text: str, folder: Path = Path()) -> Measured:
    return GENERATORS[name].parse(Printed(text, "", folder, 2.0))


def test_oha_has_a_line_for_each_answer() -> None:
    found = parsed("oha", OHA)
    assert (found.requests, found.errors, found.latencies_s) == (2, 1, [0.25, 0.5])
    assert found.seconds == 2.125


def test_pgbench_logs_microseconds_from_the_plan(tmp_path: Path) -> None:
    (tmp_path / "pgbench_log.1").write_text(
        "0 1 1200 0 1700000000 5 10\n0 2 2500 0 1700000000 9 10\n"
    )
    (tmp_path / "pgbench_log.1.2").write_text("1 1 failed 0 1700000000 5 10\n")
    found = parsed("pgbench", "duration: 4 s\n", tmp_path)
    assert (found.requests, found.errors, found.seconds) == (2, 1, 4.0)
    assert found.latencies_s == [0.0012, 0.0025]


def test_pgbench_tells_how_much_of_its_schedule_was_answered(tmp_path: Path) -> None:
    """Two threads of 1,001 requests each, evenly over 4 s of a schedule of which the second had
    only the first 3 s answered; each answer came half a second late. Of the ends 10 mean gaps are
    not seen. A third thread stuck after its first request."""
    for thread, end_s in (("", 4), (".1", 3)):
        planned = [1_700_000_000_000_000 + end_s * 1000 * number for number in range(1001)]
        (tmp_path / f"pgbench_log.1{thread}").write_text(
            "".join(
                f"0 1 500000 0 {(at + 500_000) // 1_000_000} {(at + 500_000) % 1_000_000} 10\n"
                for at in planned
            )
        )
    found = parsed("pgbench", "duration: 4 s\n", tmp_path)
    assert found.scheduled_s == pytest.approx((4 + 3) / 2 + 10 * 0.0035)
    (tmp_path / "pgbench_log.1.2").write_text("1 1 300 0 1700000000 5 10\n")
    stuck = parsed("pgbench", "duration: 4 s\n", tmp_path)
    assert stuck.scheduled_s == pytest.approx((4 + 3 + 0) / 3 + 10 * 0.0035)


def test_tests_of_redis_have_equally_many_requests() -> None:
    """A second for 10,000 and a quarter for 40,000 a second: 16,000 in the mean."""
    assert parsed("redis-benchmark", REDIS).requests == 2 * 16_000


def test_wrk_counts_refusals() -> None:
    found = parsed("wrk", WRK)
    assert (found.requests, found.errors, found.seconds) == (38830, 38830, 1.10)


def test_memcslap_times_its_keys() -> None:
    found = parsed("memcslap", MEMCSLAP)
    assert (found.requests, found.seconds) == (20000, 0.504)


def test_h2load_counts_what_succeeded() -> None:
    found = parsed("h2load", H2LOAD)
    assert (found.requests, found.errors, found.seconds) == (25000, 10, 1.0)


@pytest.mark.parametrize(
    "name", ["redis-benchmark", "wrk", "memcslap", "h2load", "memtier_benchmark", "sysbench"]
)
def test_nothing_that_can_be_read_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="in what"):
        parsed(name, "some other words\n")


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["oha", "-q", "{rate}", "-z", "{time}s", "URL"], ["oha", "-z", "{time}s", "URL"]),
        (["pgbench", "--rate={rate}", "-S"], ["pgbench", "-S"]),
        (["wrk", "URL"], ["wrk", "URL"]),
    ],
)
def test_the_capacity_is_asked_without_the_rate(words: list[str], left: list[str]) -> None:
    assert without_rate(words) == left


def test_options_that_are_needed_are_added_once() -> None:
    oha = generator_of(["/usr/bin/oha"])
    assert oha is not None
    assert oha.complete(["oha", "-w", "URL"]) == [
        "oha",
        "--no-tui",
        "--output-format",
        "csv",
        "--latency-correction",
        "-w",
        "URL",
    ]
    assert generator_of(["ab"]) is None
    assert generator_of([]) is None


def test_k6_drops_what_it_could_not_send(tmp_path: Path) -> None:
    """Recorded with k6 1.8.1: four requests, and two iterations without a free virtual user."""
    recorded = Path(__file__).resolve().parents[2] / "data" / "generators" / "k6.json"
    (tmp_path / "k6.json").write_text(recorded.read_text())
    found = parsed("k6", "", tmp_path)
    assert (found.requests, found.errors) == (4, 2)
    assert found.latencies_s[0] == pytest.approx(0.005710017)


def test_ghz_waits_for_nothing_only_with_a_rate() -> None:
    ghz = GENERATORS["ghz"]
    words = ["ghz", "--rps", "100", "localhost:1"]
    assert "--async" in ghz.complete(words)
    assert "--async" not in ghz.complete([*words, "--async"], has_rate=False)
    assert ghz.complete(words)[1:3] == ["-O", "json"]


def test_ghz_lists_each_answer() -> None:
    """Recorded with ghz 0.120.0, of 9 answers in a second the first four; one of them is changed to
    an error."""
    recorded = Path(__file__).resolve().parents[2] / "data" / "generators" / "ghz.json"
    text = recorded.read_text()
    found = parsed("ghz", text)
    assert (found.requests, found.errors) == (4, 0)
    assert found.latencies_s[0] == pytest.approx(0.001165779)
    assert found.seconds == pytest.approx(1.003324456)
    broken = parsed("ghz", text.replace('"status": "OK"', '"status": "Unavailable"', 1))
    assert (broken.requests, broken.errors) == (3, 1)


def recorded_by_sysbench(name: str) -> str:
    """By sysbench 1.0.20 for two seconds."""
    return (Path(__file__).resolve().parents[2] / "data" / "generators" / name).read_text()


def test_sysbench_has_a_histogram_of_its_queue() -> None:
    found = parsed("sysbench", recorded_by_sysbench("sysbench.txt"))
    assert (found.requests, found.errors, len(found.latencies_s)) == (407, 0, 407)
    assert found.seconds == 2.0246
    assert sum(found.latencies_s) == pytest.approx(0.35152, rel=0.01)
    assert max(found.latencies_s) == 0.006095
    assert found.scheduled_s == 2


def test_sysbench_tells_what_its_queue_still_holds() -> None:
    text = recorded_by_sysbench("sysbench_overloaded.txt")
    found = parsed("sysbench", text)
    assert found.requests == 8333
    assert found.scheduled_s == pytest.approx(2 * 8333 / (8333 + 51841))


def test_sysbench_that_falls_behind_its_own_schedule_is_seen() -> None:
    """407 of the 2,000 requests that a rate of 1,000 has in two seconds came into the queue; their
    number varies by 45, four times of which are believed."""
    text = recorded_by_sysbench("sysbench.txt").replace("200/sec", "1000/sec")
    found = parsed("sysbench", text)
    assert found.scheduled_s == pytest.approx(2 * 407 / (2000 - 4 * 2000**0.5))


def test_sysbench_without_a_rate_has_no_schedule() -> None:
    text = recorded_by_sysbench("sysbench.txt").replace("Target transaction rate", "Rate")
    assert parsed("sysbench", text).scheduled_s is None
