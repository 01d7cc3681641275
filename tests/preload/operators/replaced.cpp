// A program that replaces one pair of operators, which puts a header before each block: the
// standard lets all operators that are derived from the pair call it. REPLACED: 0 new, 1 new[], 2
// new with alignment, 3 new[] with alignment. Prints which forms called the pair.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace {

long new_count = 0;
long delete_count = 0;

/// The address that the program's operators return lies inside of a block of malloc.
constexpr std::size_t header = 64;

[[maybe_unused]] void* make(std::size_t size, std::size_t alignment) {
  void* const block = std::aligned_alloc(alignment, (size + header + alignment - 1) & -alignment);
  if (block == nullptr) throw std::bad_alloc{};
  ++new_count;
  return static_cast<std::byte*>(block) + header;
}

[[maybe_unused]] void end(void* block) noexcept {
  if (block == nullptr) return;
  ++delete_count;
  std::free(static_cast<std::byte*>(block) - header);
}

} // namespace

#if REPLACED == 0
void* operator new(std::size_t size) { return make(size, 16); }
void operator delete(void* block) noexcept { end(block); }
#elif REPLACED == 1
void* operator new[](std::size_t size) { return make(size, 16); }
void operator delete[](void* block) noexcept { end(block); }
#elif REPLACED == 2
void* operator new(std::size_t size, std::align_val_t) { return make(size, 64); }
void operator delete(void* block, std::align_val_t) noexcept { end(block); }
#else
void* operator new[](std::size_t size, std::align_val_t) { return make(size, 64); }
void operator delete[](void* block, std::align_val_t) noexcept { end(block); }
#endif

namespace {

constexpr std::align_val_t wide{64};

void* seen(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

template <class New, class Delete>
void pair(const char* name, New make_it, Delete end_it) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{100000}}) {
    new_count = delete_count = 0;
    end_it(seen(make_it(size)), size);
    std::printf("%s of %zu: new %ld, delete %ld\n", name, size, new_count, delete_count);
  }
}

void single_forms() {
  pair(
      "plain", [](auto n) { return ::operator new(n); },
      [](void* p, auto) { ::operator delete(p); });
  pair(
      "sized", [](auto n) { return ::operator new(n); },
      [](void* p, auto n) { ::operator delete(p, n); });
  pair(
      "nothrow", [](auto n) { return ::operator new(n, std::nothrow); },
      [](void* p, auto) { ::operator delete(p, std::nothrow); });
  pair(
      "aligned", [](auto n) { return ::operator new(n, wide); },
      [](void* p, auto) { ::operator delete(p, wide); });
  pair(
      "aligned, sized", [](auto n) { return ::operator new(n, wide); },
      [](void* p, auto n) { ::operator delete(p, n, wide); });
  pair(
      "aligned, nothrow", [](auto n) { return ::operator new(n, wide, std::nothrow); },
      [](void* p, auto) { ::operator delete(p, wide, std::nothrow); });
}

void array_forms() {
  pair(
      "array", [](auto n) { return ::operator new[](n); },
      [](void* p, auto) { ::operator delete[](p); });
  pair(
      "array, sized", [](auto n) { return ::operator new[](n); },
      [](void* p, auto n) { ::operator delete[](p, n); });
  pair(
      "array, nothrow", [](auto n) { return ::operator new[](n, std::nothrow); },
      [](void* p, auto) { ::operator delete[](p, std::nothrow); });
  pair(
      "array, aligned", [](auto n) { return ::operator new[](n, wide); },
      [](void* p, auto) { ::operator delete[](p, wide); });
  pair(
      "array, aligned, sized", [](auto n) { return ::operator new[](n, wide); },
      [](void* p, auto n) { ::operator delete[](p, n, wide); });
  pair(
      "array, aligned, nothrow", [](auto n) { return ::operator new[](n, wide, std::nothrow); },
      [](void* p, auto) { ::operator delete[](p, wide, std::nothrow); });
}

/// The library of C++ itself allocates with one form, and frees with another.
void use_library() {
  new_count = delete_count = 0;
  std::vector<std::unique_ptr<std::string>> many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(
        std::make_unique<std::string>(std::to_string(i * 7919 % 1000) + std::string(40, 'x')));
  }
  std::stable_sort(many.begin(), many.end(), [](auto& a, auto& b) { return *a < *b; });
  many.clear();
  many.shrink_to_fit();
  std::printf("library: %s\n", new_count == delete_count ? "as many deletes as news"
                                                         : "not as many deletes as news");
}

} // namespace

int main() {
  single_forms();
  array_forms();
  use_library();
  std::fflush(stdout);
}
