"""A GGUF model of a few thousand random weights, written in milliseconds: llama.cpp runs it like any other."""

from __future__ import annotations

import random
import struct
from pathlib import Path

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
ALIGNMENT = 32
EMBEDDING, HEADS, FEED_FORWARD, TRAINED_CTX = 32, 2, 64, 8192
UNKNOWN, CONTROL, BYTE = 2, 3, 6  # token types

TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
TYPES = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256]


def write(path: Path, seed: int = 0) -> None:
    """A llama with one layer and a token per byte."""
    metadata = b"".join(
        [
            _pair("general.architecture", STRING, _string("llama")),
            _pair("llama.context_length", U32, struct.pack("<I", TRAINED_CTX)),
            _pair("llama.embedding_length", U32, struct.pack("<I", EMBEDDING)),
            _pair("llama.block_count", U32, struct.pack("<I", 1)),
            _pair("llama.feed_forward_length", U32, struct.pack("<I", FEED_FORWARD)),
            _pair("llama.attention.head_count", U32, struct.pack("<I", HEADS)),
            _pair("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
            _pair("tokenizer.ggml.model", STRING, _string("llama")),
            _pair("tokenizer.ggml.tokens", ARRAY, _array(STRING, [_string(token) for token in TOKENS])),
            _pair("tokenizer.ggml.scores", ARRAY, _array(F32, [struct.pack("<f", 0.0)] * len(TOKENS))),
            _pair("tokenizer.ggml.token_type", ARRAY, _array(I32, [struct.pack("<i", kind) for kind in TYPES])),
            _pair("tokenizer.ggml.bos_token_id", U32, struct.pack("<I", 1)),
            _pair("tokenizer.ggml.add_space_prefix", BOOL, b"\0"),  # there is no token for the prefix
            _pair("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 2)),
        ]
    )
    shapes = {
        "token_embd.weight": (EMBEDDING, len(TOKENS)),
        "output_norm.weight": (EMBEDDING,),
        "blk.0.attn_norm.weight": (EMBEDDING,),
        "blk.0.ffn_norm.weight": (EMBEDDING,),
        **{f"blk.0.attn_{each}.weight": (EMBEDDING, EMBEDDING) for each in ("q", "k", "v", "output")},
        "blk.0.ffn_gate.weight": (EMBEDDING, FEED_FORWARD),
        "blk.0.ffn_up.weight": (EMBEDDING, FEED_FORWARD),
        "blk.0.ffn_down.weight": (FEED_FORWARD, EMBEDDING),
    }
    draw = random.Random(seed)
    tensors, data = b"", b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        tensors += _string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += _aligned(struct.pack(f"<{count}f", *(draw.gauss(0, 0.1) for _ in range(count))))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), 14)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_aligned(head + metadata + tensors) + data)


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _pair(key: str, kind: int, value: bytes) -> bytes:
    return _string(key) + struct.pack("<I", kind) + value


def _array(kind: int, values: list[bytes]) -> bytes:
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
