#include "probe/next_operator.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "probe/loaded_objects.hpp"

namespace heapwise::bench {

namespace {

constexpr std::size_t most_plugins = 4;
constinit plugin plugins[most_plugins];
constinit std::atomic<bool> has_plugins{false};

/// What the global scope has. others: operators whose blocks malloc does not know.
enum class scope : std::uint8_t { unknown, operators, others, none };
constinit std::atomic<scope> global_scope{scope::unknown};

/// Whether all operators of the global scope were looked up, and all of a C++ runtime.
constinit std::atomic<bool> are_found{false};
constinit std::atomic<bool> are_found_in_runtime{false};

bool is_loaded(std::uintptr_t base) noexcept {
  return definition_at(base, "_Znwm") || definition_at(base, "_Znam");
}

/// The entry of the object that is loaded there. Null if all are taken.
plugin* entry_of(std::uintptr_t base) noexcept {
  for (plugin& each : plugins) {
    if (each.base.load(std::memory_order_acquire) == base) return &each;
  }
  for (plugin& each : plugins) {
    std::uintptr_t before = each.base.load(std::memory_order_acquire);
    if (before != 0 && is_loaded(before)) continue;
    // Its blocks went with the object that was unloaded.
    if (before != 0) each.blocks.clear();
    if (each.base.compare_exchange_strong(before, base, std::memory_order_acq_rel) ||
        before == base) {
      has_plugins.store(true, std::memory_order_release);
      return &each;
    }
  }
  return nullptr;
}

/// Call sites that were looked at: their addresses, and in the highest bits which plug-in it is,
/// counted from 1. An old entry does no harm: where a block came from is not decided here.
constexpr std::size_t known_sites = 1024;
constexpr unsigned site_bits = 56;
constinit std::atomic<std::uint64_t> sites[known_sites];

/// The plug-in whose function `site` returns to, if it defines the operator of this name.
plugin* plugin_of(const void* site, const char* name) noexcept {
  constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
  const auto address = reinterpret_cast<std::uintptr_t>(site);
  std::atomic<std::uint64_t>& entry = sites[address * golden >> 54];
  static_assert(known_sites == std::size_t{1} << (64 - 54));
  const std::uint64_t known = entry.load(std::memory_order_relaxed);
  if ((known & ((std::uint64_t{1} << site_bits) - 1)) == address) {
    const std::uint64_t number = known >> site_bits;
    return number != 0 ? &plugins[number - 1] : nullptr;
  }
  const std::uintptr_t base = plugin_for(address - 1, name);
  plugin* const owner = base != 0 ? entry_of(base) : nullptr;
  const auto number = owner != nullptr ? static_cast<std::uint64_t>(owner - plugins) + 1 : 0;
  entry.store(address | number << site_bits, std::memory_order_relaxed);
  return owner;
}

/// The operators that a plug-in may have instead of one that it lacks. A function may be called
/// with more arguments than it takes.
struct substitute {
  std::string_view name;
  const char* other;
  operator_arguments takes;
};
constexpr substitute substitutes[] = {
    {"_ZdaPv", "_ZdlPv", operator_arguments::block},
    {"_ZdlPvm", "_ZdlPv", operator_arguments::block},
    {"_ZdaPvm", "_ZdaPv", operator_arguments::block},
    {"_ZdaPvm", "_ZdlPv", operator_arguments::block},
    {"_ZdlPvRKSt9nothrow_t", "_ZdlPv", operator_arguments::block},
    {"_ZdaPvRKSt9nothrow_t", "_ZdaPv", operator_arguments::block},
    {"_ZdaPvRKSt9nothrow_t", "_ZdlPv", operator_arguments::block},
    {"_ZdaPvSt11align_val_t", "_ZdlPvSt11align_val_t", operator_arguments::all},
    {"_ZdlPvSt11align_val_tRKSt9nothrow_t", "_ZdlPvSt11align_val_t", operator_arguments::all},
    {"_ZdaPvSt11align_val_tRKSt9nothrow_t", "_ZdaPvSt11align_val_t", operator_arguments::all},
    {"_ZdaPvSt11align_val_tRKSt9nothrow_t", "_ZdlPvSt11align_val_t", operator_arguments::all},
    {"_ZdlPvmSt11align_val_t", "_ZdlPvSt11align_val_t", operator_arguments::block_and_last},
    {"_ZdaPvmSt11align_val_t", "_ZdaPvSt11align_val_t", operator_arguments::block_and_last},
    {"_ZdaPvmSt11align_val_t", "_ZdlPvSt11align_val_t", operator_arguments::block_and_last},
};

/// The operator delete of a plug-in for a block of its own.
operator_source delete_of(plugin& owner, const char* name) noexcept {
  const std::uintptr_t base = owner.base.load(std::memory_order_acquire);
  if (const definition own = definition_at(base, name); own) {
    return {own.function, &owner, operator_arguments::all, false};
  }
  for (const substitute& each : substitutes) {
    if (each.name != name) continue;
    if (const definition own = definition_at(base, each.other); own) {
      return {own.function, &owner, each.takes, false};
    }
  }
  return {};
}

[[noreturn]] void end_without_memory() noexcept {
  constexpr std::string_view text =
      "heapwise: operator new found no memory, and no C++ runtime that can throw "
      "std::bad_alloc is loaded. The process ends.\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

/// A function of a C++ runtime, wherever it is.
template <class Function>
Function* of_any_object(const char* name) noexcept {
  return std::bit_cast<Function*>(definition_anywhere(name).function);
}

/// Returns false if it is not loaded any more.
bool keep_loaded(const char* path) noexcept {
  const bool before = resolving;
  resolving = true;
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  resolving = before;
  return handle != nullptr;
}

/// Keeps libraries loaded, each once if its functions are named one after the other.
class library_keeper {
 public:
  /// Returns false if it is not loaded any more.
  bool keep(const char* path) noexcept {
    if (path == last_) return is_kept_;
    last_ = path;
    return is_kept_ = keep_loaded(path);
  }

 private:
  const char* last_ = nullptr;
  bool is_kept_ = false;
};

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (size == 0) size = 1;
  if (alignment <= default_alignment) {
    auto* const next = next_malloc.get();
    return next != nullptr ? next(size) : early.allocate(size, default_alignment);
  }
  // memalign and not aligned_alloc: C's wants a size that is a multiple of the alignment.
  auto* const next = next_memalign.get();
  return next != nullptr ? next(alignment, size) : early.allocate(size, alignment);
}

scope scope_of(const void* operator_new) noexcept {
  if (operator_new == nullptr) return scope::none;
  const auto* const of_malloc = reinterpret_cast<const void*>(next_free.get());
  return takes_from_malloc(operator_new, of_malloc) ? scope::operators : scope::others;
}

} // namespace

void next_operator::find_at_start() noexcept {
  if (are_found.load(std::memory_order_acquire)) return;
  const definition own = definition_at_start("_Znwm");
  if (!own) return; // the program may still open one for all
  global_scope.store(scope_of(own.function), std::memory_order_relaxed);
  for (next_operator& each : next_operators) {
    each.found_.store(definition_at_start(each.name_).function, std::memory_order_relaxed);
  }
  are_found.store(true, std::memory_order_release);
}

/// Decided once for all operators: what made a block and what ends it have to fit.
void next_operator::find_all() noexcept {
  static_cast<void>(next_free.get()); // not found while this thread resolves
  resolving = true;
  const scope scope_of_new = scope_of(dlsym(RTLD_NEXT, "_Znwm"));
  global_scope.store(scope_of_new, std::memory_order_relaxed);
  bool has_failed = scope_of_new == scope::none;
  library_keeper libraries;
  for (next_operator& each : next_operators) {
    if (scope_of_new == scope::none) break;
    void* const function = dlsym(RTLD_NEXT, each.name_);
    has_failed = has_failed || function == nullptr;
    if (const char* const path = function != nullptr ? path_if_opened(function) : nullptr;
        path != nullptr) {
      libraries.keep(path);
    }
    each.found_.store(function, std::memory_order_relaxed);
  }
  if (has_failed) dlerror(); // else the program would find our error
  resolving = false;
  are_found.store(true, std::memory_order_release);
}

void* next_operator::global(bool hides) noexcept {
  // acquire: with the release above, so that the scope is known, too.
  if (!are_found.load(std::memory_order_acquire)) {
    if (resolving) return nullptr;
    find_all();
  }
  void* const function = found_.load(std::memory_order_relaxed);
  if (function != nullptr && !hides) global_.store(function, std::memory_order_release);
  return function;
}

/// Of a C++ runtime that some plug-in has brought. From then on it stays loaded.
void next_operator::find_all_of_runtime() noexcept {
  library_keeper libraries;
  bool are_there = false;
  for (next_operator& each : next_operators) {
    const definition own = definition_in_runtime(each.name_);
    if (!own || !libraries.keep(own.path)) continue;
    each.of_runtime_.store(own.function, std::memory_order_relaxed);
    are_there = true;
  }
  if (are_there) are_found_in_runtime.store(true, std::memory_order_release);
}

void* next_operator::of_runtime() noexcept {
  if (!are_found_in_runtime.load(std::memory_order_acquire)) {
    if (resolving) return nullptr;
    find_all_of_runtime();
  }
  return of_runtime_.load(std::memory_order_relaxed);
}

bool next_operator::known_are_of_malloc() noexcept {
  return global_scope.load(std::memory_order_relaxed) != scope::others;
}

operator_source next_operator::source_for(const void* site, bool hides) noexcept {
  if (void* function = global(hides); function != nullptr) {
    return {function, nullptr, operator_arguments::all, known_are_of_malloc()};
  }
  if (plugin* const owner = plugin_of(site, name_); owner != nullptr) {
    const std::uintptr_t base = owner->base.load(std::memory_order_acquire);
    if (const definition own = definition_at(base, name_); own) {
      return {own.function, owner, operator_arguments::all, false};
    }
  }
  return {of_runtime()};
}

operator_source next_operator::source_of(const void* block, bool hides) noexcept {
  if (has_plugins.load(std::memory_order_acquire)) {
    for (plugin& each : plugins) {
      if (each.blocks.erase(block)) return delete_of(each, name_);
    }
  }
  if (void* function = global(hides); function != nullptr) {
    return {function, nullptr, operator_arguments::all, known_are_of_malloc()};
  }
  return {of_runtime()};
}

void* new_by_malloc(std::size_t size, std::size_t alignment, bool throws) {
  for (;;) {
    void* const block = allocate(size, alignment);
    if (block != nullptr || !throws) return block;
    using new_handler = void (*)();
    auto* const get_handler = of_any_object<new_handler()>("_ZSt15get_new_handlerv");
    const new_handler handler = get_handler != nullptr ? get_handler() : nullptr;
    if (handler != nullptr) {
      handler();
      continue;
    }
    auto* const refuse = of_any_object<void()>("_ZSt17__throw_bad_allocv");
    if (refuse == nullptr) end_without_memory();
    refuse();
  }
}

namespace {

__attribute__((constructor)) void find_operators() noexcept { next_operator::find_at_start(); }

} // namespace

void take_back(plugin& owner, void* block, std::size_t alignment) noexcept {
  const bool is_aligned = alignment > default_alignment;
  const operator_source source = delete_of(owner, is_aligned ? "_ZdlPvSt11align_val_t" : "_ZdlPv");
  if (source.function == nullptr) return;
  std::bit_cast<void (*)(void*, std::size_t)>(source.function)(block, alignment);
}

} // namespace heapwise::bench
