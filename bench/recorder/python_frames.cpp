#include "recorder/python_frames.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "probe/loaded_objects.hpp"
#include "recorder/own_filter.hpp"
#include "recorder/session.hpp"
#include "trace/kernel.hpp"

namespace heapwise::bench {

namespace {

/// Offsets in bytes, of pycore_frame.h, cpython/pystate.h and cpython/code.h of one version.
struct frame_layout {
  std::size_t thread_frames;  ///< in a thread state: the holder of the current frame, or the frame
  bool is_holder;             ///< whether it is a _PyCFrame
  std::size_t holder_current; ///< in the holder
  std::size_t code;
  std::size_t previous;
  std::size_t instruction;
  std::size_t first_line; ///< the rest is of code objects
  std::size_t code_units;
  std::size_t text; ///< of a text: where its characters begin, if all are ASCII
};

constexpr frame_layout python_3_11{56, true, 8, 32, 48, 56, 72, 184, 48};
constexpr frame_layout python_3_12{56, true, 0, 0, 8, 56, 68, 192, 40};
constexpr frame_layout python_3_13{72, false, 0, 0, 8, 56, 68, 200, 40};

/// The same in all these versions.
constexpr std::size_t object_type = 8;
constexpr std::size_t object_size = 16;
constexpr std::size_t bytes_begin = 32;
constexpr std::size_t text_state = 32;
constexpr std::size_t code_file = 112;
constexpr std::size_t code_name = 128;
constexpr std::size_t code_lines = 136;

using address = std::uint64_t;

/// The pages that may be read. A thread that is in the interpreter may read all that its state
/// leads to. One that is not may be about to end: then its frames are gone, and its state may be,
/// and the kernel is asked for each page. Used by one thread at a time.
class readable_pages {
 public:
  void trust_all() noexcept { asks_ = false; }
  void ask_anew() noexcept {
    asks_ = true;
    for (address& each : known_) each = 0;
  }

  [[nodiscard]] bool holds(address first, std::size_t bytes) noexcept {
    return !asks_ || (holds(first) && holds(first + bytes - 1));
  }

 private:
  static constexpr address page = 4096;

  [[nodiscard]] bool holds(address at) noexcept {
    const address number = at / page;
    if (number == 0) return false; // which also says that nothing is known
    address& known = known_[number % known_.size()];
    if (known == number) return true;
    if (!kernel::is_readable(at)) return false;
    known = number;
    return true;
  }

  bool asks_ = false;
  std::array<address, 16> known_{};
};
constinit readable_pages readable;

/// Returns: zero if it cannot be read.
template <class Value>
[[nodiscard]] Value read(address object, std::size_t offset) noexcept {
  Value value{};
  const address at = object + offset;
  if (readable.holds(at, sizeof value)) {
    std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
  }
  return value;
}

/// What is known of the interpreter in this process.
struct interpreter {
  const frame_layout* layout = nullptr;
  address (*this_thread)() = nullptr; ///< its state; 0 if the thread has none
  address code_type = 0;
  address text_type = 0;
  address bytes_type = 0;
  address loop_begin = 0;
  address loop_end = 0;
};
constinit interpreter python;
constinit std::atomic<bool> busy{false};
std::uint64_t looked_at = 0; ///< how many objects were loaded at the last look

[[nodiscard]] address place_of(const char* name) noexcept {
  return reinterpret_cast<std::uintptr_t>(definition_anywhere(name).function);
}

[[nodiscard]] const frame_layout* layout_of(unsigned version) noexcept {
  switch (version >> 16) {
    case 0x030B:
      return &python_3_11;
    case 0x030C:
      return &python_3_12;
    case 0x030D:
      return &python_3_13;
    default:
      return nullptr;
  }
}

void find_interpreter() noexcept {
  const std::uint64_t loaded = objects_loaded();
  if (loaded == looked_at || python.layout != nullptr) return;
  looked_at = loaded;
  const address version = place_of("Py_Version");
  if (version == 0) return;
  const definition loop = definition_anywhere("_PyEval_EvalFrameDefault");
  interpreter python_here;
  python_here.this_thread = reinterpret_cast<address (*)()>(
      definition_anywhere("PyGILState_GetThisThreadState").function);
  python_here.code_type = place_of("PyCode_Type");
  python_here.text_type = place_of("PyUnicode_Type");
  python_here.bytes_type = place_of("PyBytes_Type");
  python_here.loop_begin = reinterpret_cast<std::uintptr_t>(loop.function);
  python_here.loop_end = python_here.loop_begin + loop.bytes;
  if (python_here.this_thread == nullptr || python_here.code_type == 0 ||
      python_here.text_type == 0 || python_here.bytes_type == 0 || !loop) {
    return;
  }
  python_here.layout = layout_of(static_cast<unsigned>(read<unsigned long>(version, 0)));
  python = python_here;
}

[[nodiscard]] bool is_a(address object, address type) noexcept {
  constexpr address least = 4096;
  return object > least && object % alignof(void*) == 0 &&
         read<address>(object, object_type) == type;
}

/// A line of text of bounded length.
class text_line {
 public:
  void add(char sign) noexcept {
    if (bytes_ < sizeof text_ - 1) text_[bytes_++] = sign;
  }
  void add(const char* words) noexcept {
    for (; *words != '\0'; ++words) add(*words);
  }
  void add_hex(std::uint64_t number) noexcept {
    for (int shift = 44; shift >= 0; shift -= 4) add("0123456789abcdef"[number >> shift & 15]);
  }
  void add_number(unsigned number) noexcept {
    if (number >= 10) add_number(number / 10);
    add(static_cast<char>('0' + number % 10));
  }

  /// A text of Python. Signs that would end the line, or that are not ASCII, become question marks.
  void add_text(address text) noexcept {
    if (!is_a(text, python.text_type)) return add('?');
    const auto state = read<std::uint32_t>(text, text_state);
    constexpr std::uint32_t compact = 1U << 5;
    constexpr std::uint32_t ascii = 1U << 6;
    if ((state & compact) == 0 || (state & ascii) == 0) return add("?");
    const auto length = read<std::uint64_t>(text, object_size);
    for (std::uint64_t i = 0; i < length && bytes_ < most_text; ++i) {
      const char sign = read<char>(text, python.layout->text + i);
      add(sign > ' ' && sign < '\x7f' ? sign : sign == ' ' ? ' ' : '?');
    }
  }

  [[nodiscard]] const char* text() const noexcept { return text_; }
  [[nodiscard]] std::uint32_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325; // FNV-1a
    for (std::uint32_t i = 0; i < bytes_; ++i) {
      hash = (hash ^ static_cast<unsigned char>(text_[i])) * 0x100'0000'01B3;
    }
    return hash;
  }

 private:
  static constexpr std::uint32_t most_text = 700;

  char text_[800];
  std::uint32_t bytes_ = 0;
};

/// The table of a code object that says which line each unit of its code has
/// (Objects/locations.md of CPython).
class line_table {
 public:
  line_table(address bytes, std::int32_t first_line) noexcept
      : at_{bytes + bytes_begin},
        end_{at_ + read<std::uint64_t>(bytes, object_size)},
        line_{first_line} {}

  /// The line of a unit; 0 if it has none.
  [[nodiscard]] std::int32_t line_of(std::uint64_t unit) noexcept {
    constexpr unsigned none = 15;
    constexpr unsigned whole = 14;
    constexpr unsigned without_columns = 13;
    constexpr unsigned first_of_one_line = 10;
    for (std::uint64_t passed = 0; at_ < end_;) {
      const unsigned head = read<unsigned char>(at_++, 0);
      const unsigned code = head >> 3 & 15;
      passed += (head & 7) + 1;
      if (code == whole || code == without_columns) {
        line_ += signed_number();
      } else if (code >= first_of_one_line && code < without_columns) {
        line_ += static_cast<std::int32_t>(code - first_of_one_line);
      }
      if (unit < passed) return code == none ? 0 : line_;
      while (at_ < end_ && (read<unsigned char>(at_, 0) & 0x80) == 0) ++at_;
    }
    return 0;
  }

 private:
  [[nodiscard]] std::int32_t signed_number() noexcept {
    std::uint32_t number = 0;
    for (unsigned shift = 0; at_ < end_ && shift < 32; shift += 6) {
      const unsigned piece = read<unsigned char>(at_++, 0);
      number |= (piece & 63) << shift;
      if ((piece & 64) == 0) break;
    }
    const auto half = static_cast<std::int32_t>(number >> 1);
    return (number & 1) != 0 ? -half : half;
  }

  address at_;
  address end_;
  std::int32_t line_;
};

/// The addresses whose meaning the drain knows, by their low bits. Used by one thread at a time.
constexpr std::size_t most_known = std::size_t{1} << 15;
constinit std::uint64_t known[most_known] = {};
constinit const void* known_to = nullptr; ///< the texts that have them

/// Whether the drain of this process knows it.
[[nodiscard]] bool is_known(std::uint64_t python_frame) noexcept {
  return known_to == &recorded.texts().maps && known[python_frame % most_known] == python_frame;
}

/// Returns false if there is no room for it, or if another thread writes there.
[[nodiscard]] bool note_meaning(std::uint64_t python_frame, const text_line& meaning) noexcept {
  maps_text& maps = recorded.texts().maps;
  if (known_to != &maps) {
    std::memset(known, 0, sizeof known); // this is a forked child
    known_to = &maps;
  }
  std::uint64_t& place = known[python_frame % most_known];
  if (place == python_frame) return true;
  std::uint32_t idle = 0;
  if (!maps.busy.compare_exchange_strong(idle, 1, std::memory_order_acquire)) return false;
  text_line line;
  line.add("python ");
  line.add_hex(python_frame);
  line.add(' ');
  const std::uint32_t at = maps.bytes.load(std::memory_order_relaxed);
  const std::uint32_t bytes = line.bytes() + meaning.bytes();
  constexpr std::uint32_t left_for_maps = 256U << 10;
  const bool fits = at + bytes + left_for_maps < maps_text::most_bytes;
  if (fits) {
    std::memcpy(maps.text + at, line.text(), line.bytes());
    std::memcpy(maps.text + at + line.bytes(), meaning.text(), meaning.bytes());
    maps.bytes.store(at + bytes, std::memory_order_release);
    place = python_frame;
  }
  maps.busy.store(0, std::memory_order_release);
  return fits;
}

/// A frame that was seen before, so that its text need not be made again. Used by one thread at a
/// time.
struct seen_frame {
  std::uint64_t mark;
  std::uint64_t number;
};
constexpr std::size_t most_seen = std::size_t{1} << 12;
constinit seen_frame seen[most_seen] = {};

constexpr std::size_t text_hash = 24;

/// A mark of what the text of a frame is made of. A code object may be freed, and another one may
/// have its address: so its name, file, first line and table are in the mark, and of the two texts
/// their lengths, their hashes if Python has computed them, and the last signs of the file. 0 if
/// one of the texts is not ASCII, or not what its layout says.
[[nodiscard]] std::uint64_t mark_of(address code, address instruction, address lines) noexcept {
  std::uint64_t mark = 0xCBF2'9CE4'8422'2325;
  const auto add = [&](std::uint64_t number) {
    mark = (mark ^ number) * 0x9E37'79B9'7F4A'7C15;
    mark ^= mark >> 32;
  };
  add(code);
  add(instruction);
  add(lines);
  add(read<std::uint64_t>(lines, object_size));
  add(read<std::uint32_t>(code, python.layout->first_line));
  for (const std::size_t part : {code_name, code_file}) {
    const auto text = read<address>(code, part);
    if (!is_a(text, python.text_type)) return 0;
    const auto length = read<std::uint64_t>(text, object_size);
    constexpr std::uint32_t compact_ascii = 3U << 5;
    if ((read<std::uint32_t>(text, text_state) & compact_ascii) != compact_ascii) return 0;
    add(text);
    add(length);
    add(read<std::uint64_t>(text, text_hash));
    constexpr std::uint64_t last = sizeof(std::uint64_t);
    if (length >= last) add(read<std::uint64_t>(text, python.layout->text + length - last));
  }
  return mark;
}

/// The address of one frame; 0 if it is not what its layout says, or cannot be noted.
[[nodiscard]] std::uint64_t address_of_frame(address frame, address code) noexcept {
  const frame_layout& layout = *python.layout;
  const auto lines = read<address>(code, code_lines);
  if (!is_a(lines, python.bytes_type)) return 0;
  const auto instruction = read<address>(frame, layout.instruction);
  const std::uint64_t mark = mark_of(code, instruction, lines);
  seen_frame& before = seen[mark % most_seen];
  if (mark != 0 && before.mark == mark && is_known(before.number)) return before.number;
  const address begin = code + layout.code_units;
  const std::uint64_t unit = instruction < begin ? 0 : (instruction - begin) / 2;
  const std::int32_t line =
      line_table{lines, read<std::int32_t>(code, layout.first_line)}.line_of(unit);
  text_line meaning;
  meaning.add_text(read<address>(code, code_name));
  meaning.add('\t');
  meaning.add_text(read<address>(code, code_file));
  meaning.add(':');
  meaning.add_number(line > 0 ? static_cast<unsigned>(line) : 0);
  meaning.add('\n');
  const std::uint64_t number = python_address | (meaning.hash() & (python_address - 1));
  if (!note_meaning(number, meaning)) return 0;
  before = {mark, number};
  return number;
}

/// The frames of Python, the innermost first. Apart from its caller, so that threads without Python
/// need no stack for it.
[[gnu::noinline]] void read_frames(address thread, stack_trace& frames) noexcept {
  constexpr int most_steps = 1000;
  const frame_layout& layout = *python.layout;
  auto frame = read<address>(thread, layout.thread_frames);
  if (layout.is_holder && frame != 0) frame = read<address>(frame, layout.holder_current);
  for (int step = 0; frame != 0 && step < most_steps; ++step) {
    const auto code = read<address>(frame, layout.code);
    // Between the interpreter's own frames of C stand some that have no code.
    if (is_a(code, python.code_type)) {
      if (frames.count == stack_trace::most_frames) return;
      if (const std::uint64_t next = address_of_frame(frame, code); next != 0) {
        frames.frames[frames.count++] = next;
      }
    }
    frame = read<address>(frame, layout.previous);
  }
}

[[nodiscard]] bool is_interpreter(address place) noexcept {
  return place > python.loop_begin && place <= python.loop_end;
}

/// What stands below the innermost loop of the interpreter, the frames of Python, and what stands
/// above the outermost.
[[gnu::noinline]] void join(stack_trace& stack, const stack_trace& frames) noexcept {
  const stack_trace all = stack;
  int first = all.count > 0 ? 1 : 0; // the caller of malloc stays in any case
  while (first < all.count && !is_interpreter(all.frames[first])) ++first;
  int last = all.count;
  while (last > first && !is_interpreter(all.frames[last - 1])) --last;
  if (first == all.count) first = all.count > 0 ? 1 : 0; // the loop was not found
  stack.count = first;
  const auto add = [&](std::uint64_t place) {
    if (stack.count < stack_trace::most_frames) stack.frames[stack.count++] = place;
  };
  for (int i = 0; i < frames.count; ++i) add(frames.frames[i]);
  for (int i = last; i < all.count; ++i) add(all.frames[i]);
}

/// Returns: whether the frames of Python may be read: carefully if no loop of the interpreter is
/// on the stack, as far as it is known. A filter of the program may end it for a question.
[[nodiscard]] bool may_read(const stack_trace& stack) noexcept {
  for (int i = 0; i < stack.count; ++i) {
    if (is_interpreter(stack.frames[i])) {
      readable.trust_all();
      return true;
    }
  }
  readable.ask_anew();
  return !has_own_filter();
}

} // namespace

void leave_python_frames() noexcept {
  if (!busy.load(std::memory_order_relaxed)) return;
  python = {};
  looked_at = 0;
  std::memset(seen, 0, sizeof seen);
  known_to = nullptr;
  busy.store(false, std::memory_order_relaxed);
}

void add_python_frames(stack_trace& stack) noexcept {
  // Another thread, or the one that a signal handler has interrupted: the stack stays then.
  if (busy.exchange(true, std::memory_order_acquire)) return;
  find_interpreter();
  if (python.layout != nullptr) {
    // The lock of the interpreter is not needed: only this thread changes its own frames, and a
    // frame keeps its code alive. numpy allocates without the lock.
    if (const address thread = python.this_thread(); thread != 0 && may_read(stack)) {
      stack_trace frames;
      read_frames(thread, frames);
      if (frames.count != 0) join(stack, frames);
    }
  }
  busy.store(false, std::memory_order_release);
}

} // namespace heapwise::bench
