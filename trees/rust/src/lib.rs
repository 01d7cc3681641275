//! Binary trees with `Box`, on the global allocator of the program that calls `binary_trees`.

const MIN_DEPTH: u32 = 4;
const DEFAULT_DEPTH: u32 = 10;

struct Node {
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

fn make(depth: u32) -> Box<Node> {
    if depth == 0 {
        return Box::new(Node {
            left: None,
            right: None,
        });
    }
    Box::new(Node {
        left: Some(make(depth - 1)),
        right: Some(make(depth - 1)),
    })
}

fn count(node: &Node) -> u64 {
    match (&node.left, &node.right) {
        (Some(left), Some(right)) => 1 + count(left) + count(right),
        _ => 1,
    }
}

fn trees_of_depth(depth: u32, trees: u64) {
    let check: u64 = (0..trees).map(|_| count(&make(depth))).sum();
    println!("{trees}\t trees of depth {depth}\t check: {check}");
}

pub fn binary_trees() {
    let asked = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let depth = asked.unwrap_or(DEFAULT_DEPTH).max(MIN_DEPTH + 2);

    println!(
        "stretch tree of depth {}\t check: {}",
        depth + 1,
        count(&make(depth + 1))
    );
    let long_lived = make(depth);
    for d in (MIN_DEPTH..=depth).step_by(2) {
        trees_of_depth(d, 1 << (depth - d + MIN_DEPTH));
    }
    println!(
        "long lived tree of depth {depth}\t check: {}",
        count(&long_lived)
    );
}
