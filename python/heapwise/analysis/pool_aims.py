"""What the project aims at with its pools and its arena, as data: always with the blocks in use.

Each aim is one goal over all rows that it covers: every size, order and use of the blocks.
"""

from __future__ import annotations

from heapwise.analysis.heap_aims import Aim, LimitAim, RowAim, ScaleAim
from heapwise.analysis.roles import (
    ANY_OTHER,
    BARE_LIST,
    BEST_MALLOC,
    OTHER_POOL,
)

BULK, RUNS, PAIR = "pool/bulk", "pool/up_and_down", "pool/interleaved"
SHARED, HANDED_OVER = "pool/concurrent", "pool/producer_consumer"
CONTAINERS, MANY, FRAMES = "pool/containers", "pool/many_pools", "arena/frames"

ONE_THREAD, CACHED, BY_HANDLE = "unsynchronized", "thread_cached", "thread_cached_handle"

LEVEL = 0.97
"""Within 3 % of the fastest is level: the neighbours in a list of five differ by more."""

LARGE = ("block_size", (64, 256))
SMALL = ("block_size", (16, 32))
BY_ADDRESS, AT_RANDOM = ("free_order", "address"), ("free_order", "random")
ALONE = ("company", "none")
CONTENDED = ("threads", (2, 4, 8, 16))

POOL_AIMS: tuple[Aim, ...] = (
    RowAim(
        "allocate fresh blocks",
        BULK,
        "main",
        ONE_THREAD,
        ANY_OTHER,
        1.1,
        where=(LARGE, BY_ADDRESS),
        quantities=("alloc_fresh",),
    ),
    RowAim(
        "free by address",
        BULK,
        "main",
        ONE_THREAD,
        ANY_OTHER,
        1.1,
        where=(LARGE, BY_ADDRESS),
        quantities=("free",),
    ),
    RowAim(
        "allocate again by address",
        BULK,
        "main",
        ONE_THREAD,
        ANY_OTHER,
        1.3,
        where=(LARGE, BY_ADDRESS),
        quantities=("alloc_reused",),
    ),
    RowAim(
        "free at random",
        BULK,
        "main",
        ONE_THREAD,
        ANY_OTHER,
        1.3,
        where=(LARGE, AT_RANDOM),
        quantities=("free",),
    ),
    RowAim(
        "allocate again at random, malloc",
        BULK,
        "main",
        ONE_THREAD,
        BEST_MALLOC,
        1.0,
        where=(LARGE, AT_RANDOM),
        quantities=("alloc_reused",),
    ),
    RowAim(
        "allocate again at random, pools",
        BULK,
        "main",
        ONE_THREAD,
        OTHER_POOL,
        10.0,
        where=(LARGE, AT_RANDOM),
        quantities=("alloc_reused",),
    ),
    RowAim(
        "blocks of 16 and 32 bytes",
        BULK,
        "main",
        ONE_THREAD,
        ANY_OTHER,
        1.0,
        where=(SMALL,),
        quantities=("alloc_fresh", "free", "alloc_reused"),
    ),
    RowAim(
        "runs in the cache", RUNS, "main", ONE_THREAD, "boost_pool", 1.0, quantities=("alloc_free",)
    ),
    RowAim(
        "a pair, malloc",
        PAIR,
        "main",
        ONE_THREAD,
        BEST_MALLOC,
        6.0,
        where=(ALONE,),
        quantities=("alloc_free",),
    ),
    RowAim(
        "a pair, bare list",
        PAIR,
        "main",
        ONE_THREAD,
        BARE_LIST,
        LEVEL,
        where=(ALONE,),
        quantities=("alloc_free",),
    ),
    RowAim(
        "a pair, cached",
        PAIR,
        "main",
        CACHED,
        ONE_THREAD,
        0.5,
        where=(ALONE,),
        quantities=("alloc_free",),
    ),
    RowAim(
        "a pair, by handle",
        PAIR,
        "main",
        BY_HANDLE,
        ONE_THREAD,
        0.5,
        where=(ALONE,),
        quantities=("alloc_free",),
    ),
    RowAim(
        "4 threads, one pool",
        SHARED,
        "main",
        CACHED,
        BEST_MALLOC,
        2.0,
        where=(("threads", 4),),
        quantities=("alloc_free",),
    ),
    RowAim(
        "4 threads, one pool, by handle",
        SHARED,
        "main",
        BY_HANDLE,
        BEST_MALLOC,
        2.0,
        where=(("threads", 4),),
        quantities=("alloc_free",),
    ),
    RowAim(
        "contended, without a lock",
        SHARED,
        "main",
        "lock_free",
        "mutex",
        1.0,
        where=(CONTENDED,),
        quantities=("alloc_free",),
    ),
    RowAim(
        "containers: build", CONTAINERS, "main", ONE_THREAD, ANY_OTHER, 1.0, quantities=("build",)
    ),
    RowAim(
        "containers: walk after churn",
        CONTAINERS,
        "main",
        ONE_THREAD,
        ANY_OTHER,
        1.0,
        quantities=("walk_churned",),
    ),
    RowAim(
        "containers: destroy",
        CONTAINERS,
        "main",
        ONE_THREAD,
        ANY_OTHER,
        1.0,
        quantities=("destroy",),
    ),
    RowAim("containers: memory", CONTAINERS, "peak", ONE_THREAD, ANY_OTHER, 1.02),
    RowAim(
        "one producer, one consumer",
        HANDED_OVER,
        "main",
        CACHED,
        BEST_MALLOC,
        1.5,
        where=(("shape", "one_to_one"),),
        quantities=("block",),
    ),
    LimitAim(
        "an allocation of a producer (ns)",
        HANDED_OVER,
        "alloc",
        CACHED,
        6.0,
        (("shape", "one_to_one"),),
    ),
    ScaleAim("many pools of one thread", MANY, "pools", 64, 1, CACHED, 1 / 1.5),
    LimitAim("unequal frames: memory of the largest", FRAMES, "reserved_over_frame", "arena", 1.5),
    RowAim(
        "unequal frames: time", FRAMES, "main", "arena", OTHER_POOL, 1.0, quantities=("allocation",)
    ),
)
