//! What a build of btree.zig allocates with.
pub const libc = true;
pub const arena = false;
