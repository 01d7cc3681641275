"""tokenizers: byte pairs are learned from a text, which is then cut into tokens by two threads.

Usage: encode.py TEXT"""

import sys
from pathlib import Path

import tokenizers
from rl_phase import begin, end
from tokenizers import models, pre_tokenizers, trainers

begin()

lines = Path(sys.argv[1]).read_text(encoding="ascii").splitlines()
tokenizer = tokenizers.Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
trainer = trainers.BpeTrainer(vocab_size=4000, show_progress=False)
tokenizer.train_from_iterator(lines[: len(lines) // 4], trainer)
count = 0
for start in range(0, len(lines), 64):
    count += sum(len(each.ids) for each in tokenizer.encode_batch(lines[start : start + 64]))
print("tokens", tokenizer.get_vocab_size(), "cut", count > 12 * len(lines))
end()
