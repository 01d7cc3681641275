"""What is asked of clusters. There is no Kubernetes here: what it would be sent is checked against
the schema of Dask's operator if dask-kubernetes is installed (heapwise[fleet-k8s])."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.config
import pytest

from heapwise.errors import Problem
from heapwise.fleet.engines.cluster_options import kubernetes_options, slurm_options
from heapwise.fleet.engines.quiet_engine import QUIET, quiet_variables

OURS = "registry.example/heapwise:1"
needs_library = pytest.mark.skipif(
    importlib.util.find_spec("dask_kubernetes") is None, reason="dask-kubernetes is not installed"
)


def test_variables_say_what_the_settings_say() -> None:
    script = (
        "import dask.config, json, sys, distributed\n"
        "print(json.dumps({n: dask.config.get(n) for n in json.loads(sys.argv[1])}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(list(QUIET))],
        env=os.environ | quiet_variables(),
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == QUIET


def test_slurm_gives_whole_nodes_without_nannies_and_quiet() -> None:
    slurm = slurm_options("bench")
    assert slurm["queue"] == "bench"
    assert "--exclusive" in slurm["job_extra_directives"]
    assert slurm["nanny"] is False
    assert "export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False" in slurm["job_script_prologue"]


@pytest.fixture
def image() -> Iterator[None]:
    with dask.config.set({"kubernetes.image": OURS}):
        yield


@needs_library
@pytest.mark.usefixtures("image")
def test_a_pod_has_a_node_our_image_and_no_nanny() -> None:
    options = kubernetes_options("bench")
    worker = options["custom_cluster_spec"]["spec"]["worker"]
    container = worker["spec"]["containers"][0]
    assert options["namespace"] == "bench"
    assert (container["image"], worker["replicas"]) == (OURS, 0)
    assert "--no-nanny" in container["args"]
    assert {"name": "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "value": "False"} in container[
        "env"
    ]
    rule = worker["spec"]["affinity"]["podAntiAffinity"]
    assert (
        rule["requiredDuringSchedulingIgnoredDuringExecution"][0]["topologyKey"]
        == "kubernetes.io/hostname"
    )


@needs_library
@pytest.mark.usefixtures("image")
def test_the_library_takes_the_options() -> None:
    import inspect

    from dask_kubernetes.operator import KubeCluster

    inspect.signature(KubeCluster.__init__).bind(None, **kubernetes_options("bench"))
    names = {
        kubernetes_options("bench")["custom_cluster_spec"]["metadata"]["name"] for _ in range(2)
    }
    assert len(names) == 2  # a cluster of the same name would be shared


@needs_library
@pytest.mark.usefixtures("image")
def test_the_schema_of_the_operator_takes_the_cluster() -> None:
    import dask_kubernetes
    import yaml
    from jsonschema import Draft202012Validator

    folder = Path(dask_kubernetes.__file__).parent / "operator/deployment/helm"
    definition = yaml.safe_load(next(folder.rglob("crds/daskcluster.yaml")).read_text())
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    cluster = kubernetes_options("bench")["custom_cluster_spec"]
    Draft202012Validator(without_null(schema)).validate(without_null(cluster))
    unknown = list(unknown_names(cluster["spec"], schema["properties"]["spec"]))
    assert unknown == []
    broken = cluster["spec"]["worker"]["spec"] | {"afinity": {}}
    assert list(
        unknown_names(
            broken, schema["properties"]["spec"]["properties"]["worker"]["properties"]["spec"]
        )
    ) == ["afinity"]


def without_null(value: Any) -> Any:
    """As the client of Kubernetes sends it."""
    if isinstance(value, dict):
        return {name: without_null(part) for name, part in value.items() if part is not None}
    return [without_null(part) for part in value] if isinstance(value, list) else value


def unknown_names(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Names that Kubernetes would drop without a word."""
    if isinstance(value, list):
        for part in value:
            yield from unknown_names(part, schema.get("items", {}))
    elif isinstance(value, dict) and "properties" in schema:
        for name, part in value.items():
            if name in schema["properties"]:
                yield from unknown_names(part, schema["properties"][name])
            else:
                yield name


@needs_library
def test_an_image_without_heapwise_is_refused() -> None:
    with pytest.raises(Problem, match="has no Heapwise"):
        kubernetes_options("bench")
