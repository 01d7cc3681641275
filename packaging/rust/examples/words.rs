//! Counts words, with all memory from the heap.

#[global_allocator]
static A: heapwise_malloc::Heapwise = heapwise_malloc::Heapwise;

fn main() {
    let words: Vec<String> = (0..100_000).map(|i| i.to_string()).collect();
    println!("{}", words.len());
}
