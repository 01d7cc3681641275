"""Writes a page of what allocators make of attacks, from the newest run of them in a store.

.venv/bin/heapwise run attacks --rounds 2
PYTHONPATH=tools:python .venv/bin/python -m attacks --page docs/results/MACHINE/attacks.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from attacks.page import page
from heapwise.evidence import Evidence
from heapwise.model import ATTACKS
from heapwise.report import View
from heapwise.store import read_run, run_ids


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m attacks")
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--store", type=Path, default=Path(".heapwise"))
    options = parser.parse_args()
    for name in reversed(run_ids(options.store)):
        stored = read_run(options.store, name)
        if any(experiment.family == ATTACKS for experiment in stored.run.experiments):
            options.page.parent.mkdir(parents=True, exist_ok=True)
            options.page.write_text(page(View(Evidence(stored))))
            return 0
    print(f"no run of attacks in {options.store}. Next: heapwise run attacks", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
