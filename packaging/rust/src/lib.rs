//! The heap of Heapwise as the global allocator of a Rust program.
//!
//! ```
//! #[global_allocator]
//! static A: heapwise_malloc::Heapwise = heapwise_malloc::Heapwise;
//!
//! let words: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
//! assert_eq!(words.len(), 1000);
//! ```
//!
//! The features `fast`, `guarded` and `hardened` choose a profile. C libraries in the same program
//! keep the `malloc` of the C library.

#![no_std]

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

extern "C" {
    fn heapwise_malloc(size: usize) -> *mut u8;
    fn heapwise_calloc(count: usize, size: usize) -> *mut u8;
    fn heapwise_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn heapwise_aligned_alloc(alignment: usize, size: usize) -> *mut u8;
    fn heapwise_free(block: *mut u8);
    fn heapwise_malloc_usable_size(block: *mut u8) -> usize;
    fn heapwise_malloc_purge() -> usize;
    fn heapwise_thread_idle();
    fn heapwise_malloc_statistics_json(text: *mut u8, capacity: usize) -> usize;
}

/// `heapwise_malloc` aligns each block to this many bytes.
const ALIGNMENT: usize = 16;

/// The heap. All values of this type are the same heap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heapwise;

// SAFETY: the heap returns blocks of at least the requested size and alignment, or null. It never
// unwinds. `realloc` keeps the smaller of the two sizes, and leaves the block alone if it fails.
unsafe impl GlobalAlloc for Heapwise {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            heapwise_malloc(layout.size())
        } else {
            heapwise_aligned_alloc(layout.align(), layout.size())
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            return heapwise_calloc(1, layout.size());
        }
        let block = heapwise_aligned_alloc(layout.align(), layout.size());
        if !block.is_null() {
            ptr::write_bytes(block, 0, layout.size());
        }
        block
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.align() <= ALIGNMENT {
            return heapwise_realloc(block, size);
        }
        let moved = heapwise_aligned_alloc(layout.align(), size);
        if !moved.is_null() {
            ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
            heapwise_free(block);
        }
        moved
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        heapwise_free(block)
    }
}

impl Heapwise {
    /// Returns how many bytes of a block may be used.
    ///
    /// # Safety
    /// `block` is null or a live block of this heap.
    pub unsafe fn usable_size(&self, block: *const u8) -> usize {
        heapwise_malloc_usable_size(block as *mut u8)
    }

    /// Gives free memory back to the system, and returns how many bytes that were.
    pub fn purge(&self) -> usize {
        unsafe { heapwise_malloc_purge() }
    }

    /// Gives the free blocks that this thread keeps to all threads. Call it before a long wait.
    pub fn thread_idle(&self) {
        unsafe { heapwise_thread_idle() }
    }

    /// Writes the statistics of the heap as JSON, and returns how many bytes they need. If `text` is
    /// shorter, it contains the beginning.
    pub fn statistics_json(&self, text: &mut [u8]) -> usize {
        unsafe { heapwise_malloc_statistics_json(text.as_mut_ptr(), text.len()) }
    }
}
