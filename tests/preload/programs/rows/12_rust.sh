# what:  rustc: a program with threads, compiled and run
# needs: rustc
# tier:  long
# get:   apt install rustc
# proof: rustc t
# limit: 180

cat >t.rs <<'END'
use std::collections::{BTreeMap, HashMap};
fn main() {
    let all: Vec<_> = (0..6u64).map(|n| std::thread::spawn(move || {
        let (mut tree, mut table) = (BTreeMap::new(), HashMap::new());
        for i in 0..100_000u64 {
            let k = i.wrapping_mul(7919 + n) % 30_011;
            tree.entry(k).or_insert_with(String::new).push_str("xy");
            table.insert(k, vec![i; (i % 20) as usize]);
            if i % 3 == 0 { tree.remove(&(k / 2)); }
        }
        (tree.len(), tree.values().map(String::len).sum::<usize>(), table.values().map(Vec::len).sum::<usize>())
    })).collect();
    for each in all { println!("{:?}", each.join().unwrap()); }
}
END
rustc -O -o t t.rs
./t
