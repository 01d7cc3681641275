"""What is asked of Slurm and of Kubernetes: a whole machine for each worker, without a nanny."""

from __future__ import annotations

import secrets
import sys

import dask.config

from heapwise.errors import Problem
from heapwise.fleet.engines.quiet_engine import quiet_variables
from heapwise.model.json_value import Json

IMAGE = "kubernetes.image"
"""The key in Dask's configuration; ``DASK_KUBERNETES__IMAGE`` sets it."""
DASKS_IMAGES = "ghcr.io/dask/"
PODS_S = 600
"""A node may have to fetch the image first."""
WORKER = ["dask-worker", "--no-nanny", "--nthreads", "1", "--resources", "machine=1"]
ONE_FOR_EACH_NODE = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"dask.org/component": "worker"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}
"""``HostLock`` sees only its own pod, so no two workers of a namespace may share a node."""


def slurm_options(partition: str) -> dict[str, Json]:
    """The options of dask-jobqueue's SLURMCluster."""
    return {
        "queue": partition,
        "cores": 1,
        "processes": 1,
        "memory": "1GiB",
        "nanny": False,
        "job_directives_skip": ["--mem", "--cpus-per-task", "-n 1"],
        "job_extra_directives": ["--exclusive", "--nodes=1"],
        "job_script_prologue": [
            f"export {name}={value}" for name, value in quiet_variables().items()
        ],
        "worker_extra_args": ["--resources", "machine=1"],
        "python": sys.executable,
    }


def kubernetes_options(namespace: str) -> dict[str, Json]:
    """The options of dask-kubernetes's KubeCluster. Problem E003 if the image is Dask's own, which
    has no Heapwise. Each fleet run has a cluster of its own: KubeCluster connects to one of the
    same name.
    """
    from dask_kubernetes.operator import make_cluster_spec

    image = str(dask.config.get(IMAGE, DASKS_IMAGES))
    if image.startswith(DASKS_IMAGES):
        raise Problem(
            "E003",
            f"the image {image} has no Heapwise",
            why="Jobs run in the pods of that image.",
            do="set DASK_KUBERNETES__IMAGE to an image with heapwise[fleet], of this "
            "version and of this Python",
        )
    spec = make_cluster_spec(
        name=f"heapwise-{secrets.token_hex(4)}",
        image=image,
        n_workers=0,
        env=quiet_variables(),
        worker_command=WORKER,
    )
    spec["spec"]["worker"]["spec"]["affinity"] = ONE_FOR_EACH_NODE
    return {"namespace": namespace, "custom_cluster_spec": spec, "resource_timeout": PODS_S}
