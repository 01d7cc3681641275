// System calls that no other library can intercept. A profiler or a library that is preloaded may
// replace `mmap`, `prctl` or `syscall` itself, and may allocate in there, wait for the loader, or
// use thread-local variables that a bare thread does not have (docs/design/heap.md#system-calls).
// errno is not touched.
#pragma once

#include <cstddef>
#include <type_traits>

#include <sys/syscall.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <unistd.h>
#include <cerrno>
#endif

namespace heapwise::os {

/// What the system answered: a value, or the number of an error.
class system_answer {
 public:
  constexpr explicit system_answer(long raw) noexcept : raw_{raw} {}

  [[nodiscard]] constexpr bool succeeded() const noexcept {
    constexpr unsigned long most_errors = 4095;
    return static_cast<unsigned long>(raw_) <= ~most_errors;
  }

  /// Returns: as errno; 0 if there was no error.
  [[nodiscard]] constexpr int error() const noexcept {
    return succeeded() ? 0 : static_cast<int>(-raw_);
  }

  /// Returns: the value; a negative number after an error.
  [[nodiscard]] constexpr long value() const noexcept { return raw_; }

  /// Returns: the value as an address; nullptr after an error.
  [[nodiscard]] std::byte* address() const noexcept {
    return succeeded() ? reinterpret_cast<std::byte*>(raw_) : nullptr;
  }

 private:
  long raw_;
};

namespace call_words {

constexpr long word(std::nullptr_t) noexcept { return 0; }

inline long word(const volatile void* address) noexcept { return reinterpret_cast<long>(address); }

template <typename Number>
  requires(std::is_integral_v<Number> || std::is_enum_v<Number>)
constexpr long word(Number number) noexcept {
  return static_cast<long>(number);
}

#if defined(__x86_64__)

inline long call(long number, long a, long b, long c, long d, long e, long f) noexcept {
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory", "cc");
  return result;
}

#elif defined(__aarch64__)

inline long call(long number, long a, long b, long c, long d, long e, long f) noexcept {
  register long which asm("x8") = number;
  register long result asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  register long sixth asm("x5") = f;
  asm volatile("svc #0"
               : "+r"(result)
               : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
               : "memory", "cc");
  return result;
}

#else

inline long call(long number, long a, long b, long c, long d, long e, long f) noexcept {
  const int saved = errno;
  const long result = ::syscall(number, a, b, c, d, e, f);
  const long answered = result == -1 ? -errno : result;
  errno = saved;
  return answered;
}

#endif

} // namespace call_words

/// Effects: asks the system, at once. Returns: its answer. Arguments that are not given are 0.
/// Requires: the arguments are as the system call wants them, up to six. Thread safety: all.
template <typename... Arguments>
  requires(sizeof...(Arguments) <= 6)
system_answer system_call(long number, Arguments... arguments) noexcept {
  const long words[6] = {call_words::word(arguments)...};
  return system_answer{
      call_words::call(number, words[0], words[1], words[2], words[3], words[4], words[5])};
}

} // namespace heapwise::os
