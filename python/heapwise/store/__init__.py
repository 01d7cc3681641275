"""Where runs live: found, written line by line, read back, migrated. Raw samples only."""

from heapwise.store.costs import costs, usual_costs
from heapwise.store.listing import Listing, empty_store, list_runs, resolve_run, run_ids
from heapwise.store.location import find_store
from heapwise.store.points import Point, RunPoints, points_of, read_points
from heapwise.store.private import key_name, make_private_folder, store_key
from heapwise.store.reader import read_run
from heapwise.store.self_test import read_self_test, write_self_test
from heapwise.store.stored_run import StoredRun
from heapwise.store.writer import RunWriter, check_writable, new_run_id

__all__ = [
    "Listing",
    "Point",
    "RunPoints",
    "RunWriter",
    "StoredRun",
    "check_writable",
    "costs",
    "empty_store",
    "find_store",
    "key_name",
    "list_runs",
    "make_private_folder",
    "new_run_id",
    "points_of",
    "read_points",
    "read_run",
    "read_self_test",
    "resolve_run",
    "run_ids",
    "store_key",
    "usual_costs",
    "write_self_test",
]
