//! What a build of btree.zig allocates with.
pub const libc = false;
pub const arena = true;
