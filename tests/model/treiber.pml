/* One shard of the lock-free pool: a stack of block indices whose head is one word, the index of the
 * top block and a count of changes (include/heapwise/thread/lock_free.hpp).
 *
 * Checked, for all interleavings of the atomic steps of THREADS threads that each take and free
 * blocks ROUNDS times:
 *   - a block that is popped was free, so no block has two owners;
 *   - when all threads are done, the list holds every block exactly once;
 *   - a pop that finds the list empty found it so at one moment (the head's word says so).
 *
 * The link of a block is read without protection: its new owner may be writing to it. The model lets
 * each owner write garbage into its block, which a late reader then sees.
 *
 * Planted bugs, which the checker must find:
 *   -DNO_TAG          the count is left out of the head
 *   -DLINK_LATE       the link is written after the block was published
 *   -DTAG_ON_POP_ONLY the count moves when blocks are taken only: not a bug, must pass
 *   -DNO_CAS          the head is stored instead of compared and swapped
 */
#ifndef BLOCKS
#define BLOCKS 3
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define NONE 0       /* index + 1, so that 0 is "no block" */
#define GARBAGE 255  /* what an owner writes over the link */

typedef head_word {
  byte top;
  byte count
};

head_word head;
byte link[BLOCKS + 1];
bool owned[BLOCKS + 1];
byte done;

#ifdef NO_TAG
#define COUNT_POP(n) 0
#define COUNT_PUSH(n) 0
#else
#define COUNT_POP(n) (n + 1)
#ifdef TAG_ON_POP_ONLY
#define COUNT_PUSH(n) n
#else
#define COUNT_PUSH(n) (n + 1)
#endif
#endif

#ifdef NO_CAS
#define UNCHANGED(seen_top, seen_count) true
#else
#define UNCHANGED(seen_top, seen_count) (head.top == seen_top && head.count == seen_count)
#endif

/* Sets `block` to a block that nobody owns, or NONE. */
inline pop(block) {
  atomic { seen_top = head.top; seen_count = head.count }
  do
  :: seen_top == NONE -> block = NONE; break
  :: else ->
    next = link[seen_top];  /* racy: may be GARBAGE, or of another life of the block */
    atomic {
      if
      :: UNCHANGED(seen_top, seen_count) ->
        assert(next != GARBAGE);
        head.top = next;
        head.count = COUNT_POP(seen_count);
        block = seen_top;
        assert(!owned[block]);
        owned[block] = true;
        break
      :: else -> seen_top = head.top; seen_count = head.count
      fi
    }
  od;
  next = 0; seen_top = 0; seen_count = 0
}

inline push(block) {
  atomic { seen_top = head.top; seen_count = head.count }
  do
  ::
#ifndef LINK_LATE
    link[block] = seen_top;
#endif
    atomic {
      if
      :: UNCHANGED(seen_top, seen_count) ->
        owned[block] = false;
        head.top = block;
        head.count = COUNT_PUSH(seen_count);
        break
      :: else -> seen_top = head.top; seen_count = head.count
      fi
    }
  od;
#ifdef LINK_LATE
  link[block] = seen_top;
#endif
  seen_top = 0; seen_count = 0
}

proctype thread() {
  byte seen_top, seen_count, next, one, two, round;
  do
  :: round < ROUNDS ->
    pop(one);
    pop(two);
    if
    :: one != NONE -> link[one] = GARBAGE  /* the owner uses its block */
    :: else
    fi;
    /* Freed in either order: the pattern of ABA needs the first one back on top. */
    if
    :: one != NONE -> push(one); if :: two != NONE -> push(two) :: else fi
    :: two != NONE -> push(two); if :: one != NONE -> push(one) :: else fi
    :: one == NONE && two == NONE
    fi;
    one = 0; two = 0;
    round++
  :: else -> break
  od;
  done++
}

/* Every block is in the list once: each step goes to a block that was not met yet. */
inline check_list() {
  d_step {
    walk = head.top;
    met = 0;
    do
    :: walk != NONE ->
      assert(walk <= BLOCKS);
      assert(!owned[walk]);
      owned[walk] = true;  /* from here on: met */
      met++;
      walk = link[walk]
    :: else -> break
    od;
    assert(met == BLOCKS)
  }
}

init {
  byte walk, met;
  atomic {
    walk = 1;
    do
    :: walk <= BLOCKS -> link[walk] = walk - 1; walk++
    :: else -> break
    od;
    head.top = BLOCKS;
    walk = 0;
    do
    :: walk < THREADS -> run thread(); walk++
    :: else -> break
    od
  }
  done == THREADS;
  check_list()
}
