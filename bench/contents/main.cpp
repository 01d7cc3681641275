// heapwise-contents: says what is in a trace, as JSON, and before it how far it has read.
//
//   heapwise-contents TRACE VERSION < PLACES
//
// A line before the JSON is a number: the share of the frames that was read, in percent.
//
// PLACES are the offsets of the frames of events, and of the live blocks of windows, in their
// order: numbers of 8 bytes. VERSION is that of the format.
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include "contents/contents.hpp"

namespace {

using namespace heapwise::bench;

/// Points of the curve of live bytes, about; python/heapwise/trace/contents.py has the same.
constexpr std::size_t most_points = 2000;

/// Says how many of the frames are read, once for each percent.
class progress {
 public:
  explicit progress(std::size_t frames) noexcept : frames_{frames} {}

  void at(std::size_t frame) {
    const std::size_t percent = 100 * frame / frames_;
    if (percent == percent_) return;
    percent_ = percent;
    std::printf("%zu\n", percent);
    std::fflush(stdout);
  }

 private:
  std::size_t frames_;
  std::size_t percent_ = 0;
};

std::vector<std::uint64_t> read_places() {
  std::vector<std::uint64_t> places;
  std::uint64_t place = 0;
  while (std::fread(&place, sizeof place, 1, stdin) == 1) places.push_back(place);
  return places;
}

struct damaged {
  std::string words;
  std::uint64_t frame = 0;
};

/// Reads all frames, up to the first one that is damaged.
class whole_reading {
 public:
  whole_reading(int file, std::uint32_t version) : file_{file}, contents_{version} {}

  damaged read(const std::vector<std::uint64_t>& places) {
    std::uint64_t number = 0;
    try {
      std::vector<std::uint64_t> events;
      for (const std::uint64_t place : places) {
        const frame_header frame = frame_content::header_at(file_, place);
        if (static_cast<frame_kind>(frame.kind) == frame_kind::live) {
          live_[frame.window] = place;
        } else {
          events.push_back(place);
        }
      }
      const std::size_t every = std::max<std::size_t>(1, events.size() / most_points);
      const std::size_t points =
          std::max<std::size_t>(1, most_points / std::max<std::size_t>(1, events.size()));
      progress told{events.size()};
      for (std::size_t i = 0; i < events.size(); ++i) {
        told.at(i);
        const frame_header frame = frame_content::header_at(file_, events[i]);
        number = frame.number;
        begin_window(frame.window, number);
        const bool is_noted = i % every == 0 || i + 1 == events.size();
        contents_.take(frame, content_.read(file_, frame, events[i]), is_noted ? points : 0);
        number = 0;
      }
    } catch (const trace_error& error) {
      return {error.what(), number};
    }
    return {};
  }

  trace_contents& contents() noexcept { return contents_; }

 private:
  void begin_window(std::uint32_t window, std::uint64_t& number) {
    const auto result = live_.find(window);
    if (result == live_.end()) return;
    const std::uint64_t before = number;
    const frame_header frame = frame_content::header_at(file_, result->second);
    number = frame.number;
    contents_.begin_window(frame, content_.read(file_, frame, result->second));
    live_.erase(result);
    number = before;
  }

  int file_;
  frame_content content_;
  trace_contents contents_;
  std::unordered_map<std::uint32_t, std::uint64_t> live_; ///< places by window
};

} // namespace

int main(int argc, char** argv) {
  const int file = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) {
    std::fprintf(stderr, "error E003: heapwise-contents TRACE VERSION < PLACES\n");
    return 2;
  }
  whole_reading reading{file, static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10))};
  const damaged damage = reading.read(read_places());
  reading.contents().end();
  reading.contents().print(damage.words.c_str(), damage.frame);
  return 0;
}
