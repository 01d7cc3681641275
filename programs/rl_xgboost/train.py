"""XGBoost: gradient boosted trees by histograms, then predictions in small batches."""

import sys

import numpy
import xgboost
from rl_phase import begin, end

begin()

random = numpy.random.default_rng(7)
rows = random.normal(size=(20000, 20)).astype(numpy.float32)
wanted = (rows[:, 0] * rows[:, 1] + numpy.sin(rows[:, 2]) > 0).astype(numpy.float32)
settings = {"tree_method": "hist", "max_depth": 6, "nthread": 2, "objective": "binary:logistic"}
trees = xgboost.train(settings, xgboost.DMatrix(rows, wanted), int(sys.argv[1]))
right = 0
for start in range(0, 5000, 50):
    part = xgboost.DMatrix(rows[start : start + 50])
    right += int(((trees.predict(part) > 0.5) == wanted[start : start + 50]).sum())
print("trees", trees.num_boosted_rounds(), "right", right > 4000)
end()
