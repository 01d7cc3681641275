"""What a pool or an arena is called in a sentence, by the policy of its candidate."""

from __future__ import annotations

POOL_NAMES = {
    "unsynchronized": "a pool",
    "thread_cached": "a pool for threads",
    "sized": "pools for its sizes",
    "arena": "an arena",
}
