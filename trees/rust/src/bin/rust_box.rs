//! The allocator that Rust has without further words: the system's malloc and free.

fn main() {
    heapwise_trees::binary_trees();
}
