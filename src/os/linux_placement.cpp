#include "os/placement.hpp"

#include <climits>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/errno_keeper.hpp"
#include "os/os.hpp"

namespace heapwise::os {

// A page of page tables holds as many entries as addresses fit into it.
std::size_t huge_page_bytes() noexcept { return page_bytes() * (page_bytes() / sizeof(void*)); }

bool prefer_huge_pages(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keeper;
  return ::madvise(memory, size_bytes, MADV_HUGEPAGE) == 0;
}

bool collapse_pages(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keeper;
  constexpr int collapse = 25; // MADV_COLLAPSE, which headers before Linux 6.1 do not have
  return ::madvise(memory, size_bytes, collapse) == 0;
}

bool avoid_huge_pages(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keeper;
  return ::madvise(memory, size_bytes, MADV_NOHUGEPAGE) == 0;
}

bool bind_to_node(void* memory, std::size_t size_bytes, unsigned node) noexcept {
  const errno_keeper keeper;
  constexpr unsigned word_bits = sizeof(unsigned long) * CHAR_BIT;
  constexpr unsigned most_nodes = 1024; // of Linux
  if (node >= most_nodes) return false;
  unsigned long nodes[most_nodes / word_bits]{};
  nodes[node / word_bits] = 1ul << (node % word_bits);
  // The kernel reads one bit less than the number says.
  return ::syscall(SYS_mbind, memory, size_bytes, MPOL_BIND, nodes, most_nodes + 1ul, 0u) == 0;
}

unsigned current_node() noexcept {
  const errno_keeper keeper;
  unsigned processor = 0;
  unsigned node = 0;
  return ::syscall(SYS_getcpu, &processor, &node, nullptr) == 0 ? node : 0;
}

} // namespace heapwise::os
