//! The work of all programs here: threads, tasks, text, a database in C, a compressor in C.
use rayon::prelude::*;

pub fn run() {
    let lines: Vec<String> = (0..20_000u64).into_par_iter().map(|i| format!("line {}", i * 7919 % 10_007)).collect();
    let words = regex::Regex::new(r"line (\d)(\d+)").unwrap();
    let found: usize = lines.par_iter().filter(|line| words.is_match(line)).count();
    println!("matched {found}");
    let text = serde_json::to_string(&lines).unwrap();
    let back: Vec<String> = serde_json::from_str(&text).unwrap();
    println!("json {} {}", text.len(), back.len());
    let packed = zstd::encode_all(text.as_bytes(), 9).unwrap();
    println!("zstd {}", zstd::decode_all(&packed[..]).unwrap().len());
    let database = rusqlite::Connection::open_in_memory().unwrap();
    database.execute_batch("create table t(line text)").unwrap();
    for line in &lines[..3000] {
        database.execute("insert into t values (?1)", [line]).unwrap();
    }
    let most: String = database.query_row("select max(line) from t", [], |row| row.get(0)).unwrap();
    println!("sqlite {most}");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let sum: usize = runtime.block_on(async {
        let tasks: Vec<_> = (0..500).map(|i| tokio::spawn(async move { vec![1u8; i * 10].len() })).collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    println!("tasks {sum}");
}
