//! With mimalloc as the allocator of the program.
#[path = "../work.rs"]
mod work;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    work::run();
}
