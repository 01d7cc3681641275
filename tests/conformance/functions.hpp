// Every function that a replacement of malloc has to bring, as the file that includes this sees it:
// the main program and a library that is loaded later must see the same ones.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

extern "C" {
void free_sized(void*, std::size_t) __attribute__((weak));
void free_aligned_sized(void*, std::size_t, std::size_t) __attribute__((weak));
}

namespace conformance {

struct function {
  const char* name;
  void* address;
};

template <class Signature>
void* address_of(Signature* function) {
  return reinterpret_cast<void*>(function);
}

using size = std::size_t;
using align = std::align_val_t;
using nothrow = const std::nothrow_t&;

/// Returns: the functions, ended by one without a name. The address is NULL where there is none.
inline const function* functions() {
  static const function all[] = {
      {"malloc", address_of(&std::malloc)},
      {"free", address_of(&std::free)},
      {"calloc", address_of(&std::calloc)},
      {"realloc", address_of(&std::realloc)},
      {"aligned_alloc", address_of(&::aligned_alloc)},
      {"free_sized", address_of(&free_sized)},
      {"free_aligned_sized", address_of(&free_aligned_sized)},
      {"malloc_usable_size", address_of(&malloc_usable_size)},
      {"memalign", address_of(&memalign)},
      {"posix_memalign", address_of(&posix_memalign)},
      {"pvalloc", address_of(&pvalloc)},
      {"valloc", address_of(&valloc)},
      {"new", address_of<void*(size)>(&::operator new)},
      {"new[]", address_of<void*(size)>(&::operator new[])},
      {"nothrow new", address_of<void*(size, nothrow) noexcept>(&::operator new)},
      {"nothrow new[]", address_of<void*(size, nothrow) noexcept>(&::operator new[])},
      {"aligned new", address_of<void*(size, align)>(&::operator new)},
      {"aligned new[]", address_of<void*(size, align)>(&::operator new[])},
      {"aligned nothrow new", address_of<void*(size, align, nothrow) noexcept>(&::operator new)},
      {"aligned nothrow new[]",
       address_of<void*(size, align, nothrow) noexcept>(&::operator new[])},
      {"delete", address_of<void(void*) noexcept>(&::operator delete)},
      {"delete[]", address_of<void(void*) noexcept>(&::operator delete[])},
      {"sized delete", address_of<void(void*, size) noexcept>(&::operator delete)},
      {"sized delete[]", address_of<void(void*, size) noexcept>(&::operator delete[])},
      {"nothrow delete", address_of<void(void*, nothrow) noexcept>(&::operator delete)},
      {"nothrow delete[]", address_of<void(void*, nothrow) noexcept>(&::operator delete[])},
      {"aligned delete", address_of<void(void*, align) noexcept>(&::operator delete)},
      {"aligned delete[]", address_of<void(void*, align) noexcept>(&::operator delete[])},
      {"aligned sized delete", address_of<void(void*, size, align) noexcept>(&::operator delete)},
      {"aligned sized delete[]",
       address_of<void(void*, size, align) noexcept>(&::operator delete[])},
      {"aligned nothrow delete",
       address_of<void(void*, align, nothrow) noexcept>(&::operator delete)},
      {"aligned nothrow delete[]",
       address_of<void(void*, align, nothrow) noexcept>(&::operator delete[])},
      {nullptr, nullptr}};
  return all;
}

} // namespace conformance
