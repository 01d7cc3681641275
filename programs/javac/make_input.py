"""Writes a Java file with classes, generic methods and lambdas.

Usage: make_input.py OUTPUT CLASSES
"""

from __future__ import annotations

import sys
from pathlib import Path

CLASS = """
  static final class Record{n}<T extends Comparable<T>> implements Comparable<Record{n}<T>> {{
    final T key;
    final Map<String, List<Integer>> places = new TreeMap<>();

    Record{n}(T key) {{ this.key = key; }}

    @Override public int compareTo(Record{n}<T> other) {{ return key.compareTo(other.key); }}

    static <T extends Comparable<T>> String show(List<Record{n}<T>> records) {{
      return records.stream().sorted().filter(r -> r.places.size() > {n})
          .collect(Collectors.groupingBy(
              r -> r.key.toString(), TreeMap::new, Collectors.counting()))
          .entrySet().stream().map(e -> e.getKey() + "=" + e.getValue())
          .collect(Collectors.joining(","));
    }}
  }}
"""


def main() -> int:
    output, classes = sys.argv[1:]
    text = "import java.util.*;\nimport java.util.stream.*;\n\nfinal class Records {\n"
    text += "".join(CLASS.format(n=n) for n in range(int(classes))) + "}\n"
    Path(output).write_text(text, encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
