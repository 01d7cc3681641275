"""Writes a C++ file that uses much of the standard library, and has classes of its own.

Usage: make_input.py OUTPUT CLASSES
"""

from __future__ import annotations

import sys
from pathlib import Path

HEAD = """\
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
"""

CLASS = """
struct record_{n} {{
  std::string name;
  std::map<std::string, std::vector<int>> places;
  std::variant<int, double, std::string> value;
}};
std::string show_{n}(std::vector<std::unique_ptr<record_{n}>> const& records) {{
  std::unordered_map<std::string, int> counts;
  std::ostringstream out;
  for (auto const& each : records) {{
    counts[each->name] += static_cast<int>(each->places.size()) + {n};
    std::visit([&](auto const& value) {{ out << value << ' '; }}, each->value);
  }}
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(),
            [](auto const& a, auto const& b) {{ return a.second < b.second; }});
  for (auto const& [name, count] : sorted) out << name << count;
  return out.str();
}}
"""


def main() -> int:
    output, classes = sys.argv[1:]
    text = HEAD + "".join(CLASS.format(n=n) for n in range(int(classes)))
    Path(output).write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
