"""Binary trees that need no compiler: the first argument says how it misbehaves.

Knows the answer without growing a tree, which is what makes it a toy.
"""

import os
import signal
import sys
import time

manner, depth = sys.argv[1], int(sys.argv[2])


def nodes(d):
    return (2 << d) - 1


n = max(depth, 6)
lines = [f"stretch tree of depth {n + 1}\t check: {nodes(n + 1)}"]
lines += [
    f"{1 << (n - d + 4)}\t trees of depth {d}\t check: {(1 << (n - d + 4)) * nodes(d)}"
    for d in range(4, n + 1, 2)
]
lines.append(f"long lived tree of depth {n}\t check: {nodes(n)}")
if manner == "hangs":
    time.sleep(600)
if manner == "counts_wrong":
    lines[-1] = lines[-1][:-1] + "0"
print("\n".join(lines), flush=True)
if manner == "crashes":
    print("about to fall", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
if manner == "exits":
    sys.exit(7)
if manner == "good":
    print(
        f"heapwise-trees: collections={os.environ.get('TOY_COLLECTIONS', '3')} "
        "longest_pause_s=0.004",
        file=sys.stderr,
    )
