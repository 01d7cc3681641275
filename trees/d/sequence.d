/// The sequence of trees, for nodes that are classes and for nodes that are structs.
module sequence;

import core.memory : GC;
import std.algorithm : max;
import std.conv : to;
import std.stdio : stderr, writef, writefln;

private enum minDepth = 4;
private enum defaultDepth = 10;

private Tree make(Tree, alias node)(int depth)
{
    if (depth == 0)
        return node(null, null);
    return node(make!(Tree, node)(depth - 1), make!(Tree, node)(depth - 1));
}

private long count(Tree)(const Tree tree)
{
    return tree.left is null ? 1 : 1 + count(tree.left) + count(tree.right);
}

private void treesOfDepth(Tree, alias node)(int depth, long trees)
{
    long check = 0;
    foreach (_; 0 .. trees)
        check += count(make!(Tree, node)(depth));
    writef("%d\t trees of depth %d\t check: %d\n", trees, depth, check);
}

/// The whole benchmark; `node` makes a Tree of two.
void binaryTrees(Tree, alias node)(string[] arguments)
{
    const asked = arguments.length > 1 ? arguments[1].to!int : defaultDepth;
    const depth = max(asked, minDepth + 2);
    writef("stretch tree of depth %d\t check: %d\n", depth + 1, count(make!(Tree, node)(depth + 1)));
    auto longLived = make!(Tree, node)(depth);
    for (int d = minDepth; d <= depth; d += 2)
        treesOfDepth!(Tree, node)(d, 1L << (depth - d + minDepth));
    writef("long lived tree of depth %d\t check: %d\n", depth, count(longLived));
    tellCollections();
}

private void tellCollections()
{
    const known = GC.profileStats();
    stderr.writefln("heapwise-trees: collections=%d longest_pause_s=%.6f total_pause_s=%.6f",
            known.numCollections, known.maxPauseTime.total!"nsecs" / 1e9,
            known.totalPauseTime.total!"nsecs" / 1e9);
}
