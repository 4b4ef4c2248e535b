"""Small tokenizers whose decoders hold text until they know what follows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from bytemill import Encoding
from support.tokenizer_files import added, file

if TYPE_CHECKING:
    import random

__all__ = ["IDS", "NAMES", "encoding_named", "sampled"]

MARKS: dict[str, Any] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
SPACES: dict[str, Any] = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
FALLBACK, FUSE = {"type": "ByteFallback"}, {"type": "Fuse"}
WORDS = {"type": "WhitespaceSplit"}

# Those of Gemma and Llama 2, and the bytes alone; spaces between tokens, one of which stands for more; the
# ends of words and their parts, as in CLIP and BERT; steps that look at all of the text.
PARTS: dict[str, dict[str, Any]] = {
    "gemma": {
        "normalizer": MARKS,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        "decoder": [SPACES, FALLBACK, FUSE],
    },
    "llama": {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, MARKS]},
        "decoder": [SPACES, FALLBACK, FUSE, {"type": "Strip", "content": " ", "start": 1, "stop": 0}],
    },
    "bytes": {"decoder": [FALLBACK]},
    "no decoder": {
        "normalizer": {"type": "Replace", "pattern": {"String": "."}, "content": "..."},
        "pre_tokenizer": WORDS,
    },
    "ends of words": {"pre_tokenizer": WORDS, "decoder": [{"type": "BPEDecoder", "suffix": "</w>"}]},
    "parts of words": {
        "pre_tokenizer": WORDS,
        "decoder": [{"type": "WordPiece", "prefix": "##", "cleanup": True}],
    },
    "spaces at the end": {"decoder": [FUSE, {"type": "Strip", "content": " ", "start": 0, "stop": 1}]},
    "two dashes": {"decoder": [FUSE, {"type": "Replace", "pattern": {"String": "--"}, "content": " "}]},
    "clean": {"decoder": [FUSE, {"type": "WordPiece", "prefix": "##", "cleanup": True}]},
}
NAMES = [*PARTS]

SPECIAL = ["<bos>", "<eos>"]
TOKENS = ["▁", "a", "b", " ", "-", ".", "a</w>", "b</w>", "##a", "▁a", "ab"]
IDS = {
    token: number
    for number, token in enumerate([*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256)), *TOKENS])
}
# Of which some are drawn at random.
DRAWN = [IDS[token] for token in [*TOKENS, "<0xF0>", "<0x9F>", "<0x0A>", "<0xC3>", "<0xA9>"]]
TEXTS = ["a", "b", " ", "ab a", "a😀b", "é", "--", " .", "\n"]


@cache
def encoding_named(name: str) -> Encoding:
    """Returns one of the tokenizers."""
    parts = dict(PARTS[name])
    steps = parts.pop("decoder", None)
    model: dict[str, Any] = {"byte_fallback": True}
    if name == "ends of words":
        model = {"end_of_word_suffix": "</w>", "unk_token": "-"}
    tokens = [added(number, token, special=True) for number, token in enumerate(SPECIAL)]
    decoder = steps and {"type": "Sequence", "decoders": steps}
    merges = [["▁", "a"], ["a", "b"]]
    contents = file(IDS, tokens, merges=merges, model=model, decoder=decoder, **parts)
    return Encoding.from_bytes(contents.encode(), name=name)


def sampled(encoding: Encoding, source: random.Random, special: float = 0.1) -> list[int]:
    """Returns token IDs: of texts, any ordinary ones, and some special ones."""
    ids: list[int] = []
    for _ in range(source.randint(1, 5)):
        if source.random() < special:
            ids.append(source.randrange(len(SPECIAL)))
        elif source.random() < 0.5:
            ids += encoding.encode("".join(source.choices(TEXTS, k=3)), disallowed_special=())
        else:
            ids += source.choices(DRAWN, k=source.randint(1, 3))
    return ids
