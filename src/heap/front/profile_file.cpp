#include "heap/front/profile_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "heap/base/options.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/front/exported.hpp"
#include "heapwise/detail/heap_sampling.hpp"
#include "options/text.hpp"
#include "os/os.hpp"
#include "os/reports/faults.hpp"
#include "os/reports/mapped_files.hpp"
#include "os/reports/unwinding.hpp"
#include "os/signals.hpp"

namespace heapwise::detail {

namespace {

using std::string_view;

/// A message of Protocol Buffers in a place of limited length; what does not fit is cut off.
template <std::size_t capacity>
class message_of {
 public:
  message_of& add_number(unsigned field, std::uint64_t value) noexcept {
    return add_varint(std::uint64_t{field} << 3).add_varint(value);
  }
  message_of& add_bytes(unsigned field, string_view bytes) noexcept {
    add_varint(std::uint64_t{field} << 3 | 2).add_varint(bytes.size());
    const std::size_t fits = std::min(bytes.size(), capacity - length_);
    std::memcpy(bytes_ + length_, bytes.data(), fits);
    length_ += fits;
    return *this;
  }
  message_of& add_varint(std::uint64_t value) noexcept {
    constexpr unsigned bits = 7;
    constexpr std::uint64_t more = 1U << bits;
    for (; value >= more; value >>= bits) add_byte(static_cast<char>(value | more));
    return add_byte(static_cast<char>(value));
  }
  [[nodiscard]] string_view view() const noexcept { return {bytes_, length_}; }

 private:
  message_of& add_byte(char byte) noexcept {
    if (length_ < capacity) bytes_[length_++] = byte;
    return *this;
  }

  char bytes_[capacity];
  std::size_t length_ = 0;
};

// A number and the name of its field have at most eleven bytes.
using small_message = message_of<128>;

/// The fields of the messages, by their numbers in profile.proto.
namespace profile_field {
enum : unsigned {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  string_table = 6,
  time_nanos = 9,
  period_type = 11,
  period = 12,
  comment = 13,
  default_sample_type = 14,
};
} // namespace profile_field

/// The first strings of the table. The first one has to be empty.
constexpr std::array<string_view, 7> first_strings{
    "", "inuse_objects", "count", "inuse_space", "bytes", "space", "heapwise"};
namespace profile_string {
enum number : std::uint8_t { inuse_objects = 1, count, inuse_space, bytes, space };
} // namespace profile_string

/// What a profile needs while it is written. Mapped for that time alone.
struct profile_scratch {
  static constexpr std::size_t most_pieces = 2048;

  struct piece {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::array<piece, most_pieces> pieces;
  std::size_t piece_count;
  std::array<char, std::size_t{64} << 10> buffer;
  std::size_t buffered;
  sampled_blocks::seen_block seen;
};

/// The addresses that were written as locations. Each has its own number.
class address_set {
 public:
  address_set(std::uintptr_t* places, std::size_t count) noexcept
      : places_{places}, count_{count} {}

  /// Returns: how many places a set of so many addresses needs, which is a power of two.
  static std::size_t places_for(std::size_t addresses) noexcept {
    return std::bit_ceil(2 * addresses + 1);
  }

  /// Returns: whether the address was not in the set. It is now, unless the set is full.
  bool insert(std::uintptr_t address) noexcept {
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    if (used_ + 1 >= count_) return false;
    std::size_t at = (address * golden >> 16) & (count_ - 1);
    for (; places_[at] != 0; at = (at + 1) & (count_ - 1)) {
      if (places_[at] == address) return false;
    }
    places_[at] = address;
    ++used_;
    return true;
  }

 private:
  std::uintptr_t* places_;
  std::size_t count_;
  std::size_t used_ = 0;
};

/// Writes one profile.
class profile_writer {
 public:
  profile_writer(profile_scratch& scratch, address_set locations,
                 const os::appended_file& file) noexcept
      : scratch_{scratch}, locations_{locations}, file_{file}, own_{os::own_code()} {}

  /// Returns: 0, or why not, as errno.
  int write() noexcept {
    write_head();
    write_pieces();
    for (std::uint32_t each = 0; each < the_samples.used(); ++each) {
      if (the_samples.read(each, scratch_.seen)) write_sample(scratch_.seen);
    }
    flush();
    return error_;
  }

 private:
  void write_head() noexcept {
    for (const string_view each : first_strings) write_string(each);
    write_type(profile_field::sample_type, profile_string::inuse_objects, profile_string::count);
    write_type(profile_field::sample_type, profile_string::inuse_space, profile_string::bytes);
    write_type(profile_field::period_type, profile_string::space, profile_string::bytes);
    text told;
    told.add("written by the heap of heapwise, profile ").add(chosen_profile.name);
    if (const std::uint64_t missed = the_samples.missed(); missed != 0) {
      told.add("; ").add(missed).add(" blocks that should be in the sample are not");
    }
    small_message rest;
    rest.add_number(profile_field::period, the_samples.mean_bytes());
    rest.add_number(profile_field::default_sample_type, profile_string::inuse_space);
    rest.add_number(profile_field::time_nanos, os::nanoseconds_of_day());
    rest.add_number(profile_field::comment, write_string(told.view()));
    put(rest.view());
  }

  /// Effects: writes which files are mapped where.
  void write_pieces() noexcept {
    os::mapped_files files;
    for (os::mapped_file each;
         scratch_.piece_count < profile_scratch::most_pieces && files.next(each);) {
      scratch_.pieces[scratch_.piece_count++] = {.begin = each.begin, .end = each.end};
      small_message mapping;
      mapping.add_number(1, scratch_.piece_count); // its number
      mapping.add_number(2, each.begin).add_number(3, each.end).add_number(4, each.offset);
      mapping.add_number(5, write_string(each.path));
      write_message(profile_field::mapping, mapping.view());
    }
  }

  /// Returns: the number of the mapping that holds the address; 0: none does.
  [[nodiscard]] std::size_t piece_of(std::uintptr_t address) const noexcept {
    for (std::size_t each = 0; each < scratch_.piece_count; ++each) {
      const profile_scratch::piece& piece = scratch_.pieces[each];
      if (address - piece.begin < piece.end - piece.begin) return each + 1;
    }
    return 0;
  }

  void write_location(std::uintptr_t address) noexcept {
    if (!locations_.insert(address)) return;
    small_message location;
    location.add_number(1, address); // its number, which may be any but 0
    if (const std::size_t piece = piece_of(address); piece != 0) location.add_number(2, piece);
    location.add_number(3, address);
    write_message(profile_field::location, location.view());
  }

  void write_sample(const sampled_blocks::seen_block& seen) noexcept {
    message_of<std::size_t{11} * sampled_block::most_calls> locations;
    bool is_heap = true; // the calls within this library come first
    for (std::uint32_t each = 0; each < seen.call_count; ++each) {
      is_heap = is_heap && own_.holds(seen.calls[each]);
      if (is_heap) continue;
      // Of the instruction that calls, not of the one behind it.
      const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(seen.calls[each]) - 1;
      write_location(address);
      locations.add_varint(address);
    }
    __extension__ using wide = unsigned __int128;
    const std::uint64_t chance = chance_of(seen.bytes, the_samples.mean_bytes());
    constexpr wide one = wide{1} << chance_bits;
    small_message values;
    values.add_varint(static_cast<std::uint64_t>((one + chance / 2) / chance));
    values.add_varint(static_cast<std::uint64_t>((one * seen.bytes + chance / 2) / chance));
    message_of<std::size_t{11} * (sampled_block::most_calls + 4)> sample;
    sample.add_bytes(1, locations.view()).add_bytes(2, values.view());
    write_message(profile_field::sample, sample.view());
  }

  void write_type(unsigned field, profile_string::number name,
                  profile_string::number unit) noexcept {
    small_message type;
    type.add_number(1, name).add_number(2, unit);
    write_message(field, type.view());
  }

  /// Returns: the number of the string.
  std::uint64_t write_string(string_view string) noexcept {
    write_message(profile_field::string_table, string);
    return strings_++;
  }

  void write_message(unsigned field, string_view content) noexcept {
    small_message head;
    head.add_varint(std::uint64_t{field} << 3 | 2).add_varint(content.size());
    put(head.view());
    put(content);
  }

  void put(string_view more) noexcept {
    if (scratch_.buffer.size() - scratch_.buffered < more.size()) flush();
    std::memcpy(scratch_.buffer.data() + scratch_.buffered, more.data(), more.size());
    scratch_.buffered += more.size();
  }

  void flush() noexcept {
    if (error_ == 0) error_ = file_.write(scratch_.buffer.data(), scratch_.buffered);
    scratch_.buffered = 0;
  }

  profile_scratch& scratch_;
  address_set locations_;
  const os::appended_file& file_;
  os::address_range own_;
  std::uint64_t strings_ = 0;
  int error_ = 0;
};

/// Returns: how many calls the blocks of the sample have together.
std::size_t count_calls(sampled_blocks::seen_block& seen) noexcept {
  std::size_t calls = 0;
  for (std::uint32_t each = 0; each < the_samples.used(); ++each) {
    if (the_samples.read(each, seen)) calls += seen.call_count;
  }
  return calls;
}

std::size_t in_whole_pages(std::size_t bytes) noexcept {
  return (bytes + os::page_bytes() - 1) / os::page_bytes() * os::page_bytes();
}

/// Effects: writes a profile to the file, from memory of its own. Returns: 0, or why not, as errno.
int write_profile_to(const os::appended_file& file) noexcept {
  const std::size_t scratch_bytes = in_whole_pages(sizeof(profile_scratch));
  void* const memory = os::map(scratch_bytes, os::page_bytes());
  if (memory == nullptr) return ENOMEM;
  auto& scratch = *new (memory) profile_scratch;
  const std::size_t places = address_set::places_for(count_calls(scratch.seen));
  const std::size_t set_bytes = in_whole_pages(places * sizeof(std::uintptr_t));
  void* const set = os::map(set_bytes, os::page_bytes());
  int error = ENOMEM;
  if (set != nullptr) {
    profile_writer writer{scratch, {static_cast<std::uintptr_t*>(set), places}, file};
    error = writer.write();
    os::unmap(set, set_bytes);
  }
  os::unmap(memory, scratch_bytes);
  return error;
}

using path_text = text_of<512>;

/// Effects: writes a profile beside the file, which then gets its name, so that no one sees a part
/// of it. Returns: 0, or why not, as errno.
int write_profile(const char* path) noexcept {
  path_text beside;
  beside.add(path).add(".part").add(string_view{"\0", 1});
  if (beside.view().back() != 0) return ENAMETOOLONG;
  const char* const part = beside.view().data();
  int error = 0;
  {
    const os::appended_file file{part, os::appended_file::start::empty};
    error = file.error();
    if (error == 0) error = write_profile_to(file);
  }
  return error != 0 ? error : os::rename_file(part, path);
}

/// The process that has a thread which writes a profile; 0: none has. A forked child may have the
/// number of its parent.
constinit std::atomic<unsigned> profiling_process{0};

/// Effects: as write_profile, if no other profile is being written.
int write_alone(const char* path) noexcept {
  const unsigned own = os::process_number();
  unsigned seen = profiling_process.load(std::memory_order_relaxed);
  // Acquire and release: one thread at a time writes.
  if (seen == own ||
      !profiling_process.compare_exchange_strong(seen, own, std::memory_order_acquire)) {
    return EBUSY;
  }
  const int error = write_profile(path);
  profiling_process.store(0, std::memory_order_release);
  return error;
}

/// In a handler: the signal may have interrupted any function of the heap. Nothing here takes a
/// lock of it, or allocates.
void answer() noexcept {
  static constinit std::atomic<std::uint32_t> profiles{0};
  path_text path;
  path.add(the_options.profile).add(".").add(os::process_number()).add(".");
  path.add(profiles.fetch_add(1, std::memory_order_relaxed) + 1).add(".pb");
  path.add(string_view{"\0", 1});
  const int error = write_alone(path.view().data());
  if (error == 0) return;
  text line;
  line.add("heapwise: no heap profile was written to ").add(path.view().data());
  line.add(": error ").add(static_cast<std::size_t>(error)).add("\n").write();
}

} // namespace

void prepare_profiles() noexcept {
  if constexpr (can_sample) {
    if (!the_samples.is_on()) return;
    os::prepare_unwinding();
    if (the_options.profile_signal != 0 && the_options.profile[0] != 0) {
      os::answer_signal(the_options.profile_signal, answer);
    }
  }
}

} // namespace heapwise::detail

int heapwise_malloc_profile(const char* path) {
  using namespace heapwise::detail;
  const int error = the_samples.is_on() ? write_alone(path) : ENOTSUP;
  if (error == 0) return 0;
  errno = error;
  return -1;
}
