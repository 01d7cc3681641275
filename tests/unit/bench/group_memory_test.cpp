#include "launcher/memory/group_memory.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "bench/fake_root.hpp"

namespace {

using heapwise::bench::control_group;
using heapwise::bench::group_memory;

constexpr std::uint64_t millisecond_ns = 1'000'000;

/// The group around the launcher: one that is made cannot be faked.
class fake_group {
 public:
  fake_group() {
    root_.write("/proc/self/cgroup", "0::/user/me");
    write("cgroup.controllers", "memory");
    has(0);
    group_.prepare();
  }

  void write(const std::string& name, const std::string& text) const {
    root_.write("/sys/fs/cgroup/user/me/" + name, text);
  }
  void write_around(const std::string& name, const std::string& text) const {
    root_.write("/sys/fs/cgroup/user/" + name, text);
  }
  void has(std::uint64_t kib) const { write("memory.current", std::to_string(kib * 1024)); }
  [[nodiscard]] const control_group& group() const { return group_; }

 private:
  fake_root root_;
  control_group group_{root_.path().c_str()};
};

std::string written(const group_memory& memory) {
  char buffer[4096];
  heapwise::bench::json_line line{buffer, sizeof buffer};
  memory.write(line);
  return std::string{line.text()};
}

bool has(const group_memory& memory, const std::string& member) {
  const std::string text = written(memory);
  const bool has_member = text.find(member) != std::string::npos;
  if (!has_member) MESSAGE(text);
  return has_member;
}

TEST_CASE("nothing is written of a group that nobody asked for") {
  const control_group nowhere;
  group_memory memory{nowhere};
  memory.begin(0);
  memory.look(1);
  memory.end();
  CHECK(written(memory) == "null");
}

TEST_CASE("a figure that this kernel does not have is null") {
  const fake_group fake;
  group_memory memory{fake.group()};
  memory.begin(0);
  memory.end();
  for (const char* name :
       {"peak_kib", "most_kib", "parts_at_ms", "anonymous_kib", "limit_kib", "kills"}) {
    CHECK(has(memory, '"' + std::string{name} + "\":null"));
  }
}

TEST_CASE("the parts are of a moment near the largest look") {
  const fake_group fake;
  fake.has(1000);
  group_memory memory{fake.group()};
  memory.begin(7000);
  fake.write("memory.stat",
             "anon 1048576\nfile 2048\nkernel 4096\nsock 0\nshmem 1024\n"
             "inactive_anon 9\ninactive_file 3072");
  fake.has(2000);
  memory.look(60 * millisecond_ns);
  fake.write("memory.stat", "anon 5242880\nfile 0");
  fake.has(2100); // grown by less than a sixteenth
  memory.look(70 * millisecond_ns);
  CHECK(has(memory, R"("own":false,"entering_us":7,"before_kib":1000)"));
  CHECK(has(memory, R"("most_kib":2100,"parts_at_ms":60,"parts_kib":2000)"));
  CHECK(has(memory, R"("anonymous_kib":1024,"file_kib":2,"shared_memory_kib":1,)"
                    R"("inactive_file_kib":3,"kernel_kib":4,"socket_kib":0)"));
  fake.has(8000);
  memory.look(80 * millisecond_ns);
  fake.has(100);
  memory.look(90 * millisecond_ns);
  CHECK(has(memory, R"("most_kib":8000,"parts_at_ms":80,"parts_kib":8000)"));
  CHECK(has(memory, R"("anonymous_kib":5120,"file_kib":0,"shared_memory_kib":null)"));
}

TEST_CASE("the least limit around the program, and the kills since its start, are reported") {
  const fake_group fake;
  fake.write("memory.max", "max");
  fake.write_around("memory.max", "67108864");
  fake.write("memory.events", "low 0\nhigh 0\nmax 5\noom 2\noom_kill 2\noom_group_kill 0");
  group_memory memory{fake.group()};
  memory.begin(0);
  fake.write("memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 3\noom_group_kill 0");
  fake.write("memory.peak", "3145728");
  memory.end();
  CHECK(has(memory, R"("peak_kib":3072)"));
  CHECK(has(memory, R"("limit_kib":65536,"kills":1})"));
}

} // namespace
