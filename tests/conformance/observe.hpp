// How the programs of this folder say what they saw: one line a row, fields parted by tabs,
//
//   id  what  value  required  why
//
// `required` is what Heapwise promises, empty where nothing is promised; `why` is given where the
// promise is stricter than what the C library of the host does. Nothing here allocates: what is
// watched is the allocator.
#pragma once

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

namespace conformance {

/// Returns: the value, which the compiler knows nothing of any more, nor of any memory: calls of
/// malloc that depend on it are neither folded nor left out.
template <class T>
T hidden(T value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

inline void row(const char* id, const char* what, const char* value, const char* required,
                const char* why) {
  char line[1024];
  const int length =
      std::snprintf(line, sizeof line, "%s\t%s\t%s\t%s\t%s\n", id, what, value, required, why);
  if (::write(STDOUT_FILENO, line, static_cast<std::size_t>(length)) != length) std::abort();
}

/// What is promised.
inline void expect(const char* id, const char* what, const char* value, const char* required) {
  row(id, what, value, required, "");
}

/// What is promised although the host's C library does not.
inline void stricter(const char* id, const char* what, const char* value, const char* required,
                     const char* why) {
  row(id, what, value, required, why);
}

/// What is only written down.
inline void observe(const char* id, const char* what, const char* value) {
  row(id, what, value, "", "");
}

/// All rows of the item are out: a program that dies later has not failed this one.
inline void done(const char* id) { row(id, "done", "yes", "yes", ""); }

inline const char* yes_or_no(bool yes) { return yes ? "yes" : "no"; }

inline const char* error_name(int error) {
  switch (error) {
    case 0:
      return "0";
    case EINVAL:
      return "EINVAL";
    case ENOMEM:
      return "ENOMEM";
    case EOVERFLOW:
      return "EOVERFLOW";
    default:
      return std::strerror(error);
  }
}

/// What a call gave back, and what it left in errno.
struct answer {
  void* block = nullptr;
  int error = 0;
};

/// Returns: what call() gave, called with errno 0.
template <class Call>
answer ask(const Call& call) {
  errno = 0;
  void* const block = hidden(call());
  return {block, errno};
}

/// Returns: "block", or "NULL, " and the error. Frees the block.
inline const char* settled(answer got) {
  static char text[64];
  if (got.block != nullptr) {
    std::free(got.block);
    return "block";
  }
  std::snprintf(text, sizeof text, "NULL, %s", error_name(got.error));
  return text;
}

/// One value for many questions: what all of them answered, or the first that answered otherwise.
class consensus {
 public:
  void add(const char* value, const char* format, ...) __attribute__((format(printf, 3, 4))) {
    if (count_++ == 0) std::snprintf(common_, sizeof common_, "%s", value);
    if (other_[0] != '\0' || std::strcmp(common_, value) == 0) return;
    char where[128];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    std::snprintf(other_, sizeof other_, "%s, but %s for %s", common_, value, where);
  }

  const char* text() const { return other_[0] != '\0' ? other_ : common_; }

 private:
  std::size_t count_ = 0;
  char common_[128] = "nothing was asked";
  char other_[384] = "";
};

/// Effects: writes a pattern that depends on every position and on the tag.
inline void fill(void* block, std::size_t bytes, std::uint64_t tag) {
  auto* const at = static_cast<unsigned char*>(block);
  for (std::size_t i = 0; i < bytes; ++i) {
    at[i] = static_cast<unsigned char>((i * 31 + (i >> 8)) ^ tag);
  }
}

/// Returns: the first `bytes` are as fill() left them.
inline bool filled(const void* block, std::size_t bytes, std::uint64_t tag) {
  const auto* const at = static_cast<const unsigned char*>(block);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] != static_cast<unsigned char>((i * 31 + (i >> 8)) ^ tag)) return false;
  }
  return true;
}

inline bool is_zero(const void* block, std::size_t bytes) {
  const auto* const at = static_cast<const unsigned char*>(block);
  return bytes == 0 || (at[0] == 0 && std::memcmp(at, at + 1, bytes - 1) == 0);
}

inline bool is_aligned(const void* block, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

/// Returns: what of this process is in memory now. Allocates nothing.
inline std::size_t resident_bytes() {
  char text[128] = "";
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::read(file, text, sizeof text - 1) <= 0) std::abort();
  ::close(file);
  char* after_size = nullptr;
  std::strtoul(text, &after_size, 10);
  return std::strtoul(after_size, nullptr, 10) * static_cast<std::size_t>(::getpagesize());
}

/// Returns: the file that defines the symbol as this program finds it, "" when there is none.
inline const char* provider(const char* symbol) {
  void* const address = dlsym(RTLD_DEFAULT, symbol);
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fname : "";
}

/// The first row of every program: whose malloc it runs on. The driver compares it with the library
/// that it preloaded, so that one that was not loaded is not taken for one that behaves.
inline void introduce() { observe("program", "malloc", provider("malloc")); }

} // namespace conformance
