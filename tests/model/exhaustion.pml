/* When does a lock-free pool with several shards say that it is exhausted? A thread looks at one shard
 * after the other, and a block may move meanwhile from one that it has not seen to one that it has
 * (pop_elsewhere and unchanged in include/heapwise/thread/lock_free.hpp).
 *
 * There are two blocks, and the mover holds one at the most, so that one is free at any time.
 * Checked, for all interleavings: the seeker is never told that there is none.
 *
 * Planted bugs, which the checker must find:
 *   -DNO_SECOND_LOOK  one look at each shard is enough
 *   -DNO_COUNT        the second look compares what is on top, not the count of changes
 */
#define SHARDS 3
#define MOVES 4

byte blocks[SHARDS];   /* free blocks of each shard */
byte changes[SHARDS];  /* how often its head changed */

proctype mover() {
  byte from, to, move;
  do
  :: move < MOVES ->
    if
    :: blocks[0] > 0 -> from = 0
    :: blocks[1] > 0 -> from = 1
    :: blocks[2] > 0 -> from = 2
    fi;
    select(to : 0 .. 2);
    atomic {
      if
      :: blocks[from] > 0 -> blocks[from]--; changes[from]++
      :: else -> goto next  /* the seeker was faster */
      fi
    };
    atomic { blocks[to]++; changes[to]++ };
next:
    move++
  :: else -> break
  od
}

proctype seeker() {
  byte i, before_top[SHARDS], before_changes[SHARDS];
  bool all_unchanged;
look:
  i = 0;
  do
  :: i < SHARDS ->
    atomic { if :: blocks[i] > 0 -> blocks[i]--; changes[i]++; goto found :: else fi };
    atomic { before_top[i] = blocks[i]; before_changes[i] = changes[i] };
    i++
  :: else -> break
  od;
  all_unchanged = true;
#ifndef NO_SECOND_LOOK
  i = 0;
  do
  :: i < SHARDS ->
    atomic {
      if
      :: before_top[i] != 0 -> all_unchanged = false
      :: blocks[i] != before_top[i] -> all_unchanged = false
#ifndef NO_COUNT
      :: changes[i] != before_changes[i] -> all_unchanged = false
#endif
      :: else
      fi;
      i++
    }
  :: else -> break
  od;
#endif
  assert(!all_unchanged);  /* refused, though a block was free all the time */
  goto look;
found:
  skip
}

init {
  atomic {
    blocks[1] = 1;
    blocks[2] = 1;
    run mover();
    run seeker()
  }
}
