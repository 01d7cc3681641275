//! With jemalloc as the allocator of the program.
#[path = "../work.rs"]
mod work;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    work::run();
}
