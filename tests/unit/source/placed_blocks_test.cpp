// Sources of pages of a certain kind, as far as this machine has them.
#include <heapwise/source/huge_blocks.hpp>

#include <cstdint>
#include <cstring>

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <heapwise/pool.hpp>
#include <heapwise/source/node_blocks.hpp>

#include "smaps.hpp"

namespace {

using heapwise::huge_blocks;
using heapwise::node_blocks;

TEST_CASE("huge_blocks: whole huge pages, which the system was asked to use") {
  huge_blocks source;
  const std::size_t huge = source.granularity_bytes();
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  CHECK(huge == page * page / 8);
  void* const memory = source.allocate(huge + 1, 64);
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % huge == 0);
  std::memset(memory, 1, huge + 1);
  // "hg" is the advice. A kernel without transparent huge pages takes none.
  CHECK((!smaps::tells_huge_pages() || smaps::has_flag(memory, "hg")));
  source.purge(static_cast<char*>(memory) + 1, 2 * page);
  CHECK(static_cast<char*>(memory)[page] == 0);
  CHECK(static_cast<char*>(memory)[0] == 1);
  source.deallocate(memory, huge + 1, 64);
  CHECK(source.allocate(SIZE_MAX - 1, 64) == nullptr);
}

TEST_CASE("a pool over huge pages") {
  huge_blocks source;
  heapwise::pool<> blocks{
      {.block_size = 64, .block_count = 100, .growth = heapwise::growth::geometric}, source};
  for (int i = 0; i < 1000; ++i) std::memset(blocks.allocate(), 1, 64);
  CHECK(blocks.reserved_bytes() % source.granularity_bytes() == 0);
}

TEST_CASE("node_blocks: the policy of the pages names the node, or there is no memory") {
  const unsigned node = node_blocks::here();
  node_blocks source{node};
  CHECK(source.node() == node);
  int mode = -1;
  unsigned long nodes[16]{};
  constexpr unsigned long of_address = 2; // MPOL_F_ADDR
  void* const memory = source.allocate(100'000, 64);
  if (memory == nullptr) return; // a kernel without nodes, or one that forbids mbind
  std::memset(memory, 1, 100'000);
  if (::syscall(SYS_get_mempolicy, &mode, nodes, 1025ul, memory, of_address) == 0) {
    CHECK(mode == 2); // MPOL_BIND
    CHECK(nodes[node / 64] == 1ul << node % 64);
  }
  source.deallocate(memory, 100'000, 64);
  heapwise::pool<> blocks{{.block_size = 64, .block_count = 100}, source};
  CHECK(blocks.deallocate(blocks.allocate()));
}

TEST_CASE("node_blocks: a node that is not there has no memory") {
  for (const unsigned node : {1023u, 1024u, 1u << 20}) {
    node_blocks source{node};
    CHECK(source.allocate(4096, 64) == nullptr);
    CHECK_THROWS_AS((heapwise::pool<>{{.block_size = 64, .block_count = 1}, source}),
                    std::bad_alloc);
  }
}

} // namespace
