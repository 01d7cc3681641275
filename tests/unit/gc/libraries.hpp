// Libraries that a test loads and unloads while the collector runs.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

#include "surroundings.hpp"

namespace gc_test {

/// A loaded copy of a plugin. The loader takes each copy for a library of its own.
class library {
 public:
  explicit library(const char* plugin) {
    std::string copy = std::filesystem::temp_directory_path() / "heapwise-gc-XXXXXX";
    const int file = ::mkstemp(copy.data());
    std::filesystem::copy_file(plugin, copy, std::filesystem::copy_options::overwrite_existing);
    handle_ = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    ::close(file);
    std::filesystem::remove(copy);
    if (handle_ == nullptr) std::abort();
    keep_in_thread_ = reinterpret_cast<keeper*>(::dlsym(handle_, "plugin_keep_in_thread"));
    kept_in_thread_ = reinterpret_cast<kept*>(::dlsym(handle_, "plugin_kept_in_thread"));
  }
  ~library() { close(); }
  library(library&& other) noexcept
      : handle_{other.handle_},
        keep_in_thread_{other.keep_in_thread_},
        kept_in_thread_{other.kept_in_thread_} {
    other.handle_ = nullptr;
  }
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  /// Effects: the calling thread's variable of this library holds the block.
  void keep_in_thread(void* block) const { keep_in_thread_(block); }
  [[nodiscard]] void* kept_in_thread() const { return kept_in_thread_(); }

  void close() {
    if (handle_ != nullptr) ::dlclose(handle_);
    handle_ = nullptr;
  }

 private:
  using keeper = void(void* block);
  using kept = void*();

  void* handle_ = nullptr;
  keeper* keep_in_thread_ = nullptr;
  kept* kept_in_thread_ = nullptr;
};

/// Returns: a block that only the calling thread's variable of the library holds. The frame of this
/// function, which held it too, is overwritten.
[[gnu::noinline]] inline hidden keep_new_block(const library& in) {
  void* const block = heapwise_gc_malloc(80);
  in.keep_in_thread(block);
  return hidden{block};
}

/// Effects: overwrites what calls have left on the stack, and leaves the window of that kind.
[[gnu::noinline]] inline void overwrite_stack() {
  std::array<std::uintptr_t, 1000> words;
  words.fill(1);
  asm volatile("" : : "r"(words.data()) : "memory"); // they are written, although nobody reads
  for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(80));
}

} // namespace gc_test
