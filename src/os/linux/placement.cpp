#include "os/placement.hpp"

#include <climits>

#include <linux/mempolicy.h>
#include <sys/mman.h>

#include "os/linux/system_call.hpp"
#include "os/os.hpp"

namespace heapwise::os {

// A page of page tables holds as many entries as addresses fit into it.
std::size_t huge_page_bytes() noexcept { return page_bytes() * (page_bytes() / sizeof(void*)); }

bool prefer_huge_pages(void* memory, std::size_t size_bytes) noexcept {
  return system_call(SYS_madvise, memory, size_bytes, MADV_HUGEPAGE).succeeded();
}

bool collapse_pages(void* memory, std::size_t size_bytes) noexcept {
  constexpr int collapse = 25; // MADV_COLLAPSE, which headers before Linux 6.1 do not have
  return system_call(SYS_madvise, memory, size_bytes, collapse).succeeded();
}

bool avoid_huge_pages(void* memory, std::size_t size_bytes) noexcept {
  return system_call(SYS_madvise, memory, size_bytes, MADV_NOHUGEPAGE).succeeded();
}

bool bind_to_node(void* memory, std::size_t size_bytes, unsigned node) noexcept {
  constexpr unsigned word_bits = sizeof(unsigned long) * CHAR_BIT;
  constexpr unsigned most_nodes = 1024; // of Linux
  if (node >= most_nodes) return false;
  unsigned long nodes[most_nodes / word_bits]{};
  nodes[node / word_bits] = 1ul << (node % word_bits);
  // The kernel reads one bit less than the number says.
  return system_call(SYS_mbind, memory, size_bytes, MPOL_BIND, nodes, most_nodes + 1ul, 0)
      .succeeded();
}

unsigned current_node() noexcept {
  unsigned processor = 0;
  unsigned node = 0;
  return system_call(SYS_getcpu, &processor, &node, nullptr).succeeded() ? node : 0;
}

} // namespace heapwise::os
