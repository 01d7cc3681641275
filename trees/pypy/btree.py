"""Binary trees on the collector of PyPy."""

import gc
import sys

MIN_DEPTH = 4


class Tree:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right

    def count(self):
        return 1 if self.left is None else 1 + self.left.count() + self.right.count()


def make(depth):
    return Tree(None, None) if depth == 0 else Tree(make(depth - 1), make(depth - 1))


def main(depth):
    print(f"stretch tree of depth {depth + 1}\t check: {make(depth + 1).count()}")
    long_lived = make(depth)
    for d in range(MIN_DEPTH, depth + 1, 2):
        trees = 1 << (depth - d + MIN_DEPTH)
        check = 0
        for _ in range(trees):
            check += make(d).count()
        print(f"{trees}\t trees of depth {d}\t check: {check}")
    print(f"long lived tree of depth {depth}\t check: {long_lived.count()}")


class Pauses:
    """What PyPy calls at the end of each minor collection and of each step of a major one."""

    def __init__(self):
        self.minor = self.steps = 0
        self.seconds = self.longest = 0.0

    def on_gc_minor(self, stats):
        self.minor += 1
        self._take(stats.duration)

    def on_gc_collect_step(self, stats):
        self.steps += 1
        self._take(stats.duration)

    def on_gc_collect(self, stats):
        pass

    def _take(self, duration):
        self.seconds += duration
        self.longest = max(self.longest, duration)


if __name__ == "__main__":
    pauses = Pauses()
    if hasattr(gc, "hooks"):
        gc.hooks.set(pauses)
    main(max(int(sys.argv[1]) if len(sys.argv) > 1 else 10, MIN_DEPTH + 2))
    if hasattr(gc, "hooks"):
        print(
            f"heapwise-trees: collections={pauses.minor + pauses.steps}"
            f" longest_pause_s={pauses.longest:.6f} total_pause_s={pauses.seconds:.6f}",
            file=sys.stderr,
        )
