//! Doug Lea's malloc, as the crate `dlmalloc` has it in Rust, with one lock around it.

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() {
    heapwise_trees::binary_trees();
}
