#include "sources/memory_groups.hpp"

#include <cstdint>

#include <doctest/doctest.h>

#include "bench/fake_root.hpp"

namespace {

using heaps::left_in_groups;

TEST_CASE("without a control group, or without a limit, all memory may be used") {
  const fake_root root;
  CHECK(left_in_groups(root.path()) == UINT64_MAX);
  root.write("/proc/self/cgroup", "0::/user/me");
  CHECK(left_in_groups(root.path()) == UINT64_MAX);
  root.write("/sys/fs/cgroup/user/memory.max", "max");
  CHECK(left_in_groups(root.path()) == UINT64_MAX);
}

TEST_CASE("the limit of a group around the own one counts, less what is in use") {
  const fake_root root;
  root.write("/proc/self/cgroup", "0::/user/me");
  root.write("/sys/fs/cgroup/user/me/memory.max", "5000");
  CHECK(left_in_groups(root.path()) == 5000);
  root.write("/sys/fs/cgroup/user/memory.max", "3000");
  root.write("/sys/fs/cgroup/user/memory.current", "1000");
  CHECK(left_in_groups(root.path()) == 2000);
  root.write("/sys/fs/cgroup/user/memory.current", "4000");
  CHECK(left_in_groups(root.path()) == 0);
}

TEST_CASE("a container sees its own group as the root") {
  const fake_root root;
  root.write("/proc/self/cgroup", "0::/");
  root.write("/sys/fs/cgroup/memory.max", "2147483648");
  root.write("/sys/fs/cgroup/memory.current", "1048576");
  CHECK(left_in_groups(root.path()) == 2147483648 - 1048576);
}

TEST_CASE("files that the system may drop are not in use") {
  const fake_root root;
  root.write("/proc/self/cgroup", "0::/");
  root.write("/sys/fs/cgroup/memory.max", "1000");
  root.write("/sys/fs/cgroup/memory.current", "900");
  root.write("/sys/fs/cgroup/memory.stat", "anon 100\nfile 800\ninactive_file 750\nslab 3");
  CHECK(left_in_groups(root.path()) == 850);
}

TEST_CASE("the hierarchy of older systems is read") {
  const fake_root root;
  root.write("/proc/self/cgroup", "12:cpu:/x\n4:memory:/box\n0::/x");
  root.write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "900");
  root.write("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "100");
  CHECK(left_in_groups(root.path()) == 800);
}

} // namespace
