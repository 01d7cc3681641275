"""Reads a text into records, indexes them, and writes and reads them as JSON."""

import hashlib
import json
import sys
from collections import Counter, defaultdict


class Record:
    def __init__(self, number, line):
        self.number = number
        self.words = line.split()
        self.fields = {f"field{i}": word for i, word in enumerate(self.words)}


def main():
    records = [Record(number, line) for number, line in enumerate(sys.stdin)]
    index, pairs = defaultdict(list), Counter()
    for record in records:
        for word in record.words:
            index[word].append(record)
        pairs.update(zip(record.words, record.words[1:], strict=False))
    text = json.dumps([record.fields for record in records])
    again = json.loads(text)
    longest = sorted(index, key=lambda word: (-len(index[word]), word))[:50]
    for word in longest:
        print(word, len(index[word]), sum(record.number for record in index[word]))
    print(
        len(pairs), sum(len(fields) for fields in again), hashlib.sha256(text.encode()).hexdigest()
    )


main()
