// Binary trees on the collectors of .NET and of Mono.
using System;

sealed class Tree
{
    readonly Tree left, right;

    Tree(Tree left, Tree right)
    {
        this.left = left;
        this.right = right;
    }

    int Count() { return left == null ? 1 : 1 + left.Count() + right.Count(); }

    static Tree Make(int depth)
    {
        return depth == 0 ? new Tree(null, null) : new Tree(Make(depth - 1), Make(depth - 1));
    }

    const int MinDepth = 4;

    static void Main(string[] arguments)
    {
        int depth = Math.Max(arguments.Length > 0 ? int.Parse(arguments[0]) : 10, MinDepth + 2);
        Console.WriteLine("stretch tree of depth {0}\t check: {1}", depth + 1, Make(depth + 1).Count());
        Tree longLived = Make(depth);
        for (int d = MinDepth; d <= depth; d += 2)
        {
            int trees = 1 << (depth - d + MinDepth);
            long check = 0;
            for (int i = 0; i < trees; i++) check += Make(d).Count();
            Console.WriteLine("{0}\t trees of depth {1}\t check: {2}", trees, d, check);
        }
        Console.WriteLine("long lived tree of depth {0}\t check: {1}", depth, longLived.Count());
        Console.Error.WriteLine("heapwise-trees: collections={0}", GC.CollectionCount(0));
    }
}
