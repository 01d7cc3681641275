"""A real Slurm with one node, which is this machine: one worker is a job with the node to itself.

It shows that the options are those that Slurm and dask-jobqueue take. It shows nothing about a
cluster of several nodes.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

PARTITION = "lab"
CONFIGURATION = """\
ClusterName=heapwise
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={daemon}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
MpiDefault=none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/control.pid
SlurmdPidFile={folder}/daemon.pid
SlurmctldLogFile={folder}/control.log
SlurmdLogFile={folder}/daemon.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=500 State=UNKNOWN
PartitionName={partition} Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str:
    if os.geteuid() != 0:
        return "slurmd needs root"
    for tool in ("slurmctld", "slurmd", "sbatch"):
        if shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin") is None:
            return f"{tool} is not installed (slurm-wlm)"
    if importlib.util.find_spec("dask_jobqueue") is None:
        return "dask-jobqueue is not installed (heapwise[fleet-slurm])"
    return ""


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a shell on a cluster of one node."""
    if reason := why_not():
        pytest.skip(reason)
    for name in ("state", "spool"):
        (tmp_path / name).mkdir()
    configuration = tmp_path / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            host=socket.gethostname(),
            control=free_port(),
            daemon=free_port(),
            user="root",
            folder=tmp_path,
            cpus=os.cpu_count(),
            partition=PARTITION,
        )
    )
    environment = os.environ | {"SLURM_CONF": str(configuration)}
    with ExitStack() as stack:
        for words in (["slurmctld", "-D"], ["slurmd", "-D"]):
            daemon = stack.enter_context(
                subprocess.Popen(
                    [f"/usr/sbin/{words[0]}", *words[1:]],
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            stack.callback(daemon.terminate)
        deadline = time.monotonic() + 60
        while "idle" not in (
            said := subprocess.run(
                ["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, text=True
            ).stdout
        ):
            assert time.monotonic() < deadline, said + (tmp_path / "control.log").read_text()
            time.sleep(0.5)
        yield environment


@pytest.mark.slow
def test_a_node_of_slurm_measures_and_is_given_back(slurm: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "heapwise",
            "compare",
            "--fleet",
            f"slurm:{PARTITION}",
            "--store",
            "store",
            "--rounds",
            "3",
            "--allocators",
            "glibc,heapwise",
            "--json",
            "--",
            "/bin/true",
        ],
        env=slurm
        | {
            "HEAPWISE_FLEET_LOCK": str(tmp_path / "lock"),
            "HEAPWISE_FLEET_FOLDER": str(tmp_path / "machines"),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    machines = json.loads(done.stdout)["fleet"]["machines"]
    assert [state["state"] for state in machines.values()] == ["complete"]
    assert len(list(tmp_path.glob("store/runs/*"))) == 1
    deadline = time.monotonic() + 30
    while subprocess.run(["squeue", "-h"], env=slurm, capture_output=True).stdout:
        assert time.monotonic() < deadline, "the node was not given back"
        time.sleep(0.5)
