#include "drain/frames/trace_writer.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace heapwise::bench;

namespace {

/// No file may get larger while this one lives, as on a disk that is full.
class file_limit {
 public:
  explicit file_limit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    old_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit now = before_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~file_limit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_);
  }
  file_limit(const file_limit&) = delete;
  file_limit& operator=(const file_limit&) = delete;

 private:
  rlimit before_{};
  void (*old_)(int) = nullptr;
};

struct written_file {
  std::string text;
  std::uint64_t kept_events;
  bool ok;
};

constexpr int frames = 6;
constexpr std::uint32_t events_per_frame = 100;

/// A trace with frames that do not compress, on a disk of this size.
[[nodiscard]] written_file trace_within(rlim_t bytes) {
  std::string path = "/tmp/heapwise-writer-XXXXXX";
  close(mkstemp(path.data()));
  written_file result{};
  {
    const file_limit full{bytes};
    size_budget budget{1U << 22};
    frame_compressor compressor;
    trace_writer file{path, budget, compressor};
    REQUIRE(file.begin("{}"));
    std::uint32_t random = 1;
    for (int i = 0; i < frames; ++i) {
      std::vector<unsigned char> raw(300);
      for (unsigned char& each : raw) {
        random = random * 1664525 + 1013904223;
        each = static_cast<unsigned char>(random >> 24);
      }
      frame_header about{};
      about.count = events_per_frame;
      file.write_events(about, raw, false);
    }
    file.finish(std::string(200, 'm'), [&] { return std::to_string(file.kept_events()); });
    result.kept_events = file.kept_events();
    result.ok = file.ok();
  }
  std::ifstream stream{path, std::ios::binary};
  result.text.assign(std::istreambuf_iterator<char>{stream}, {});
  unlink(path.c_str());
  return result;
}

/// Whether index and trailer are there, and each frame that the index names.
[[nodiscard]] bool is_whole(const std::string& text) {
  file_trailer end{};
  if (text.size() < sizeof end) return false;
  std::memcpy(&end, text.data() + text.size() - sizeof end, sizeof end);
  const std::size_t index_bytes = end.count * sizeof(std::uint64_t);
  if (end.magic != trailer_magic) return false;
  if (end.index_offset + index_bytes + sizeof end != text.size()) return false;
  if (end.hash != header_hash(text.data() + end.index_offset, index_bytes)) return false;
  for (std::uint64_t i = 0; i < end.count; ++i) {
    std::uint64_t at = 0;
    std::memcpy(&at, text.data() + end.index_offset + i * sizeof at, sizeof at);
    frame_header frame{};
    if (at + sizeof frame > end.index_offset) return false;
    std::memcpy(&frame, text.data() + at, sizeof frame);
    if (frame.magic != frame_magic) return false;
    if (at + sizeof frame + frame.stored_bytes > end.index_offset) return false;
  }
  return true;
}

} // namespace

TEST_CASE("a trace on a full disk gives up its last frames for its end") {
  const written_file whole = trace_within(RLIM_INFINITY);
  REQUIRE(whole.ok);
  REQUIRE(is_whole(whole.text));
  REQUIRE(whole.kept_events == frames * events_per_frame);
  const written_file none = trace_within(64);
  CHECK(!none.ok);
  std::uint64_t most = 0;
  for (std::size_t room = 700; room < whole.text.size(); ++room) {
    const written_file cut = trace_within(room);
    CAPTURE(room);
    CHECK(!cut.ok);
    CHECK(is_whole(cut.text));
    CHECK(cut.text.size() <= room);
    CHECK(cut.kept_events >= most); // more room, more events
    most = cut.kept_events;
  }
  CHECK(most == (frames - 1) * events_per_frame);
}
