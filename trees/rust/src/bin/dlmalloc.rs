//! Doug Lea's malloc, as the crate `dlmalloc` has it in Rust, without a lock.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;

use dlmalloc::Dlmalloc;

struct Unlocked(UnsafeCell<Dlmalloc>);

// This program has one thread.
unsafe impl Sync for Unlocked {}

unsafe impl GlobalAlloc for Unlocked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        (*self.0.get()).malloc(layout.size(), layout.align())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        (*self.0.get()).free(block, layout.size(), layout.align());
    }
}

#[global_allocator]
static ALLOCATOR: Unlocked = Unlocked(UnsafeCell::new(Dlmalloc::new()));

fn main() {
    heapwise_trees::binary_trees();
}
