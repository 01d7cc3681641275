"""scikit-learn: a random forest of deep trees, trained and asked by two threads."""

import sys

import numpy
from rl_phase import begin, end
from sklearn.ensemble import RandomForestClassifier

begin()

random = numpy.random.default_rng(7)
rows = random.normal(size=(4000, 20))
wanted = (rows[:, 0] * rows[:, 1] + numpy.sin(rows[:, 2]) > 0).astype(int)
forest = RandomForestClassifier(int(sys.argv[1]), random_state=7, n_jobs=2).fit(rows, wanted)
right = 0
for start in range(0, len(rows), 500):
    right += int((forest.predict(rows[start : start + 500]) == wanted[start : start + 500]).sum())
leaves = sum(tree.tree_.n_leaves for tree in forest.estimators_)
print("trees", len(forest.estimators_), "leaves", leaves, "right", right)
end()
