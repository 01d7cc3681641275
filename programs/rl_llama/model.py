"""Writes a llama model of random weights as a GGUF file, the form that llama.cpp reads.

Usage: model.py OUTPUT LAYERS"""

import struct
import sys
from pathlib import Path

import numpy

WIDTH, HEADS, INNER, CONTEXT = 256, 8, 704, 512
ALIGNMENT = 32
U32, F32, TEXT, ARRAY, I32 = 4, 6, 8, 9, 5


def text(words):
    coded = words.encode()
    return struct.pack("<Q", len(coded)) + coded


def number(value):
    return (
        struct.pack("<If", F32, value)
        if isinstance(value, float)
        else struct.pack("<II", U32, value)
    )


def array(kind, items, form):
    return struct.pack("<IIQ", ARRAY, kind, len(items)) + b"".join(form(each) for each in items)


def vocabulary():
    """Bytes, as llama's tokenizer names them, and some syllables."""
    words = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "\u2581"]
    words += [chr(letter) for letter in range(97, 123)]
    words += [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
    kinds = [2, 3, 3, *[6] * 256, *[1] * (len(words) - 259)]
    return words, kinds


def keys(layers):
    words, kinds = vocabulary()
    scores = [-float(place) for place in range(len(words))]
    found = {
        "general.architecture": struct.pack("<I", TEXT) + text("llama"),
        "general.name": struct.pack("<I", TEXT) + text("random"),
        "llama.context_length": number(CONTEXT),
        "llama.embedding_length": number(WIDTH),
        "llama.block_count": number(layers),
        "llama.feed_forward_length": number(INNER),
        "llama.rope.dimension_count": number(WIDTH // HEADS),
        "llama.attention.head_count": number(HEADS),
        "llama.attention.head_count_kv": number(HEADS),
        "llama.attention.layer_norm_rms_epsilon": number(1e-5),
        "tokenizer.ggml.model": struct.pack("<I", TEXT) + text("llama"),
        "tokenizer.ggml.tokens": array(TEXT, words, text),
        "tokenizer.ggml.scores": array(F32, scores, lambda score: struct.pack("<f", score)),
        "tokenizer.ggml.token_type": array(I32, kinds, lambda kind: struct.pack("<i", kind)),
        "tokenizer.ggml.bos_token_id": number(1),
        "tokenizer.ggml.eos_token_id": number(2),
        "tokenizer.ggml.unknown_token_id": number(0),
    }
    return found, len(words)


def tensors(layers, words):
    shapes = {"token_embd.weight": (words, WIDTH), "output_norm.weight": (WIDTH,)}
    shapes["output.weight"] = (words, WIDTH)
    for i in range(layers):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.{i}.{name}.weight"] = (WIDTH, WIDTH)
        for name in ("attn_norm", "ffn_norm"):
            shapes[f"blk.{i}.{name}.weight"] = (WIDTH,)
        shapes[f"blk.{i}.ffn_gate.weight"] = shapes[f"blk.{i}.ffn_up.weight"] = (INNER, WIDTH)
        shapes[f"blk.{i}.ffn_down.weight"] = (WIDTH, INNER)
    return shapes


def main():
    layers = int(sys.argv[2])
    found, words = keys(layers)
    shapes = tensors(layers, words)
    random = numpy.random.default_rng(7)
    head = b"GGUF" + struct.pack("<IQQ", 2, len(shapes), len(found))
    head += b"".join(text(name) + value for name, value in found.items())
    parts, place = [], 0
    for name, shape in shapes.items():
        head += text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", side) for side in reversed(shape))
        head += struct.pack("<IQ", 0, place)
        values = numpy.ones(shape) if len(shape) == 1 else random.normal(0, 0.05, shape)
        parts.append(values.astype("<f4").tobytes())
        place += len(parts[-1])
        assert place % ALIGNMENT == 0
    Path(sys.argv[1]).write_bytes(head + b"\0" * (-len(head) % ALIGNMENT) + b"".join(parts))


main()
