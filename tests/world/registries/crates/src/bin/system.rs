//! With system as the allocator of the program.
#[path = "../work.rs"]
mod work;

fn main() {
    work::run();
}
