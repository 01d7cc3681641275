//! Compiles the heap from the same lists of sources as the C++ project. Needs a compiler for C++20.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    // A package contains the sources in `cxx`; in a checkout of Heapwise they are two folders up.
    let packed = here.join("cxx");
    let root = if packed.is_dir() { packed } else { here.join("../..") };
    println!("cargo:rerun-if-changed={}", root.join("src").display());
    println!("cargo:rerun-if-changed={}", root.join("include").display());

    if env::var("CARGO_CFG_TARGET_OS").unwrap() != "linux"
        || env::var("CARGO_CFG_TARGET_ENV").unwrap() != "gnu"
    {
        panic!("heapwise-malloc needs Linux with glibc: the heap uses initial-exec thread-local \
                storage and functions of glibc's loader");
    }

    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let profile = if has("HARDENED") {
        "hardened"
    } else if has("GUARDED") {
        "guarded"
    } else if has("FAST") {
        "fast"
    } else {
        "default"
    };
    let checked = matches!(profile, "guarded" | "hardened");

    let lists = fs::read_to_string(root.join("src/CMakeLists.txt")).expect("src/CMakeLists.txt");
    let mut sources = words(&lists, "heap_sources\n");
    if checked {
        sources.extend(words(&lists, "checking_sources\n"));
    }
    let names = words(&lists, "name\n  IN\n  ITEMS").into_iter();
    let mut system: Vec<String> = names.map(|name| format!("os/{name}.cpp")).collect();
    system.extend(words(&lists, "heapwise_os_heap\n  default\n"));
    let mut with_frames = with_frames(&lists);
    system.retain(|source| !with_frames.contains(source));
    with_frames.extend(words(&lists, "set(framed_sources"));

    // Few translation units: most of the time to compile a source is that of its headers.
    let system = compiler(&root, profile, false)
        .file(unit("system", &system))
        .compile_intermediates();
    let frames = compiler(&root, profile, true)
        .file(unit("frames", &with_frames))
        .compile_intermediates();
    compiler(&root, profile, checked)
        .file(unit("heap", &sources))
        .objects(system)
        .objects(frames)
        .compile("heapwise_heap");
}

/// A file that includes all of these.
fn unit(name: &str, sources: &[String]) -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let path = out.join(format!("heapwise_{name}.cpp"));
    let text: String = sources.iter().map(|at| format!("#include \"{at}\"\n")).collect();
    if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
        fs::write(&path, text).expect("OUT_DIR can be written");
    }
    path
}

/// The options of cmake/heap.cmake.
fn compiler(root: &Path, profile: &str, frames: bool) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .cpp_link_stdlib(None) // the heap needs only the C library
        .std("c++20")
        .opt_level(2)
        .debug(false)
        .pic(true)
        .warnings(false)
        .include(root.join("src"))
        .include(root.join("include"))
        .define("_GNU_SOURCE", None)
        .define("HEAPWISE_IN_LIBRARY", None)
        .define("HEAPWISE_PROFILE", format!("{profile}_profile").as_str())
        .define("HEAPWISE_HEAP_CHECKS", "0")
        .define("NDEBUG", None);
    for flag in [
        "-fvisibility=hidden",
        "-fvisibility-inlines-hidden",
        "-fno-builtin-malloc",
        "-fno-builtin-calloc",
        "-fno-builtin-realloc",
        "-fno-builtin-free",
        "-fno-rtti",
        "-fno-threadsafe-statics",
        "-ftls-model=initial-exec",
        "-fno-exceptions",
        "-fno-plt",
    ] {
        build.flag(flag);
    }
    build.force_frame_pointer(frames);
    build
}

/// The words of a list of CMake that follow `start`, up to the parenthesis that ends it.
fn words(text: &str, start: &str) -> Vec<String> {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no list after {start:?}"));
    let (list, _) = rest.split_once(')').expect("a list that ends");
    list.split_whitespace().map(String::from).collect()
}

/// The sources that follow the frames of the program, so that they keep their own.
fn with_frames(text: &str) -> Vec<String> {
    let calls = text.split("set_source_files_properties(").skip(1);
    let calls = calls.filter_map(|call| call.split_once(')')).map(|(words, _)| words);
    let calls = calls.filter(|words| words.contains("-fno-omit-frame-pointer"));
    let sources = calls.flat_map(str::split_whitespace).filter(|word| word.ends_with(".cpp"));
    sources.map(String::from).collect()
}
