// A folder that stands for the root of the file system, for what reads files of the kernel.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <unistd.h>

class fake_root {
 public:
  fake_root() : path_{make()} {}
  ~fake_root() { std::filesystem::remove_all(path_); }
  fake_root(const fake_root&) = delete;
  fake_root& operator=(const fake_root&) = delete;

  void write(const std::string& file, std::string_view text) const {
    const std::filesystem::path whole = path_ + file;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream{whole} << text << '\n';
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  static std::string make() {
    std::string name = std::filesystem::temp_directory_path() / "root.XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    return name;
  }
  std::string path_;
};
