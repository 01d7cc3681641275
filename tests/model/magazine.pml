/* Thread caches before a depot, threads that exit, and a pool that is destroyed while threads hold
 * caches of it (include/heapwise/thread/thread_cached.hpp, src/pool/cache_registry.cpp).
 *
 * Blocks are counted, not named: every count has one place, so a block in two places or none shows
 * in the sum. A cache holds `loaded` blocks, one spare batch of BATCH, and `fresh` ones that were cut
 * for it. Steps that the code makes under a lock take the same locks here, in the same order.
 *
 * Checked, for all interleavings:
 *   - nobody touches the depot without its lock, or a pool that is gone;
 *   - when all threads have exited, all blocks are in the depot;
 *   - no deadlock (the registry's lock comes before the depot's, always).
 *
 * Planted bugs, which the checker must find:
 *   -DFORGET_SPARE       a thread that exits leaves its spare batch behind
 *   -DFORGET_FRESH       ... or the blocks that were cut for it
 *   -DSKIP_REGISTRY      a thread that exits walks the list of pools without the registry's lock
 *   -DLOCKS_REVERSED     the destructor takes the depot's lock before the registry's
 *   -DUNLOCKED_EXCHANGE  a batch is given to the depot without its lock
 *   -DUNLOCKED_GIVING    ... or all that a cache has, after a refusal
 *   -DLIST_EARLY         a pool is on the list before it is whole
 *   -DNO_FORGET          a destroyed pool stays in the threads' tables
 */
#define BATCH 2
#ifndef BLOCKS
#define BLOCKS 6
#endif
#define THREADS 2

/* The pool: gone, being built, whole. A second life stands for another pool with the same slot. */
#define GONE 0
#define PARTIAL 1
#define WHOLE 2
byte pool_state = GONE;
byte life = 0;
bool listed;

byte registry_lock;  /* 0: free, else 1 + who holds it */
byte depot_lock;
byte depot_blocks;   /* free blocks in the depot */
byte uncut;          /* blocks that were never cut */
byte users;          /* threads in the middle of an operation: the pool must not be destroyed then */
bool may_use;        /* the owner of the pool lets the threads use it */
byte exited;
byte refusals;       /* requests that were refused */

typedef cache {
  bool in_table;     /* the thread's table has an entry for the pool's slot */
  byte of_life;      /* which pool the entry means */
  byte loaded;
  byte spare;
  byte fresh;
  byte refusals_seen /* the count when this cache gave all that it had */
};
cache caches[THREADS];
byte out;            /* blocks that users hold; any thread may free one */

#define ACQUIRE(lock) atomic { lock == 0 -> lock = _pid + 1 }
#define RELEASE(lock) atomic { assert(lock == _pid + 1); lock = 0 }

inline touch_depot() {
  assert(pool_state == WHOLE);
  assert(depot_lock == _pid + 1)
}

#ifdef UNLOCKED_EXCHANGE
#define ACQUIRE_TO_GIVE skip
#define RELEASE_TO_GIVE skip
#else
#define ACQUIRE_TO_GIVE ACQUIRE(depot_lock)
#define RELEASE_TO_GIVE RELEASE(depot_lock)
#endif

inline enter_table(me) {
  if
  :: !caches[me].in_table ->
    /* claim under the depot's lock, then enter under the registry's: never both */
    ACQUIRE(depot_lock);
    touch_depot();
    RELEASE(depot_lock);
    ACQUIRE(registry_lock);
    atomic { caches[me].in_table = true; caches[me].of_life = life };
    RELEASE(registry_lock)
  :: else
  fi;
  /* A stale entry would lead to the memory of a pool that is gone. */
  assert(caches[me].of_life == life)
}

inline give_back(me) {
  atomic {
    depot_blocks = depot_blocks + caches[me].loaded;
    caches[me].loaded = 0;
#ifndef FORGET_SPARE
    depot_blocks = depot_blocks + caches[me].spare;
#endif
    caches[me].spare = 0;
#ifndef FORGET_FRESH
    depot_blocks = depot_blocks + caches[me].fresh;
#endif
    caches[me].fresh = 0
  }
}

/* After a refusal every cache gives all that it has at its next exchange with the depot. */
inline give_if_asked(me) {
  if
  :: caches[me].refusals_seen != refusals ->
#ifndef UNLOCKED_GIVING
    ACQUIRE(depot_lock);
#endif
    touch_depot();
    caches[me].refusals_seen = refusals;
    give_back(me);
#ifndef UNLOCKED_GIVING
    RELEASE(depot_lock)
#endif
  :: else
  fi
}

inline take_one(me) {
  if
  :: caches[me].loaded > 0 -> atomic { caches[me].loaded--; out++ }
  :: caches[me].loaded == 0 && caches[me].fresh > 0 -> atomic { caches[me].fresh--; out++ }
  :: caches[me].loaded == 0 && caches[me].fresh == 0 ->
    give_if_asked(me);
    if
    :: caches[me].spare > 0 ->
      atomic { caches[me].loaded = caches[me].spare - 1; caches[me].spare = 0; out++ }
    :: else ->
      ACQUIRE(depot_lock);
      touch_depot();
      if
      :: depot_blocks >= BATCH ->
        atomic { depot_blocks = depot_blocks - BATCH; caches[me].loaded = BATCH - 1; out++ }
      :: depot_blocks > 0 && depot_blocks < BATCH -> atomic { depot_blocks--; out++ }
      :: depot_blocks == 0 && uncut >= BATCH ->
        atomic { uncut = uncut - BATCH; caches[me].fresh = BATCH - 1; out++ }
      :: depot_blocks == 0 && uncut < BATCH ->  /* exhausted */
        atomic { refusals++; caches[me].refusals_seen = refusals }
      fi;
      RELEASE(depot_lock)
    fi
  fi
}

/* Frees as many blocks as it likes, its own and those of others. */
inline free_some(me) {
  do
  :: atomic { out > 0 -> out--; caches[me].loaded++ };
    unload(me)
  :: true -> break
  od
}

/* A node became full: one batch is kept, the one before it is given away. */
inline unload(me) {
  if
  :: caches[me].loaded > BATCH ->
    give_if_asked(me);
    if
    :: caches[me].loaded <= BATCH
    :: caches[me].loaded > BATCH && caches[me].spare == 0 ->
      atomic { caches[me].spare = BATCH; caches[me].loaded = caches[me].loaded - BATCH }
    :: else ->
      ACQUIRE_TO_GIVE;
      touch_depot();
      atomic { depot_blocks = depot_blocks + BATCH; caches[me].loaded = caches[me].loaded - BATCH };
      RELEASE_TO_GIVE
    fi
  :: else
  fi
}

/* What runs when a thread exits: all living pools take back what it holds. The walk is two steps,
 * finding the pool on the list and calling it: the lock is what keeps the pool there in between. */
inline retire(me) {
#ifndef SKIP_REGISTRY
  ACQUIRE(registry_lock);
#endif
  if
  :: listed ->
    skip;
    assert(pool_state == WHOLE);
    ACQUIRE(depot_lock);
    touch_depot();
    if
    :: caches[me].in_table -> give_back(me); caches[me].in_table = false
    :: else
    fi;
    RELEASE(depot_lock)
  :: else
  fi;
#ifndef SKIP_REGISTRY
  RELEASE(registry_lock)
#endif
}

proctype thread(byte me) {
  byte round;
  do
  :: round < 3 ->
    if
    :: atomic { may_use -> users++ };
      enter_table(me);
      take_one(me);
      free_some(me);
      users--
    :: true
    fi;
    round++
  :: round < 3 -> break  /* exits early */
  :: round == 3 -> break
  od;
  retire(me);
  atomic { exited++ }
}

inline construct() {
#ifdef LIST_EARLY
  atomic { pool_state = PARTIAL; life++ };
  ACQUIRE(registry_lock);
  listed = true;
  RELEASE(registry_lock);
  atomic { pool_state = WHOLE; depot_blocks = 0; uncut = BLOCKS }
#else
  atomic { pool_state = PARTIAL; life++ };
  atomic { pool_state = WHOLE; depot_blocks = 0; uncut = BLOCKS };
  ACQUIRE(registry_lock);
  listed = true;
  RELEASE(registry_lock)
#endif
}

inline forget_all() {
#ifndef NO_FORGET
  d_step {
    each = 0;
    do
    :: each < THREADS -> caches[each].in_table = false; each++
    :: else -> each = 0; break
    od
  }
#else
  skip
#endif
}

/* The caches live in the pool's memory and go with it; what users still hold is gone too. */
inline drop_contents() {
  d_step {
    each = 0;
    do
    :: each < THREADS ->
      caches[each].loaded = 0;
      caches[each].spare = 0;
      caches[each].fresh = 0;
      caches[each].refusals_seen = 0;
      each++
    :: else -> each = 0; break
    od;
    out = 0;
    depot_blocks = 0;
    uncut = 0;
    refusals = 0;
    pool_state = GONE
  }
}

inline destroy() {
#ifdef LOCKS_REVERSED
  ACQUIRE(depot_lock);
  ACQUIRE(registry_lock);
#else
  ACQUIRE(registry_lock);
  ACQUIRE(depot_lock);
#endif
  forget_all();
  RELEASE(depot_lock);
  listed = false;
  RELEASE(registry_lock);
  drop_contents()
}

/* Builds a pool, may destroy it when no thread is in the middle of an operation and build another
 * with the same slot; at the end counts the blocks. */
active proctype owner() {
  byte each;
  run thread(0);
  run thread(1);
  construct();
  may_use = true;
  if
  :: atomic { users == 0 -> may_use = false };
    destroy();
    construct();
    may_use = true
  :: true
  fi;
  exited == THREADS;
  assert(depot_blocks + uncut + out == BLOCKS);
  assert(registry_lock == 0 && depot_lock == 0)
}
