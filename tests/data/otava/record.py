"""Records what apache-otava computes, so that the tests need neither it nor what it needs.

It wants one version of numpy and clients of three data bases. In a scratch environment:

    python -m venv /tmp/otava
    /tmp/otava/bin/pip install numpy==2.2.0 scipy==1.16.3
    /tmp/otava/bin/pip install --no-deps apache-otava==0.8.0 otava-test-data==0.1.9
    PYTHONPATH=tests/data/otava /tmp/otava/bin/python tests/data/otava/record.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from drawn_series import random_series

HERE = Path(__file__).parent
SERIES = 1000
DELAYS = (3, 5, 10, 20)
LENGTHS, SEED = [50, 200], 42
LASTING = {"step", "regression_start", "regression_end"}
"""Kinds of changes of the level that stay. An outlier, or another variance, is none."""


def statistics(seed: int) -> list[float]:
    """The most divergent place, its divergence, and the sums of all and of their squares."""
    from otava.change_point_divisive.calculator import PairDistanceCalculator

    values = np.array(random_series(seed))
    calculator = PairDistanceCalculator(values)
    found = calculator.get_candidate_change_point(slice(0, len(values)))
    q = np.triu(calculator._get_Q_vals(0, len(values)))
    return [int(found.index), float(found.qhat), float(q.sum()), float((q**2).sum())]


def public_series() -> list[dict[str, Any]]:
    """Each with its true changes and, for each end at which it is looked at, what otava finds."""
    from otava.analysis import compute_change_points
    from otava_test_data.generators.combiner import CombinationGenerator

    found = []
    for series in CombinationGenerator(lengths=LENGTHS, seed=SEED).generate_all_test_cases():
        values = [round(float(value), 2) for value in series.data]
        truth = sorted({p.index for p in series.change_points if p.change_type in LASTING})
        ends = {min(len(values), index + delay) for index in truth for delay in DELAYS}
        points = {
            end: [int(p.index) for p in compute_change_points(values[:end])[0]]
            for end in sorted({*ends, len(values)})
        }
        found.append(
            {"name": series.generator_name, "values": values, "changes": truth, "otava": points}
        )
    return found


def main() -> None:
    (HERE / "statistics.json").write_text(
        json.dumps([statistics(seed) for seed in range(SERIES)]).replace("], ", "],\n") + "\n"
    )
    (HERE / "series.json").write_text(
        json.dumps(public_series(), separators=(",", ":")).replace("},{", "},\n{") + "\n"
    )


if __name__ == "__main__":
    main()
