// The library that provides a function in this process: its path and build-id, and nothing guessed.
//
// `&malloc` and dlsym answer with the executable itself when a program that is not position
// independent takes malloc's address (its PLT slot becomes the function's official address). So the
// loaded objects are searched in the loader's order for the first that really defines the name.
// No allocation; needs no C++ runtime.
#pragma once

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "line/json_line.hpp"

namespace heapwise::bench {

struct provider {
  bool found = false;
  char path[PATH_MAX] = {};
  char build_id[129] = {}; ///< lower-case hexadecimal, empty if the object carries none

  void write(json_line& line) const noexcept {
    if (!found) {
      line.null();
      return;
    }
    line.open('{').field("path", path).field("build_id", build_id).close('}');
  }
};

inline void read_own_path(char (&path)[PATH_MAX]) noexcept {
  const auto length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
}

namespace detail {

/// The tables of one loaded object that a symbol search needs.
struct symbol_tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* sysv_hash = nullptr;
};

inline symbol_tables tables_of(const dl_phdr_info& object) noexcept {
  symbol_tables tables;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      // glibc has relocated these already, except in the vDSO, whose values are still offsets.
      auto address = static_cast<std::uintptr_t>(entry->d_un.d_ptr);
      if (address < object.dlpi_addr) address += object.dlpi_addr;
      if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_STRTAB) tables.names = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_HASH) {
        tables.sysv_hash = reinterpret_cast<const std::uint32_t*>(address);
      }
      if (entry->d_tag == DT_GNU_HASH) {
        tables.gnu_hash = reinterpret_cast<const std::uint32_t*>(address);
      }
    }
  }
  return tables;
}

inline bool defines(const symbol_tables& tables, std::uint32_t index, const char* name) noexcept {
  const ElfW(Sym)& symbol = tables.symbols[index];
  return symbol.st_shndx != SHN_UNDEF && std::strcmp(tables.names + symbol.st_name, name) == 0;
}

/// The lookup of the GNU hash section, without its Bloom filter (this is not a hot path).
inline const ElfW(Sym) * in_gnu_hash(const symbol_tables& tables, const char* name) noexcept {
  const std::uint32_t buckets = tables.gnu_hash[0];
  const std::uint32_t first = tables.gnu_hash[1];
  const std::uint32_t bloom_words = tables.gnu_hash[2] * (sizeof(std::size_t) / 4);
  const std::uint32_t* bucket = tables.gnu_hash + 4 + bloom_words;
  const std::uint32_t* chain = bucket + buckets;
  if (buckets == 0) return nullptr;
  std::uint32_t hash = 5381;
  for (const char* at = name; *at != '\0'; ++at) {
    hash = hash * 33 + static_cast<unsigned char>(*at);
  }
  for (std::uint32_t i = bucket[hash % buckets]; i >= first; ++i) {
    const std::uint32_t entry = chain[i - first];
    if ((entry | 1U) == (hash | 1U) && defines(tables, i, name)) return &tables.symbols[i];
    if ((entry & 1U) != 0) return nullptr;
  }
  return nullptr;
}

inline const ElfW(Sym) * in_sysv_hash(const symbol_tables& tables, const char* name) noexcept {
  const std::uint32_t count = tables.sysv_hash[1];
  for (std::uint32_t i = 0; i < count; ++i) {
    if (defines(tables, i, name)) return &tables.symbols[i];
  }
  return nullptr;
}

/// The definition of `name` in the object; null if it has none.
inline const ElfW(Sym) * definition_in(const dl_phdr_info& object, const char* name) noexcept {
  const symbol_tables tables = tables_of(object);
  if (tables.symbols == nullptr || tables.names == nullptr) return nullptr;
  if (tables.gnu_hash != nullptr) return in_gnu_hash(tables, name);
  return tables.sysv_hash != nullptr ? in_sysv_hash(tables, name) : nullptr;
}

inline void write_hex(const unsigned char* bytes, std::size_t count, char* text) noexcept {
  constexpr const char* hex = "0123456789abcdef";
  for (std::size_t i = 0; i < count; ++i) {
    *text++ = hex[bytes[i] >> 4];
    *text++ = hex[bytes[i] & 15];
  }
  *text = '\0';
}

/// Searches one PT_NOTE segment for NT_GNU_BUILD_ID.
inline bool read_build_id(const unsigned char* at, std::size_t size, provider& into) noexcept {
  const auto padded = [](std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
    const std::size_t length = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    if (length > size) return false;
    const auto* name = at + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0 &&
        note.n_descsz < sizeof into.build_id / 2) {
      write_hex(name + padded(note.n_namesz), note.n_descsz, into.build_id);
      return true;
    }
    at += length;
    size -= length;
  }
  return false;
}

inline void describe_object(const dl_phdr_info& object, provider& into) noexcept {
  into.found = true;
  if (object.dlpi_name == nullptr || object.dlpi_name[0] == '\0') {
    read_own_path(into.path);
  } else {
    std::strncpy(into.path, object.dlpi_name, sizeof into.path - 1);
  }
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(object.dlpi_addr + header.p_vaddr);
    if (read_build_id(notes, header.p_memsz, into)) return;
  }
}

struct search {
  const char* name;
  provider* into;
};

inline int visit_object(dl_phdr_info* object, std::size_t, void* argument) noexcept {
  const auto& wanted = *static_cast<search*>(argument);
  if (definition_in(*object, wanted.name) == nullptr) return 0;
  describe_object(*object, *wanted.into);
  return 1;
}

} // namespace detail

/// The first loaded object that defines `name`, in the order in which the loader searches them.
inline void find_provider(const char* name, provider& into) noexcept {
  detail::search wanted{name, &into};
  dl_iterate_phdr(detail::visit_object, &wanted);
}

} // namespace heapwise::bench
