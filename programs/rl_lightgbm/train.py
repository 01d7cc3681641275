"""LightGBM: gradient boosted trees of 31 leaves, then predictions in small batches."""

import sys

import lightgbm
import numpy
from rl_phase import begin, end

begin()

random = numpy.random.default_rng(7)
rows = random.normal(size=(20000, 20))
wanted = (rows[:, 0] * rows[:, 1] + numpy.sin(rows[:, 2]) > 0).astype(int)
settings = {"objective": "binary", "num_leaves": 31, "num_threads": 2, "verbose": -1, "seed": 7}
settings |= {"deterministic": True, "force_row_wise": True}
trees = lightgbm.train(settings, lightgbm.Dataset(rows, wanted), int(sys.argv[1]))
right = 0
for start in range(0, 5000, 50):
    found = trees.predict(rows[start : start + 50], num_threads=2)
    right += int(((found > 0.5) == wanted[start : start + 50]).sum())
print("trees", trees.num_trees(), "right", right > 4000)
end()
