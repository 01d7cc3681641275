// B1-22: a million random operations against a shadow. argv[2]: a seed other than the usual one.
#include "observe.hpp"
#include "shadow.hpp"

namespace {

using namespace conformance;

template <class Signature>
Signature* or_else(const char* name, Signature* other) {
  void* const symbol = dlsym(RTLD_DEFAULT, name);
  return symbol != nullptr ? reinterpret_cast<Signature*>(symbol) : other;
}

/// The functions that the process has. A C library without free_sized gets by with free.
struct of_process {
  static constexpr bool has_heaps = false;
  static void* malloc(std::size_t size) { return hidden(std::malloc(hidden(size))); }
  static void* calloc(std::size_t count, std::size_t size) {
    return hidden(std::calloc(hidden(count), hidden(size)));
  }
  static void* realloc(void* block, std::size_t size) {
    return hidden(std::realloc(hidden(block), hidden(size)));
  }
  static void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return hidden(::aligned_alloc(hidden(alignment), hidden(size)));
  }
  static int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
    return ::posix_memalign(hidden(block), hidden(alignment), hidden(size));
  }
  static void free(void* block) { std::free(hidden(block)); }
  static void free_sized(void* block, std::size_t size) {
    static const auto call =
        or_else<void(void*, std::size_t)>("free_sized", [](void* p, std::size_t) { std::free(p); });
    call(block, size);
  }
  static void free_aligned_sized(void* block, std::size_t alignment, std::size_t size) {
    static const auto call = or_else<void(void*, std::size_t, std::size_t)>(
        "free_aligned_sized", [](void* p, std::size_t, std::size_t) { std::free(p); });
    call(block, alignment, size);
  }
  static std::size_t usable_size(void* block) { return malloc_usable_size(hidden(block)); }
  static void purge() { malloc_trim(0); }
};

/// splitmix64, which repeats for its seed.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::size_t next(std::size_t limit) {
    return static_cast<std::size_t>(mixed(state_ += 0x9e3779b97f4a7c15U) % limit);
  }
  bool is_empty() const { return false; }

 private:
  std::uint64_t state_;
};

} // namespace

int main(int count, char** arguments) {
  introduce();
  random_numbers numbers(count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 22);
  static shadow<of_process, random_numbers> one(numbers);
  one.run(1'000'000);
  expect("B1-22", "a million random operations agree with their shadow", "yes", "yes");
  done("B1-22");
}
