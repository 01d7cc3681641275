//! All memory of this test comes from the heap.

use std::alloc::{GlobalAlloc, Layout};
use std::collections::HashMap;

use heapwise_malloc::Heapwise;

#[global_allocator]
static A: Heapwise = Heapwise;

fn statistics() -> String {
    let mut text = vec![0; 1 << 20];
    let bytes = A.statistics_json(&mut text);
    text.truncate(bytes);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_statistics_name_the_profile_of_the_feature() {
    let profile = if cfg!(feature = "hardened") {
        "hardened"
    } else if cfg!(feature = "guarded") {
        "guarded"
    } else if cfg!(feature = "fast") {
        "fast"
    } else {
        "default"
    };
    let said = statistics();
    assert!(said.contains(&format!("\"{profile}\"")), "{said}");
}

#[test]
fn a_vector_is_a_block_of_the_heap() {
    let block = Vec::<u8>::with_capacity(1000);
    let usable = unsafe { A.usable_size(block.as_ptr()) };
    assert!((1000..2000).contains(&usable), "{usable}");
}

#[test]
fn contents_stay_while_blocks_grow_and_shrink() {
    let mut numbers = Vec::new();
    for i in 0..1_000_000u64 {
        numbers.push(i);
    }
    numbers.truncate(10);
    numbers.shrink_to_fit();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
}

#[test]
fn each_alignment_is_obeyed_and_kept() {
    for shift in 0..17 {
        for size in [1, 17, 4096, 100_000] {
            let layout = Layout::from_size_align(size, 1 << shift).unwrap();
            let larger = Layout::from_size_align(3 * size, 1 << shift).unwrap();
            unsafe {
                let block = A.alloc_zeroed(layout);
                assert_eq!(block as usize % layout.align(), 0);
                assert!((0..size).all(|i| *block.add(i) == 0));
                block.write_bytes(7, size);
                let moved = A.realloc(block, layout, larger.size());
                assert_eq!(moved as usize % layout.align(), 0);
                assert!((0..size).all(|i| *moved.add(i) == 7));
                A.dealloc(moved, larger);
            }
        }
    }
}

#[test]
fn blocks_are_freed_by_other_threads() {
    let (sender, receiver) = std::sync::mpsc::channel::<HashMap<String, Vec<u8>>>();
    let producers: Vec<_> = (0..4)
        .map(|thread| {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for round in 0..100 {
                    let map = (0..100).map(|i| (format!("{thread} {i}"), vec![round; i])).collect();
                    sender.send(map).unwrap();
                }
                A.thread_idle();
            })
        })
        .collect();
    drop(sender);
    assert_eq!(receiver.iter().map(|map| map.len()).sum::<usize>(), 40_000);
    for producer in producers {
        producer.join().unwrap();
    }
    A.purge();
}
