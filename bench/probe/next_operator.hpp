// The operators new and delete of C++ behind a preloaded library that forwards to them.
//
// If the program, what it was linked with, or another preloaded library has them, RTLD_NEXT finds
// them, and all calls go there. A program in C has none. It may load a plug-in in C++ by dlopen,
// with a C++ runtime in a scope that only the plug-in sees (RTLD_LOCAL, the default). The calls of
// the plug-in reach the preloaded library all the same, because the global scope is searched first.
// They then go where they would go without it: to the operators of the plug-in that calls, if it
// defines some itself, else to those of a C++ runtime that is loaded. If there is neither, they are
// served by malloc, as the standard defines.
//
// All of these but the plug-in's own take their blocks from malloc, so it does not matter which of
// them ends a block. The blocks of a plug-in's own operators are remembered, and go back to it. A
// library that the program was linked with may have operators with a memory of their own, too.
#pragma once

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "probe/next_malloc.hpp"
#include "probe/plugin_blocks.hpp"

namespace heapwise::bench {

/// A loaded object that defines operators for itself.
struct plugin {
  std::atomic<std::uintptr_t> base{0}; ///< where it is loaded; 0: the entry is free
  plugin_blocks blocks;                ///< that its operators new have made and nobody has ended
};

/// Which arguments of the call a function takes.
enum class operator_arguments : std::uint8_t { all, block, block_and_last };

/// What serves a call of an operator. function: null if malloc or free does. owner: null if the
/// function is not of a plug-in. of_malloc: whether malloc may be asked about the blocks.
struct operator_source {
  void* function = nullptr;
  plugin* owner = nullptr;
  operator_arguments takes = operator_arguments::all;
  bool of_malloc = true;
};

class next_operator {
 public:
  /// `name` as the Itanium C++ ABI mangles it.
  constexpr explicit next_operator(const char* name) noexcept : name_{name} {}

  /// That of the global scope. Null before the first call, and if the global scope has none.
  template <class Function>
  [[nodiscard, gnu::always_inline]] Function* known() const noexcept {
    // No order: the pointer is all that is published, and it never changes.
    return std::bit_cast<Function*>(global_.load(std::memory_order_relaxed));
  }

  /// Whether malloc may be asked about the blocks of those that are known().
  [[nodiscard]] static bool known_are_of_malloc() noexcept;

  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  /// For an operator new that is called by the function that `site` returns to. With `hides`, the
  /// one that is found is not known() afterwards.
  [[nodiscard]] operator_source source_for(const void* site, bool hides = false) noexcept;

  /// For an operator delete.
  [[nodiscard]] operator_source source_of(const void* block, bool hides = false) noexcept;

  /// Finds those that the program was started with.
  static void find_at_start() noexcept;

 private:
  static void find_all() noexcept;
  static void find_all_of_runtime() noexcept;
  [[nodiscard]] void* global(bool hides) noexcept;
  [[nodiscard]] void* of_runtime() noexcept;

  const char* name_;
  std::atomic<void*> global_{nullptr};
  std::atomic<void*> found_{nullptr};      ///< that of the global scope, also if it is not known()
  std::atomic<void*> of_runtime_{nullptr}; ///< of a C++ runtime that is loaded, for good
};

inline constexpr const char* operator_names[]{
    "_Znwm",
    "_Znam",
    "_ZnwmRKSt9nothrow_t",
    "_ZnamRKSt9nothrow_t",
    "_ZnwmSt11align_val_t",
    "_ZnamSt11align_val_t",
    "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_ZnamSt11align_val_tRKSt9nothrow_t",
    "_ZdlPv",
    "_ZdaPv",
    "_ZdlPvm",
    "_ZdaPvm",
    "_ZdlPvRKSt9nothrow_t",
    "_ZdaPvRKSt9nothrow_t",
    "_ZdlPvSt11align_val_t",
    "_ZdaPvSt11align_val_t",
    "_ZdlPvSt11align_val_tRKSt9nothrow_t",
    "_ZdaPvSt11align_val_tRKSt9nothrow_t",
    "_ZdlPvmSt11align_val_t",
    "_ZdaPvmSt11align_val_t",
};

template <std::size_t... Index>
constexpr std::array<next_operator, sizeof...(Index)> operators_of(
    std::index_sequence<Index...> /*names*/) noexcept {
  return {{next_operator{operator_names[Index]}...}};
}

/// All of them. They are looked up together, at the start or in the first call of any: dlopen()
/// holds the loader's lock while the constructors of a plug-in run, and these may wait for a thread
/// that calls another one.
inline constinit auto next_operators =
    operators_of(std::make_index_sequence<std::size(operator_names)>{});

/// That of this name. A name that is not among them does not compile.
consteval next_operator& next_operator_of(std::string_view name) {
  std::size_t index = 0;
  while (operator_names[index] != name) ++index;
  return next_operators[index];
}

/// A block of malloc. If there is no memory, it calls the new handler and throws as operator new
/// does; ends the process if there is no C++ runtime that can throw.
[[nodiscard]] void* new_by_malloc(std::size_t size, std::size_t alignment, bool throws);

/// Ends a block that a plug-in has just made.
void take_back(plugin& owner, void* block, std::size_t alignment) noexcept;

/// Calls operator new. `alignment` is that of malloc if the operator has none. `source` is apart:
/// to find it may allocate and free, and these are not parts of the call.
template <class... Arguments>
[[gnu::noinline]] void* call_new(const operator_source& source, std::size_t alignment, bool throws,
                                 std::size_t size, Arguments... arguments) {
  using function = void*(std::size_t, Arguments...);
  if (source.function == nullptr) return new_by_malloc(size, alignment, throws);
  void* const block = std::bit_cast<function*>(source.function)(size, arguments...);
  if (source.owner == nullptr || block == nullptr || source.owner->blocks.insert(block)) {
    return block;
  }
  take_back(*source.owner, block, alignment);
  return new_by_malloc(size, alignment, throws);
}

/// The alignment, which is the last argument of the operators that `takes` has this for.
template <class... Arguments>
[[nodiscard]] constexpr std::size_t last_of(Arguments... arguments) noexcept {
  std::size_t last = 0;
  if constexpr ((std::is_same_v<Arguments, std::size_t> && ...)) ((last = arguments), ...);
  return last;
}

/// Calls operator delete. Requires that the block is not null.
template <class... Arguments>
[[gnu::noinline]] void call_delete(const operator_source& source, void* block,
                                   Arguments... arguments) {
  if (early.owns(block)) return;
  if (source.function == nullptr) {
    if (auto* const free = next_free.get(); free != nullptr) free(block);
  } else if (source.takes == operator_arguments::all) {
    std::bit_cast<void (*)(void*, Arguments...)>(source.function)(block, arguments...);
  } else if (source.takes == operator_arguments::block) {
    std::bit_cast<void (*)(void*)>(source.function)(block);
  } else {
    std::bit_cast<void (*)(void*, std::size_t)>(source.function)(block, last_of(arguments...));
  }
}

} // namespace heapwise::bench
