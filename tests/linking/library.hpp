// What a library with a copy of Heapwise inside gives to its program.
#pragma once

#include <cstddef>

struct library {
  void* (*create)(std::size_t block_count); // a pool
  void (*destroy)(void* blocks);
  void* (*take)(void* blocks);
  bool (*give)(void* blocks, void* block);
  std::size_t (*budget)(void* blocks);
  bool (*finds)(); // true if the library finds a cache in the table that its inlined code reads
};

extern "C" {
library first_library();
library second_library();
}
