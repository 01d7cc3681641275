#include "probe/next_operator.hpp"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "probe/provider.hpp"

namespace heapwise::bench {

namespace {

constexpr std::size_t most_plugins = 4;
constinit plugin plugins[most_plugins];
constinit std::atomic<bool> has_plugins{false};

enum class scope : std::uint8_t { unknown, has_operators, has_none };
constinit std::atomic<scope> global_scope{scope::unknown};

/// A definition in a loaded object.
struct definition {
  std::uintptr_t base = 0;
  void* function = nullptr;
  const char* path = nullptr; ///< of the object, valid while it is loaded
};

using accepts = bool (*)(const dl_phdr_info& object, std::uintptr_t wanted);

struct object_search {
  const char* name;
  accepts is_wanted;
  std::uintptr_t wanted;
  definition* found;
};

int look_at_object(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  const auto& search = *static_cast<object_search*>(argument);
  if (!search.is_wanted(*object, search.wanted)) return 0;
  const ElfW(Sym)* symbol = detail::definition_in(*object, search.name);
  if (symbol == nullptr) return 0;
  search.found->base = object->dlpi_addr;
  search.found->function = reinterpret_cast<void*>(object->dlpi_addr + symbol->st_value);
  search.found->path = object->dlpi_name;
  return 1;
}

/// Of the first loaded object that is wanted and defines the name. Neither allocates nor changes
/// what dlerror() says, unlike dlsym().
bool find(const char* name, accepts is_wanted, std::uintptr_t wanted, definition& found) noexcept {
  object_search search{name, is_wanted, wanted, &found};
  return dl_iterate_phdr(look_at_object, &search) != 0;
}

std::string_view name_of(const dl_phdr_info& object) noexcept {
  std::string_view path = object.dlpi_name != nullptr ? object.dlpi_name : "";
  // Not by substr(), which throws, and would bring the C++ runtime along.
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

bool is_runtime(const dl_phdr_info& object, std::uintptr_t) noexcept {
  const std::string_view name = name_of(object);
  // Wheels for Python bring copies with a number before the ending.
  for (const std::string_view each : {"libstdc++", "libc++"}) {
    if (name.starts_with(each)) return true;
  }
  return false;
}

bool holds(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) return true;
  }
  return false;
}

bool is_at(const dl_phdr_info& object, std::uintptr_t base) noexcept {
  return object.dlpi_addr == base;
}

bool is_any(const dl_phdr_info&, std::uintptr_t) noexcept { return true; }

/// Which plug-in serves the call of an operator from an address.
struct caller_search {
  const char* name;
  std::uintptr_t address;
  std::uintptr_t first_plugin = 0; ///< that defines the operator
  std::uintptr_t found = 0;
};

/// A plug-in that defines the operator calls its own. A runtime calls those of the plug-in that has
/// brought it, which was loaded just before it.
int look_for_caller(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  auto& search = *static_cast<caller_search*>(argument);
  const auto here = reinterpret_cast<std::uintptr_t>(&plugins);
  const bool defines = !is_runtime(*object, 0) && !holds(*object, here) &&
                       detail::definition_in(*object, search.name) != nullptr;
  if (defines && search.first_plugin == 0) search.first_plugin = object->dlpi_addr;
  if (!holds(*object, search.address)) return 0;
  if (defines) search.found = object->dlpi_addr;
  if (is_runtime(*object, 0)) search.found = search.first_plugin;
  return 1;
}

bool is_loaded(std::uintptr_t base) noexcept {
  definition ignored;
  return find("_Znwm", is_at, base, ignored) || find("_Znam", is_at, base, ignored);
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
  caller_search search{name, address - 1};
  dl_iterate_phdr(look_for_caller, &search);
  plugin* const found = search.found != 0 ? entry_of(search.found) : nullptr;
  const auto number = found != nullptr ? static_cast<std::uint64_t>(found - plugins) + 1 : 0;
  entry.store(address | number << site_bits, std::memory_order_relaxed);
  return found;
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
  definition own;
  if (find(name, is_at, base, own)) return {own.function, &owner, operator_arguments::all};
  for (const substitute& each : substitutes) {
    if (each.name == name && find(each.other, is_at, base, own)) {
      return {own.function, &owner, each.takes};
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
  definition found;
  return find(name, is_any, 0, found) ? std::bit_cast<Function*>(found.function) : nullptr;
}

/// Returns false if it is not loaded any more.
bool keep_loaded(const char* path) noexcept {
  resolving = true;
  void* const handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  resolving = false;
  return handle != nullptr;
}

struct opened_search {
  std::uintptr_t address;
  bool has_passed_loader = false;
  const char* path = nullptr;
};

int look_for_opened(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  auto& search = *static_cast<opened_search*>(argument);
  if (object->dlpi_addr == getauxval(AT_BASE)) search.has_passed_loader = true;
  if (!holds(*object, search.address)) return 0;
  if (search.has_passed_loader) search.path = object->dlpi_name;
  return 1;
}

/// The path of the library that holds the address, if the program may have opened it, with
/// RTLD_GLOBAL, and may close it again. The loader stands behind what was there from the start on.
const char* path_if_opened(const void* address) noexcept {
  opened_search search{reinterpret_cast<std::uintptr_t>(address)};
  dl_iterate_phdr(look_for_opened, &search);
  return search.path;
}

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

} // namespace

/// Decided once for all operators: what made a block and what ends it have to fit.
void* next_operator::global() noexcept {
  if (global_scope.load(std::memory_order_relaxed) == scope::has_none || resolving) return nullptr;
  resolving = true;
  if (global_scope.load(std::memory_order_relaxed) == scope::unknown) {
    const bool has_some = dlsym(RTLD_NEXT, "_Znwm") != nullptr;
    global_scope.store(has_some ? scope::has_operators : scope::has_none,
                       std::memory_order_relaxed);
  }
  void* function = nullptr;
  if (global_scope.load(std::memory_order_relaxed) == scope::has_operators) {
    function = dlsym(RTLD_NEXT, name_);
  }
  if (function == nullptr) dlerror(); // else the program would find our error
  resolving = false;
  if (function == nullptr) return nullptr;
  if (const char* const path = path_if_opened(function); path != nullptr) keep_loaded(path);
  global_.store(function, std::memory_order_relaxed);
  return function;
}

/// Of a C++ runtime that some plug-in has brought. From then on it stays loaded.
void* next_operator::of_runtime() noexcept {
  if (void* const known = of_runtime_.load(std::memory_order_relaxed); known != nullptr) {
    return known;
  }
  definition found;
  if (resolving || !find(name_, is_runtime, 0, found)) return nullptr;
  if (!keep_loaded(found.path)) return nullptr;
  of_runtime_.store(found.function, std::memory_order_relaxed);
  return found.function;
}

operator_source next_operator::source_for(const void* site) noexcept {
  if (void* function = global_.load(std::memory_order_relaxed); function != nullptr) {
    return {function};
  }
  if (void* function = global(); function != nullptr) return {function};
  if (plugin* const owner = plugin_of(site, name_); owner != nullptr) {
    definition own;
    const std::uintptr_t base = owner->base.load(std::memory_order_acquire);
    if (find(name_, is_at, base, own)) return {own.function, owner};
  }
  return {of_runtime()};
}

operator_source next_operator::source_of(const void* block) noexcept {
  if (has_plugins.load(std::memory_order_acquire)) {
    for (plugin& each : plugins) {
      if (each.blocks.erase(block)) return delete_of(each, name_);
    }
  }
  if (void* function = global_.load(std::memory_order_relaxed); function != nullptr) {
    return {function};
  }
  if (void* function = global(); function != nullptr) return {function};
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

void take_back(plugin& owner, void* block, std::size_t alignment) noexcept {
  const bool is_aligned = alignment > default_alignment;
  const operator_source source = delete_of(owner, is_aligned ? "_ZdlPvSt11align_val_t" : "_ZdlPv");
  if (source.function == nullptr) return;
  std::bit_cast<void (*)(void*, std::size_t)>(source.function)(block, alignment);
}

} // namespace heapwise::bench
