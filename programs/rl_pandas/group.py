"""pandas: groups, joins, texts and pivots of a table."""

import sys

import numpy
import pandas
from rl_phase import begin, end

begin()

random = numpy.random.default_rng(7)
count = int(sys.argv[1])
table = pandas.DataFrame(
    {
        "name": [f"customer {number}" for number in random.integers(0, count // 20, count)],
        "day": random.integers(0, 365, count),
        "kind": random.choice(["buy", "sell", "look"], count),
        "amount": random.integers(1, 10000, count),
    }
)
for _ in range(3):
    sums = table.groupby(["name", "kind"], as_index=False).agg(
        total=("amount", "sum"), most=("amount", "max"), days=("day", "nunique")
    )
    table["code"] = table["name"].str.upper().str.replace("CUSTOMER ", "c", regex=False)
    joined = table.merge(sums, on=["name", "kind"], how="left")
    wide = table.pivot_table(index="name", columns="kind", values="amount", aggfunc="sum")
    later = table.sort_values(["day", "amount"]).drop_duplicates("name")
print(len(sums), int(sums["total"].sum()), int(sums["days"].sum()), int(joined["days"].sum()))
print(wide.shape, int(numpy.nansum(wide.to_numpy())), int(later["amount"].sum()))
end()
