#include "probe/loaded_objects.hpp"

#include <link.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstddef>
#include <string_view>

#include "probe/object_visits.hpp"
#include "probe/provider.hpp"

namespace heapwise::bench {

namespace {

std::string_view name_of(const dl_phdr_info& object) noexcept {
  std::string_view path = object.dlpi_name != nullptr ? object.dlpi_name : "";
  // Not by substr(), which throws, and would bring the C++ runtime along.
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

/// Wheels for Python bring copies with a number before the ending.
bool is_runtime(const dl_phdr_info& object) noexcept {
  const std::string_view name = name_of(object);
  return name.starts_with("libstdc++") || name.starts_with("libc++");
}

bool holds(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && address >= begin && address < begin + part.p_memsz) return true;
  }
  return false;
}

template <class Accept>
struct definition_search {
  const char* name;
  Accept accept;
  definition result;
};

template <class Accept>
int look_for_definition(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  auto& search = *static_cast<definition_search<Accept>*>(argument);
  if (!search.accept(*object)) return 0;
  const ElfW(Sym)* symbol = detail::definition_in(*object, search.name);
  if (symbol == nullptr) return 0;
  search.result = {reinterpret_cast<void*>(object->dlpi_addr + symbol->st_value), symbol->st_size,
                   object->dlpi_name};
  return 1;
}

template <class Accept>
definition find(const char* name, Accept accept) noexcept {
  definition_search<Accept> search{name, accept, {}};
  visit_objects(look_for_definition<Accept>, &search);
  return search.result;
}

/// A place in this library.
constinit char own_place = 0;

/// The loader stands behind what was there from the start on.
class behind_own_at_start {
 public:
  bool operator()(const dl_phdr_info& object) noexcept {
    if (object.dlpi_addr == getauxval(AT_BASE)) is_behind_loader_ = true;
    if (is_behind_own_) return !is_behind_loader_;
    is_behind_own_ = holds(object, reinterpret_cast<std::uintptr_t>(&own_place));
    return false;
  }

 private:
  bool is_behind_own_ = false;
  bool is_behind_loader_ = false;
};

struct plugin_search {
  const char* name;
  std::uintptr_t address;
  std::uintptr_t first = 0; ///< of the plug-ins that define the function
  std::uintptr_t result = 0;
};

int look_for_plugin(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  auto& search = *static_cast<plugin_search*>(argument);
  const bool defines = !is_runtime(*object) &&
                       !holds(*object, reinterpret_cast<std::uintptr_t>(&own_place)) &&
                       detail::definition_in(*object, search.name) != nullptr;
  if (defines && search.first == 0) search.first = object->dlpi_addr;
  if (!holds(*object, search.address)) return 0;
  if (defines) search.result = object->dlpi_addr;
  if (is_runtime(*object)) search.result = search.first;
  return 1;
}

struct opened_search {
  std::uintptr_t address;
  bool is_behind_loader = false;
  const char* path = nullptr;
};

int look_for_opened(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  auto& search = *static_cast<opened_search*>(argument);
  if (object->dlpi_addr == getauxval(AT_BASE)) search.is_behind_loader = true;
  if (!holds(*object, search.address)) return 0;
  if (search.is_behind_loader) search.path = object->dlpi_name;
  return 1;
}

struct malloc_search {
  std::uintptr_t address;
  std::uintptr_t malloc;
  bool result = false;
};

int look_for_malloc(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  auto& search = *static_cast<malloc_search*>(argument);
  if (!holds(*object, search.address)) return 0;
  search.result = is_runtime(*object) || holds(*object, search.malloc);
  return 1;
}

int read_loaded(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  *static_cast<std::uint64_t*>(argument) = object->dlpi_adds;
  return 1;
}

} // namespace

std::uint64_t objects_loaded() noexcept {
  // relaxed: a number that may be old.
  static constinit std::atomic<std::uint64_t> known{0};
  std::uint64_t loaded = 0;
  if (!visit_objects_unless_forking(read_loaded, &loaded)) {
    return known.load(std::memory_order_relaxed);
  }
  if (known.load(std::memory_order_relaxed) != loaded) {
    known.store(loaded, std::memory_order_relaxed);
  }
  return loaded;
}

definition definition_at(std::uintptr_t base, const char* name) noexcept {
  return find(name, [=](const dl_phdr_info& object) { return object.dlpi_addr == base; });
}

definition definition_in_runtime(const char* name) noexcept { return find(name, is_runtime); }

definition definition_anywhere(const char* name) noexcept {
  return find(name, [](const dl_phdr_info&) { return true; });
}

definition definition_at_start(const char* name) noexcept {
  return find(name, behind_own_at_start{});
}

std::uintptr_t plugin_for(std::uintptr_t address, const char* name) noexcept {
  plugin_search search{name, address};
  visit_objects(look_for_plugin, &search);
  return search.result;
}

bool takes_from_malloc(const void* address, const void* malloc) noexcept {
  malloc_search search{reinterpret_cast<std::uintptr_t>(address),
                       reinterpret_cast<std::uintptr_t>(malloc)};
  visit_objects(look_for_malloc, &search);
  return search.result;
}

const char* path_if_opened(const void* address) noexcept {
  opened_search search{reinterpret_cast<std::uintptr_t>(address)};
  visit_objects(look_for_opened, &search);
  return search.path;
}

} // namespace heapwise::bench
