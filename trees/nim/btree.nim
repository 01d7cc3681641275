# Binary trees on whichever memory management the compiler was asked for.
import std/[os, strutils]

const
  minDepth = 4
  defaultDepth = 10

type
  Tree = ref Node
  # Trees have no cycles. The compiler is not told: programs seldom can.
  Node = object
    left, right: Tree

proc make(depth: int): Tree =
  if depth == 0: Tree() else: Tree(left: make(depth - 1), right: make(depth - 1))

proc count(tree: Tree): int =
  if tree.left == nil: 1 else: 1 + count(tree.left) + count(tree.right)

proc treesOfDepth(depth, trees: int) =
  var check = 0
  for i in 1 .. trees:
    check += count(make(depth))
  echo trees, "\t trees of depth ", depth, "\t check: ", check

proc main() =
  let asked = if paramCount() > 0: parseInt(paramStr(1)) else: defaultDepth
  let depth = max(asked, minDepth + 2)
  echo "stretch tree of depth ", depth + 1, "\t check: ", count(make(depth + 1))
  let longLived = make(depth)
  for d in countup(minDepth, depth, 2):
    treesOfDepth(d, 1 shl (depth - d + minDepth))
  echo "long lived tree of depth ", depth, "\t check: ", count(longLived)

main()

when defined(boehmgc):
  when defined(linux):
    proc collections(): csize_t {.importc: "GC_get_gc_no", dynlib: "libgc.so.1".}
    stderr.writeLine "heapwise-trees: collections=", collections()
