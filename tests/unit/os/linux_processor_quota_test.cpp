#include "os/processor_quota.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

namespace {

namespace files = std::filesystem;

/// A folder with control groups as the system shows them. It is gone at the end.
class groups {
 public:
  groups() {
    std::string name = (files::temp_directory_path() / "groups-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  groups(const groups&) = delete;
  groups& operator=(const groups&) = delete;
  ~groups() { files::remove_all(folder_); }

  void limit(const std::string& group, const std::string& quota) const {
    files::create_directories(folder_ + group);
    std::ofstream{folder_ + group + "/cpu.max"} << quota << '\n';
  }
  /// The same by files of version 1.
  void limit_older(const std::string& group, const std::string& quota,
                   const std::string& period = "100000") const {
    const std::string folder = folder_ + "/cpu" + group;
    files::create_directories(folder);
    std::ofstream{folder + "/cpu.cfs_quota_us"} << quota << '\n';
    std::ofstream{folder + "/cpu.cfs_period_us"} << period << '\n';
  }
  /// Returns: the quota of a process in the groups of these lines.
  [[nodiscard]] std::size_t quota_in(const std::string& lines) const {
    const std::string path = folder_ + "/lines";
    std::ofstream{path} << lines;
    return heapwise::os::processor_quota(path.c_str(), folder_.c_str());
  }

 private:
  std::string folder_;
};

TEST_CASE("the least of the quotas of a group and those above it counts, rounded up") {
  const groups all;
  all.limit("/a/b", "max 100000");
  CHECK(all.quota_in("0::/a/b\n") == SIZE_MAX);
  all.limit("/a", "250000 100000");
  CHECK(all.quota_in("0::/a/b\n") == 3);
  all.limit("/a/b", "50000 100000");
  CHECK(all.quota_in("0::/a/b\n") == 1);
  all.limit("", "400000 100000");
  CHECK(all.quota_in("0::/\n") == 4);
  CHECK(all.quota_in("0::/elsewhere/unseen\n") == 4); // a container sees its own groups only
}

TEST_CASE(
    "the line of version 2 is found among others, and without one the outermost group counts") {
  const groups all;
  all.limit("/a", "100000 100000");
  all.limit("/b", "200000 100000");
  CHECK(all.quota_in("3:cpu,cpuacct:/a\n0::/b\n1:name=systemd:/a\n") == 2);
  CHECK(all.quota_in("3:cpu:/a\n") == SIZE_MAX);
  CHECK(all.quota_in("0::/b") == 2);
  CHECK(all.quota_in("") == SIZE_MAX);
}

TEST_CASE("groups of version 1 count, too") {
  const groups all;
  all.limit_older("/a/b", "-1");
  const std::string lines = "5:cpuset:/b\n4:cpu,cpuacct:/a/b\n1:name=systemd:/c\n0::/\n";
  CHECK(all.quota_in(lines) == SIZE_MAX);
  all.limit_older("/a", "150000");
  CHECK(all.quota_in(lines) == 2);
  CHECK(all.quota_in("4:cpuacct,cpu:/a\n") == 2);
  CHECK(all.quota_in("4:cpuset:/a\n") == SIZE_MAX);
  all.limit_older("/a", "150000", "0");
  CHECK(all.quota_in(lines) == SIZE_MAX);
  all.limit_older("", "400000");
  CHECK(all.quota_in("4:cpu:/unseen\n") == 4); // a container sees its own groups only
  all.limit("", "300000 100000");
  CHECK(all.quota_in(lines) == 3);
}

TEST_CASE("files that cannot be read or understood do not limit anything") {
  const groups all;
  CHECK(heapwise::os::processor_quota("/nowhere", "/nowhere") == SIZE_MAX);
  for (const char* text : {"", "200000", "-1 100000", "200000 ", "200000 0", "x y"}) {
    all.limit("/a", text);
    CHECK(all.quota_in("0::/a\n") == SIZE_MAX);
  }
  CHECK(heapwise::os::processor_quota() >= 1); // those of this process, whatever they are
}

} // namespace
