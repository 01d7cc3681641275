#include "launcher/memory/control_group.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "bench/fake_root.hpp"

namespace {

using heapwise::bench::control_group;

/// A group of version 2 below /sys/fs/cgroup that counts memory.
void make_group(const fake_root& root, const std::string& name) {
  root.write("/sys/fs/cgroup" + name + "/cgroup.controllers", "cpu memory pids");
  root.write("/sys/fs/cgroup" + name + "/memory.current", "4096");
}

std::string missing_of(const fake_root& root) {
  control_group group{root.path().c_str()};
  group.prepare();
  CHECK_FALSE(group.is_own());
  CHECK_FALSE(group.enter());
  return group.missing();
}

TEST_CASE("nobody says that a group is missing if nobody asked for one") {
  const control_group group;
  CHECK(group.missing() == nullptr);
  CHECK(std::string{group.folder()}.empty());
}

TEST_CASE("a system with version 1 alone has no group") {
  const fake_root root;
  root.write("/proc/self/cgroup", "4:memory:/box");
  CHECK(missing_of(root) == "no control group of version 2 can be seen here");
}

TEST_CASE("version 2 without the memory controller counts nothing") {
  const fake_root root;
  root.write("/proc/self/cgroup", "4:memory:/box\n0::/me");
  root.write("/sys/fs/cgroup/unified/me/cgroup.controllers", "cpu memory_other");
  CHECK(missing_of(root) == "its control group has no memory controller of version 2");
}

TEST_CASE("a group outside of what this container sees is not taken for another") {
  const fake_root root;
  make_group(root, "");
  root.write("/proc/self/cgroup", "0::/../other");
  CHECK(missing_of(root) == "no control group of version 2 can be seen here");
}

TEST_CASE("where none may be made, the group around the launcher is looked at") {
  const fake_root root;
  make_group(root, "/user/me");
  root.write("/proc/self/cgroup", "1:name=0::x:/y\n0::/user/me");
  control_group group{root.path().c_str()};
  group.prepare();
  CHECK(group.folder() == root.path() + "/sys/fs/cgroup/user/me");
  CHECK(group.missing() == std::string{"no control group may be made here: none is delegated"});
}

TEST_CASE("the root of all groups counts nothing of itself") {
  const fake_root root;
  root.write("/proc/self/cgroup", "0::/");
  root.write("/sys/fs/cgroup/cgroup.controllers", "memory");
  control_group group{root.path().c_str()};
  group.prepare();
  CHECK(std::string{group.folder()}.empty());
  CHECK(group.missing() != nullptr);
}

TEST_CASE("a group that cannot be entered is removed again") {
  const fake_root root;
  make_group(root, "/me");
  root.write("/proc/self/cgroup", "0::/me");
  root.write("/sys/fs/cgroup/me/cgroup.subtree_control", "memory");
  CHECK(missing_of(root).starts_with("a control group cannot be entered: "));
  const std::string folder = root.path() + "/sys/fs/cgroup/me/heapwise-";
  CHECK_FALSE(std::filesystem::exists(folder + std::to_string(::getpid())));
}

/// Returns: the number of a process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_CASE("groups that killed launchers left are removed, and no others") {
  const fake_root root;
  make_group(root, "/me");
  root.write("/proc/self/cgroup", "0::/me");
  root.write("/sys/fs/cgroup/me/cgroup.subtree_control", "memory");
  const std::string prefix = root.path() + "/sys/fs/cgroup/me/heapwise-";
  const std::string abandoned = prefix + std::to_string(ended_process());
  const std::string others[] = {prefix + std::to_string(::getppid()), prefix + "0",
                                prefix + "7-other", prefix + "box"};
  std::filesystem::create_directory(abandoned);
  for (const std::string& other : others) std::filesystem::create_directory(other);
  missing_of(root);
  CHECK_FALSE(std::filesystem::exists(abandoned));
  for (const std::string& other : others) CHECK(std::filesystem::exists(other));
}

TEST_CASE("a group whose parent is not delegated has no neighbour made for it") {
  const fake_root root;
  make_group(root, "/me");
  root.write("/sys/fs/cgroup/cgroup.subtree_control", "memory");
  root.write("/proc/self/cgroup", "0::/me");
  CHECK(missing_of(root) == "no control group may be made here: none is delegated");
}

} // namespace
