#include "os/collector/thread_variables.hpp"

#include <array>
#include <cerrno>

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>

#include "heapwise/detail/config.hpp"
#include "os/linux/system_call.hpp"

// A program that is linked statically has no dlsym, and needs none.
#pragma weak dlsym

namespace heapwise::os {

namespace {

#if defined(__aarch64__)
constexpr bool variables_above = true; // the thread's descriptor
#else
constexpr bool variables_above = false;
#endif

/// Acquire: a list of libraries is complete before the loader shows its address. All else is
/// ordered by the loader's lock, or by the stop of the thread whose table it is.
HEAPWISE_READS_ANYTHING std::uintptr_t word_at(const std::byte* address) noexcept {
  return __atomic_load_n(reinterpret_cast<const std::uintptr_t*>(address), __ATOMIC_ACQUIRE);
}

const std::byte* address_at(const std::byte* address) noexcept {
  return reinterpret_cast<const std::byte*>(word_at(address));
}

/// Effects: copies memory of which it is not known that it can be read. Where the system does not
/// copy at all (a sandbox, an emulator), it is read as any other.
/// Returns: whether it could be read.
HEAPWISE_READS_ANYTHING bool copy_words(const std::byte* from, std::uintptr_t* into,
                                        std::size_t count) noexcept {
  const iovec local{into, count * sizeof *into};
  const iovec remote{const_cast<std::byte*>(from), count * sizeof *into};
  const long process = system_call(SYS_getpid).value();
  const system_answer copied = system_call(SYS_process_vm_readv, process, &local, 1, &remote, 1, 0);
  const bool refused = !copied.succeeded() && copied.error() != EFAULT;
  if (!refused) return copied.value() == static_cast<long>(count * sizeof *into);
  for (std::size_t each = 0; each < count; ++each) into[each] = word_at(from + each * sizeof *into);
  return true;
}

/// How the C library describes a field to debuggers (libthread_db); three numbers of 32 bits.
struct described_field {
  std::uint32_t bits;
  std::uint32_t count;
  std::uint32_t offset;
};

/// Returns: the description with that name; nullptr without one.
const described_field* described(const char* name) noexcept {
  return static_cast<const described_field*>(::dlsym(RTLD_DEFAULT, name));
}

/// A slot of a thread's table: a number, or the address of variables; and what to free.
constexpr std::size_t slot_bytes = 2 * sizeof(std::uintptr_t);

bool slots_are_as_expected() noexcept {
  const auto* const slots = described("_thread_db_dtv_dtv");
  const auto* const number = described("_thread_db_dtv_t_counter");
  const auto* const address = described("_thread_db_dtv_t_pointer_val");
  return slots != nullptr && slots->bits == 8 * slot_bytes && slots->offset == 0 &&
         number != nullptr && number->offset == 0 && address != nullptr && address->offset == 0;
}

/// Returns: whether all that is needed is described.
bool find_fields(loader_layout& into) noexcept {
  if (dlsym == nullptr) return false;
  struct field {
    const char* name;
    std::size_t loader_layout::* offset;
  };
  constexpr std::array fields = std::to_array<field>({
      {"_thread_db_dtv_slotinfo_list_len", &loader_layout::list_length},
      {"_thread_db_dtv_slotinfo_list_next", &loader_layout::list_next},
      {"_thread_db_dtv_slotinfo_gen", &loader_layout::entry_generation},
      {"_thread_db_dtv_slotinfo_map", &loader_layout::entry_map},
      {"_thread_db_link_map_l_tls_modid", &loader_layout::map_module},
      {"_thread_db_link_map_l_tls_offset", &loader_layout::map_offset},
      {"_thread_db_pthread_dtvp", &loader_layout::thread_table},
  });
  constexpr std::uint32_t word_bits = 8 * sizeof(std::uintptr_t);
  for (const field& each : fields) {
    const described_field* const field = described(each.name);
    if (field == nullptr || field->bits != word_bits) return false;
    into.*each.offset = field->offset;
  }
  const auto* const loader = static_cast<const std::byte*>(::dlsym(RTLD_DEFAULT, "_rtld_global"));
  const auto* const libraries = described("_thread_db_rtld_global__dl_tls_dtv_slotinfo_list");
  const auto* const entries = described("_thread_db_dtv_slotinfo_list_slotinfo");
  if (loader == nullptr || libraries == nullptr || entries == nullptr) return false;
  into.libraries = loader + libraries->offset;
  into.list_entries = entries->offset;
  into.entry_bytes = entries->bits / 8;
  return slots_are_as_expected();
}

/// Returns: the loader's entry for a module; nullptr when there is none yet.
const std::byte* entry_of(const loader_layout& layout, std::size_t module) noexcept {
  const std::byte* list = address_at(layout.libraries);
  while (list != nullptr) {
    const std::size_t length = word_at(list + layout.list_length);
    if (module < length) return list + layout.list_entries + module * layout.entry_bytes;
    module -= length;
    list = address_at(list + layout.list_next);
  }
  return nullptr;
}

std::size_t variable_bytes(const dl_phdr_info& info) noexcept {
  for (unsigned each = 0; each < info.dlpi_phnum; ++each) {
    if (info.dlpi_phdr[each].p_type == PT_TLS) return info.dlpi_phdr[each].p_memsz;
  }
  return 0;
}

std::ptrdiff_t distance_from(thread_id thread, const void* address) noexcept {
  return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(address) - thread);
}

// What the loader writes down instead of a place: the first thread to use them decides whether they
// get one beside those of the program, or memory in each thread that uses them.
constexpr std::uintptr_t no_place_yet = 0;
constexpr std::uintptr_t no_place = ~std::uintptr_t{0};

/// Returns: what the loader knows of a library's variables; nothing when no thread used them yet. A
/// library that is still being loaded may have the number of one that is gone, and of whose
/// variables threads still have the memory. It has no place yet.
thread_variables variables_of(const loader_layout& layout, const dl_phdr_info& info) noexcept {
  const std::byte* const entry = entry_of(layout, info.dlpi_tls_modid);
  const std::byte* const map = entry == nullptr ? nullptr : address_at(entry + layout.entry_map);
  if (map == nullptr || word_at(map + layout.map_module) != info.dlpi_tls_modid) return {};
  const std::uintptr_t place = word_at(map + layout.map_offset);
  if (place == no_place_yet) return {};
  const auto offset = static_cast<std::ptrdiff_t>(place);
  return {.module = info.dlpi_tls_modid,
          .bytes = variable_bytes(info),
          .fixed = place != no_place,
          .distance = layout.first_distance + (variables_above ? offset : -offset),
          .generation = word_at(entry + layout.entry_generation)};
}

// Each is called for one library after another by dl_iterate_phdr.

/// Finds the variables of the C library: errno is one of them.
int visit_known_module(dl_phdr_info* info, std::size_t /*size*/, void* opaque) {
  auto& layout = *static_cast<loader_layout*>(opaque);
  const auto* const begin = static_cast<const std::byte*>(info->dlpi_tls_data);
  const auto* const wanted = reinterpret_cast<const std::byte*>(&errno);
  if (begin == nullptr || wanted < begin || wanted >= begin + variable_bytes(*info)) return 0;
  const thread_variables variables = variables_of(layout, *info);
  if (!variables.fixed) return 1;
  layout.known_module = variables.module;
  layout.known_distance = distance_from(this_thread(), begin);
  layout.first_distance = layout.known_distance - variables.distance;
  return 1;
}

/// Compares what is found with what the loader says of the calling thread.
int visit_to_compare(dl_phdr_info* info, std::size_t /*size*/, void* opaque) {
  const auto& layout = *static_cast<const loader_layout*>(opaque);
  if (info->dlpi_tls_data == nullptr) return 0;
  thread_table own;
  const bool same = own.read(layout, this_thread()) &&
                    own.find(variables_of(layout, *info)).begin == info->dlpi_tls_data;
  return same ? 0 : 1;
}

struct variables_walk {
  const loader_layout& layout;
  variables_visitor* visit;
  void* argument;
};

int visit_variables(dl_phdr_info* info, std::size_t /*size*/, void* opaque) {
  const auto& walk = *static_cast<const variables_walk*>(opaque);
  if (walk.layout.known) {
    if (info->dlpi_tls_modid == 0) return 0;
    const thread_variables variables = variables_of(walk.layout, *info);
    if (variables.module != 0) walk.visit(variables, walk.argument);
    return 0;
  }
  // The first is the program.
  if (info->dlpi_tls_data != nullptr) {
    walk.visit({.module = 1,
                .bytes = variable_bytes(*info),
                .fixed = true,
                .distance = distance_from(this_thread(), info->dlpi_tls_data)},
               walk.argument);
  }
  return 1;
}

} // namespace

loader_layout describe_loader() noexcept {
  loader_layout layout;
  if (!find_fields(layout)) return {};
  layout.known = true;
  ::dl_iterate_phdr(visit_known_module, &layout);
  const bool holds = layout.known_module != 0 && ::dl_iterate_phdr(visit_to_compare, &layout) == 0;
  return holds ? layout : loader_layout{};
}

bool thread_table::read(const loader_layout& layout, thread_id thread) noexcept {
  descriptor_ = reinterpret_cast<const std::byte*>(thread);
  slots_ = nullptr;
  if (!layout.known) return true;
  const std::byte* const slots = address_at(descriptor_ + layout.thread_table);
  // A thread that needs a longer table has the old one freed before it writes down where the new
  // one is. If it was stopped in between, the words may be anything, and may not even be there.
  // malloc writes into the first words of what is free. If nobody has written anything, the old
  // table is as good as the new.
  std::array<std::uintptr_t, 4> head{};
  std::uintptr_t known = 0;
  const bool intact = copy_words(slots - slot_bytes, head.data(), head.size()) && head[1] == 0 &&
                      head[3] == 0 && head[0] >= layout.known_module &&
                      copy_words(slots + layout.known_module * slot_bytes, &known, 1);
  if (!intact || known != thread + static_cast<std::uintptr_t>(layout.known_distance)) return false;
  slots_ = slots;
  length_ = head[0];
  generation_ = head[2];
  return true;
}

memory_range thread_table::find(const thread_variables& of_library) const noexcept {
  const std::byte* begin = nullptr;
  if (of_library.fixed) {
    begin = descriptor_ + of_library.distance;
  } else if (slots_ != nullptr && of_library.module <= length_ &&
             of_library.generation <= generation_) {
    begin = address_at(slots_ + of_library.module * slot_bytes);
    // An odd number says that this thread has no memory for them yet.
    if (reinterpret_cast<std::uintptr_t>(begin) % 2 != 0) begin = nullptr;
  }
  if (begin == nullptr) return {nullptr, nullptr};
  return {begin, begin + of_library.bytes};
}

void each_thread_variables(const loader_layout& layout, variables_visitor* visit,
                           void* argument) noexcept {
  variables_walk walk{layout, visit, argument};
  ::dl_iterate_phdr(visit_variables, &walk);
}

} // namespace heapwise::os
