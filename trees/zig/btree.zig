//! Binary trees in Zig, on the allocator that the build chooses.
const std = @import("std");
const choice = @import("choice");

const Tree = struct {
    left: ?*Tree,
    right: ?*Tree,

    fn make(allocator: std.mem.Allocator, depth: u32) !*Tree {
        const tree = try allocator.create(Tree);
        tree.* = if (depth == 0)
            .{ .left = null, .right = null }
        else
            .{ .left = try make(allocator, depth - 1), .right = try make(allocator, depth - 1) };
        return tree;
    }

    fn count(tree: *const Tree) u64 {
        const left = tree.left orelse return 1;
        return 1 + left.count() + tree.right.?.count();
    }

    fn drop(tree: *Tree, allocator: std.mem.Allocator) void {
        if (tree.left) |left| {
            left.drop(allocator);
            tree.right.?.drop(allocator);
        }
        allocator.destroy(tree);
    }
};

/// The trees of one arena are freed together, and its memory is used again.
const Trees = struct {
    arena: std.heap.ArenaAllocator,
    base: std.mem.Allocator,

    fn counted(trees: *Trees, depth: u32) !u64 {
        if (choice.arena) {
            defer _ = trees.arena.reset(.retain_capacity);
            return (try Tree.make(trees.arena.allocator(), depth)).count();
        }
        const tree = try Tree.make(trees.base, depth);
        defer tree.drop(trees.base);
        return tree.count();
    }
};

const min_depth = 4;

pub fn main() !void {
    const base = if (choice.libc) std.heap.c_allocator else std.heap.smp_allocator;
    var arguments = std.process.args();
    _ = arguments.skip();
    const asked = try std.fmt.parseInt(u32, arguments.next() orelse "10", 10);
    const depth = @max(asked, min_depth + 2);
    const out = std.io.getStdOut().writer();

    var trees = Trees{ .arena = std.heap.ArenaAllocator.init(base), .base = base };
    try out.print("stretch tree of depth {d}\t check: {d}\n", .{ depth + 1, try trees.counted(depth + 1) });
    var lasting = std.heap.ArenaAllocator.init(base);
    const long_lived = try Tree.make(if (choice.arena) lasting.allocator() else base, depth);
    var d: u32 = min_depth;
    while (d <= depth) : (d += 2) {
        const number = @as(u64, 1) << @intCast(depth - d + min_depth);
        var check: u64 = 0;
        for (0..number) |_| check += try trees.counted(d);
        try out.print("{d}\t trees of depth {d}\t check: {d}\n", .{ number, d, check });
    }
    try out.print("long lived tree of depth {d}\t check: {d}\n", .{ depth, long_lived.count() });
    if (choice.arena) lasting.deinit() else long_lived.drop(base);
    trees.arena.deinit();
}
