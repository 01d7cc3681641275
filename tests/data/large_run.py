"""A run of as many samples as wanted, made of a stored one, whose samples are real.

As a command it writes a store with one of 37,000 samples into the folder that it is given.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LARGE = Path(__file__).resolve().parent / "runs" / "749d"
"""A run of 528 samples."""

COPIES = 70
"""Of its experiments: about 37,000 samples, as `run shelf` takes."""


def write_copies(store: Path, copies: int) -> Path:
    """Effects: writes a run with the experiments of LARGE many times. Returns: the store."""
    folder = store / "runs" / "749d"
    folder.mkdir(parents=True, exist_ok=True)
    run = json.loads((LARGE / "run.json").read_text())
    run["experiments"] = [
        {**experiment, "id": f"{experiment['id']}-{copy}"}
        for copy in range(copies)
        for experiment in run["experiments"]
    ]
    run["plan"]["experiments"] = [experiment["id"] for experiment in run["experiments"]]
    (folder / "run.json").write_text(json.dumps(run))
    records = [json.loads(line) for line in (LARGE / "samples.jsonl").read_text().splitlines()]
    step = 1 + max(record["number"] for record in records if record["kind"] == "process")
    with (folder / "samples.jsonl").open("w") as lines:
        for copy in range(copies):
            for record in records:
                lines.write(_line(record, copy, copy * step))
    return store


def _line(record: dict[str, Any], copy: int, offset: int) -> str:
    number = "number" if record["kind"] == "process" else "process"
    changed = {
        **record,
        "experiment": f"{record['experiment']}-{copy}",
        number: record[number] + offset,
    }
    return json.dumps(changed, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    write_copies(Path(sys.argv[1]), COPIES)
