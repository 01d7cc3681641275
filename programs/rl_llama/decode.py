"""Decodes tokens with a llama model on the processor, by ggml and llama.cpp.

Usage: decode.py MODEL TOKENS"""

import sys

from ctransformers import LLM
from rl_phase import begin, end

begin()

model = LLM(sys.argv[1], "llama")
asked = model.tokenize("some words that begin a text")
count = 0
for start in range(4):
    tokens = [*asked, 30 + start]
    for token in model.generate(tokens, top_k=1, threads=1, reset=True, seed=7):
        count += 1
        if count % (int(sys.argv[2]) // 4) == 0 or model.is_eos_token(token):
            break
print("tokens", count)
end()
