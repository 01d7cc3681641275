#include "drain/processes/module_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <set>
#include <vector>

#include "line/json_line.hpp"

namespace heapwise::bench {

namespace {

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
  constexpr std::uint32_t polynomial = 0xEDB8'8320;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) {
      rest = (rest & 1) != 0 ? rest >> 1 ^ polynomial : rest >> 1;
    }
    table[byte] = rest;
  }
  return table;
}

/// CRC-32 of IEEE 802.3, as zlib has it.
class checksum {
 public:
  void take(std::string_view bytes) noexcept {
    static constexpr auto table = make_table();
    for (const char each : bytes) {
      state_ = table[(state_ ^ static_cast<unsigned char>(each)) & 0xFFU] ^ state_ >> 8;
    }
  }
  [[nodiscard]] std::uint32_t value() const noexcept { return ~state_; }

 private:
  std::uint32_t state_ = 0xFFFF'FFFF;
};

struct address_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t read_address(std::string_view text) noexcept {
  std::uint64_t address = 0;
  std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return address;
}

/// Lines of the mappings, and the addresses of the build ids that stand before them.
std::set<std::string> paths_without_id(std::string_view maps) {
  constexpr std::string_view mark = "build-id ";
  std::vector<std::uint64_t> named;
  std::set<std::string> paths;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    if (line.starts_with(mark)) {
      named.push_back(read_address(line.substr(mark.size())));
      continue;
    }
    if (line.starts_with("python ")) continue; // a frame of Python, see python_frames.hpp
    const std::size_t path = line.find('/');
    const std::size_t dash = line.find('-');
    if (path == std::string_view::npos || dash == std::string_view::npos) continue;
    const address_range mapped{read_address(line), read_address(line.substr(dash + 1))};
    const bool has_id = std::ranges::any_of(named, [&](std::uint64_t address) {
      return address >= mapped.begin && address < mapped.end;
    });
    if (!has_id) paths.emplace(line.substr(path));
  }
  return paths;
}

} // namespace

std::string module_files_json(std::string_view maps) {
  std::string files = "[";
  for (const std::string& path : paths_without_id(maps)) {
    std::ifstream file{path, std::ios::binary};
    if (!file) continue;
    checksum sum;
    std::uint64_t bytes = 0;
    std::vector<char> piece(1U << 20);
    while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
           file.gcount() > 0) {
      const auto got = static_cast<std::size_t>(file.gcount());
      sum.take({piece.data(), got});
      bytes += got;
    }
    std::string buffer(path.size() * 6 + 128, '\0');
    json_line line{buffer.data(), buffer.size()};
    line.open('{').key("path").value(path).field("size", bytes).field("crc32", sum.value());
    line.close('}');
    files += (files.size() > 1 ? "," : "") + std::string{line.text()};
  }
  return files + "]";
}

} // namespace heapwise::bench
