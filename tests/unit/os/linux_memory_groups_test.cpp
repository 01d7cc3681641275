#include "os/memory_groups.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

namespace {

namespace files = std::filesystem;

/// A folder with control groups as the system shows them. It is gone at the end.
class memory_groups {
 public:
  memory_groups() {
    std::string name = (files::temp_directory_path() / "groups-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  memory_groups(const memory_groups&) = delete;
  memory_groups& operator=(const memory_groups&) = delete;
  ~memory_groups() { files::remove_all(folder_); }

  void write(const std::string& file, const std::string& text) const {
    files::create_directories(files::path{folder_ + file}.parent_path());
    std::ofstream{folder_ + file} << text << '\n';
  }
  /// Returns: whether memory is short for a process in the groups of these lines.
  [[nodiscard]] bool are_short(const std::string& lines) const {
    const std::string path = folder_ + "/lines";
    std::ofstream{path} << lines;
    return heapwise::os::memory_is_short(path.c_str(), folder_.c_str());
  }

 private:
  std::string folder_;
};

TEST_CASE("without groups that tell anything, memory is not short") {
  const memory_groups all;
  CHECK_FALSE(all.are_short(""));
  CHECK_FALSE(all.are_short("0::/a/b\n"));
  CHECK_FALSE(heapwise::os::memory_is_short("/nowhere", "/nowhere"));
}

TEST_CASE("memory is short if more than seven eighths of the lower limit are in use") {
  const memory_groups all;
  all.write("/a/memory.current", "880");
  all.write("/a/memory.max", "max");
  all.write("/a/memory.high", "max");
  CHECK_FALSE(all.are_short("0::/a\n"));
  all.write("/a/memory.max", "2000");
  CHECK_FALSE(all.are_short("0::/a\n"));
  all.write("/a/memory.high", "1000");
  CHECK(all.are_short("0::/a\n"));
  CHECK(all.are_short("0::/a/below\n"));
  all.write("/a/memory.current", "870");
  CHECK_FALSE(all.are_short("0::/a\n"));
}

TEST_CASE("files that nobody used lately do not make memory short") {
  const memory_groups all;
  all.write("/a/memory.current", "990");
  all.write("/a/memory.high", "1000");
  all.write("/a/memory.stat", "anon 100\ninactive_file 300\nactive_file 5");
  CHECK_FALSE(all.are_short("0::/a\n"));
  all.write("/a/memory.stat", "anon 100\nworkingset_inactive_file 300\nactive_file 5");
  CHECK(all.are_short("0::/a\n"));
}

TEST_CASE("memory is short if threads of the group wait for it a tenth of the time") {
  const memory_groups all;
  const std::string rest = " avg60=80.00 avg300=80.00 total=1\nfull avg10=50.00 avg60=0.00";
  all.write("/a/memory.pressure", "some avg10=9.99" + rest);
  CHECK_FALSE(all.are_short("0::/a\n"));
  all.write("/a/memory.pressure", "some avg10=10.00" + rest);
  CHECK(all.are_short("0::/a\n"));
}

TEST_CASE("memory is short in groups of version 1, too") {
  const memory_groups all;
  all.write("/memory/a/memory.limit_in_bytes", "1000");
  all.write("/memory/a/memory.usage_in_bytes", "900");
  const std::string lines = "5:cpu:/b\n4:memory:/a/b\n0::/\n";
  CHECK(all.are_short(lines));
  all.write("/memory/a/memory.usage_in_bytes", "800");
  CHECK_FALSE(all.are_short(lines));
}

} // namespace
