"""pyarrow: groups, joins, dictionaries and Parquet, with its pool of memory on top of malloc."""

import sys

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet
from rl_phase import begin, end

begin()

pyarrow.set_cpu_count(2)
random = numpy.random.default_rng(7)
count = int(sys.argv[1])
names = [f"customer {number}" for number in random.integers(0, count // 20, count)]
table = pyarrow.table(
    {
        "name": names,
        "day": random.integers(0, 365, count),
        "kind": pyarrow.array(random.choice(["buy", "sell", "look"], count)).dictionary_encode(),
        "amount": random.integers(1, 10000, count),
    }
)
for _ in range(4):
    sums = table.group_by(["name", "kind"]).aggregate([("amount", "sum"), ("day", "max")])
    each = table.group_by("name").aggregate([("amount", "sum"), ("amount", "count")])
    joined = table.join(each, "name")
    store = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(joined.sort_by("amount"), store, row_group_size=10000)
    again = pyarrow.parquet.read_table(pyarrow.BufferReader(store.getvalue()))
total = pyarrow.compute.sum(sums["amount_sum"]).as_py()
print(len(sums), total, len(joined), again.num_columns, again.num_rows)
print("pool", pyarrow.default_memory_pool().backend_name)
end()
