"""Files that ask a reader for far more than their size: bombs, each with what it must come to.

A bomb is small enough to be made in a moment, and large enough that a reader whose memory or time is that of
its contents squared, or of a number in it, would exceed every bound.
"""

# ruff: noqa: S311 - what is random can be repeated

from __future__ import annotations

import base64
import json
import random
import struct
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import bytemill
from bytemill.formats.data_gym import CHARACTER_OF_BYTE
from support.native_files import with_checksum
from support.toys import BYTE_RANKS

__all__ = ["BOMBS", "Bomb"]

Files: TypeAlias = "dict[str, bytes]"

# What a file of many small values may take, as a multiple of its size: each becomes an object, and some a
# token in several tables. Large values alone take a few times their size.
MANY = 100
FEW = 16


class Bomb(NamedTuple):
    """A file, or several.

    Attributes:
        make: Makes the contents of each file, by name; the first is read.
        reason: What the message of the error must say; `None` if the file is sound.
        most: How many times its size reading it may take.
    """

    make: Callable[[], Files]
    reason: str | None = None
    most: int = FEW


# --- What files are made of ---


@lru_cache(maxsize=4)
def words(count: int, length: int = 6) -> list[str]:
    """Returns different words."""
    drawn = random.Random(length)
    found: set[str] = set()
    while len(found) < count:
        found.add("".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=length)))
    return sorted(found)


def grown(count: int, part: str = "a") -> list[str]:
    """Returns words each of which begins with all before."""
    return [part * length for length in range(1, count + 1)]


def js(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


SMALL_LISTS = b"[" + b"[]," * 700_000 + b"0]"
SMALL_OBJECTS = b"[" + b'{"":0},' * 400_000 + b"0]"
DEEP = b"[" * 500_000 + b"]" * 500_000

# --- tokenizer.json ---

BPE: dict[str, Any] = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES = list(CHARACTER_OF_BYTE.values())
# An expression whose automaton is large, and of which no other engine makes a smaller one.
LARGE = r"\w{50}"


def tokenizer(*, raw: Mapping[str, bytes] | None = None, **entries: Any) -> Files:
    """Returns a `tokenizer.json`; `raw` has entries in JSON."""
    names = ("added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    file = {"version": "1.0", **dict.fromkeys(names), "added_tokens": [], "model": BPE, **entries}
    file |= {name: f"@{name}" for name in raw or {}}
    contents = js(file)
    for name, value in (raw or {}).items():
        contents = contents.replace(b'"@%s"' % name.encode(), value)
    return {"tokenizer.json": contents}


def added(texts: Iterable[str], **flags: bool) -> list[dict[str, Any]]:
    usual = dict.fromkeys(("special", "lstrip", "rstrip", "single_word", "normalized"), False)
    return [{"id": 100 + i, "content": text, **usual, **flags} for i, text in enumerate(texts)]


def sequence(key: str, steps: list[Any]) -> dict[str, Any]:
    return {"type": "Sequence", key: steps}


def replace(find: str, content: str, kind: str = "String") -> dict[str, Any]:
    return {"type": "Replace", "pattern": {kind: find}, "content": content}


def split(pattern: str, kind: str = "Regex") -> dict[str, Any]:
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": "Isolated", "invert": False}


def model(kind: str, texts: Iterable[str] = (), **entries: Any) -> dict[str, Any]:
    """Returns a model of some tokens."""
    unknown = "[UNK]"
    ids = {text: token_id for token_id, text in enumerate([unknown, *texts])}
    usual: dict[str, dict[str, Any]] = {
        "BPE": {"merges": []},
        "WordLevel": {"unk_token": unknown},
        "WordPiece": {
            "unk_token": unknown,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 1 << 63,
        },
        "Unigram": {"unk_id": 0},
    }
    vocab = [[text, -1.0] for text in ids] if kind == "Unigram" else ids
    return {"type": kind, "vocab": vocab, **usual[kind], **entries}


def template(count: int, tokens: int) -> dict[str, Any]:
    """Returns a post-processor that adds a token many times, which stands for many."""
    part = {"SpecialToken": {"id": "a", "type_id": 0}}
    parts = [{"Sequence": {"id": "A", "type_id": 0}}, *[part] * count]
    token = {"id": "a", "ids": [0] * tokens, "tokens": ["a"] * tokens}
    return {"type": "TemplateProcessing", "single": parts, "pair": parts, "special_tokens": {"a": token}}


def charsmap(units: list[int], values: bytes) -> bytes:
    """Returns a map of characters: its array, and its values."""
    array = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(array)) + array + values


def cycle(size: int = 512) -> list[int]:
    """Returns an array in which every byte leads back to where it came from."""
    return [256 << 10, *(((place ^ 256) & ~255) << 10 | place & 255 for place in range(1, size))]


def one_rule(value: bytes) -> bytes:
    """Returns a map that replaces `a`."""
    units = [0] * 768
    units[0] = 256 << 10
    # The child by `a` of the root; its own children are in the next family, the first of which is its value.
    units[256 ^ ord("a")] = (256 ^ ord("a") ^ 512) << 10 | 1 << 8 | ord("a")
    units[512 ^ 0] = 1 << 31
    return charsmap(units, value + b"\0")


def precompiled(contents: bytes) -> dict[str, Any]:
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(contents).decode()}


LISTS = {
    "normalizer": "normalizers",
    "pre_tokenizer": "pretokenizers",
    "post_processor": "processors",
    "decoder": "decoders",
}
BERT = {"type": "BertProcessing", "sep": ["a", 0], "cls": ["a", 0]}


def of_components() -> dict[str, Bomb]:
    """Returns those of the components of a `tokenizer.json`."""
    found = {}
    for name, key in LISTS.items():
        nested = b'{"type":"Sequence","%s":[' % key.encode()
        found[f"deep {name}"] = Bomb(
            lambda name=name, nested=nested: tokenizer(raw={name: nested * 50_000 + b"]}" * 50_000}),  # type: ignore[misc]
            "recursion limit",
        )
        found[f"small values in {name}"] = Bomb(
            lambda name=name: tokenizer(raw={name: b'{"type":"NFC","x":%s}' % SMALL_OBJECTS}),  # type: ignore[misc]
            f"{name}: expected at most .* values",
            MANY,
        )
    return found


COMPONENTS: dict[str, Bomb] = {
    **of_components(),
    "deep padding": Bomb(lambda: tokenizer(raw={"padding": DEEP}), "expected at most|recursion limit"),
    "small values in the model": Bomb(
        lambda: tokenizer(raw={"model": b'{"type":"BPE","vocab":{},"merges":[],"x":%s}' % SMALL_LISTS}),
        "expected at most .* values",
    ),
    "a token around a text that stands for many": Bomb(
        lambda: tokenizer(post_processor=template(3_000, 20_000)), "special tokens around a text"
    ),
    "many tokens around a text": Bomb(
        lambda: tokenizer(post_processor=sequence("processors", [BERT] * 5_000)),
        "special tokens around a text",
        MANY,
    ),
    "doubled by the normalizer": Bomb(
        lambda: tokenizer(normalizer=sequence("normalizers", [replace("a", "aa")] * 40)), "times as long"
    ),
    "an added token doubled by the normalizer": Bomb(
        lambda: tokenizer(
            normalizer=sequence("normalizers", [replace("a", "aa", "Regex")] * 40),
            added_tokens=added(["a"], normalized=True),
        ),
        "times as long",
    ),
    "a huge text in place of each character": Bomb(
        lambda: tokenizer(
            normalizer=replace("a", "b" * 100_000), added_tokens=added(grown(1000), normalized=True)
        ),
        "times as long",
    ),
    "a huge text before each": Bomb(
        lambda: tokenizer(normalizer={"type": "Prepend", "prepend": "b" * 1_000_000}), "times as long"
    ),
    "a huge text in a map of characters": Bomb(
        lambda: tokenizer(normalizer=precompiled(one_rule(b"b" * 1_000_000))), "a value .* has 1000000 bytes"
    ),
    "maps of characters one after the other": Bomb(
        lambda: tokenizer(normalizer=sequence("normalizers", [precompiled(one_rule(b"a" * 64))] * 4)),
        "times as long",
    ),
    "text in front and longer characters": Bomb(
        lambda: tokenizer(
            normalizer=sequence(
                "normalizers",
                [
                    precompiled(one_rule(b"a" * 64)),
                    {"type": "Prepend", "prepend": "\u2581" * 5},
                    replace(" ", "\u2581" * 4),
                ],
            )
        )
    ),
    "doubled by the decoder": Bomb(
        lambda: tokenizer(decoder=sequence("decoders", [replace("a", "aa")] * 40)), "times as long"
    ),
    "a map of characters with a cycle": Bomb(
        lambda: tokenizer(normalizer=precompiled(charsmap(cycle(), b"\0")))
    ),
    "a large map with a cycle": Bomb(
        lambda: tokenizer(normalizer=precompiled(charsmap(cycle(1 << 19), b"\0")))
    ),
    "a map that points outside": Bomb(
        lambda: tokenizer(normalizer=precompiled(charsmap([0x7FFFFFFF] * 256, b"\0"))), "points outside"
    ),
    "many steps": Bomb(
        lambda: tokenizer(normalizer=sequence("normalizers", [{"type": "NFC"}] * 60_000)), None, MANY
    ),
    "many steps that split": Bomb(
        lambda: tokenizer(
            pre_tokenizer=sequence("pretokenizers", [split(f"x{i}", "String") for i in range(20_000)])
        ),
        "at most 32 steps",
        MANY,
    ),
    "many large expressions that split": Bomb(
        lambda: tokenizer(
            pre_tokenizer=sequence("pretokenizers", [split(f"{LARGE}{i}") for i in range(2_000)])
        ),
        "at most 32 steps",
        MANY,
    ),
    "many large expressions": Bomb(
        lambda: tokenizer(
            normalizer=sequence("normalizers", [replace(f"{LARGE}{i}", "x", "Regex") for i in range(2_000)])
        ),
        "at most 128 regular expressions",
        MANY,
    ),
    "a huge expression": Bomb(
        lambda: tokenizer(pre_tokenizer=split("|".join(words(150_000)))), "patterns of at most 32768 bytes"
    ),
    "a huge expression of classes": Bomb(
        lambda: tokenizer(normalizer=replace(r"\p{L}" * 100_000, "x", "Regex")),
        "patterns of at most 32768 bytes",
    ),
    "an expression that repeats": Bomb(
        lambda: tokenizer(pre_tokenizer=split(r"\w{1000}{1000}")), "does not compile"
    ),
    "deep groups": Bomb(
        lambda: tokenizer(pre_tokenizer=split("(" * 10_000 + "a" + ")" * 10_000)),
        "does not compile|cannot be",
    ),
    "deep classes": Bomb(
        lambda: tokenizer(pre_tokenizer=split("[" * 10_000 + "a" + "]" * 10_000)), "classes in each other"
    ),
    "a huge name": Bomb(lambda: tokenizer(normalizer={"type": "x" * 2_000_000}), "is not supported"),
    "a huge key": Bomb(lambda: tokenizer(raw={"x" * 2_000_000: b"1"}), "unknown entry"),
    "many added tokens": Bomb(lambda: tokenizer(added_tokens=added(words(30_000))), None, MANY),
    "added tokens that begin with each other": Bomb(lambda: tokenizer(added_tokens=added(grown(2_000)))),
    "the same as special tokens": Bomb(lambda: tokenizer(added_tokens=added(grown(2_000), special=True))),
    "the same as words, normalized": Bomb(
        lambda: tokenizer(
            added_tokens=added(grown(2_000), single_word=True, normalized=True), normalizer={"type": "NFKC"}
        )
    ),
    "a huge added token": Bomb(lambda: tokenizer(added_tokens=added(["ab" * 1_000_000])), None, MANY),
    "an added token many times": Bomb(lambda: tokenizer(added_tokens=added(["x"] * 30_000)), None, MANY),
}

MODELS: dict[str, Bomb] = {
    "a vocabulary twice": Bomb(
        lambda: {
            "tokenizer.json": tokenizer(model=model("BPE", words(100_000)))["tokenizer.json"].replace(
                b'"merges"', b'"vocab":{"a":0},"merges"'
            )
        },
        None,
        MANY,
    ),
    "a token many times": Bomb(
        lambda: tokenizer(
            raw={"model": b'{"type":"BPE","merges":[],"vocab":{%s"b":2}}' % (b'"a":1,' * 300_000)}
        ),
        "is there twice",
        MANY,
    ),
    "a merge many times": Bomb(lambda: tokenizer(model={**BPE, "merges": ["a b"] * 300_000}), None, MANY),
    "merges of longer and longer tokens": Bomb(
        lambda: tokenizer(
            model=model("BPE", grown(2_000), merges=[["a" * size, "a"] for size in range(1, 2_000)])
        )
    ),
    "merges of longer and longer bytes": Bomb(
        lambda: tokenizer(
            pre_tokenizer=BYTE_LEVEL,
            decoder=BYTE_LEVEL,
            model=model(
                "BPE",
                [*BYTES, *grown(2_000)[1:]],
                merges=[["a" * size, "a"] for size in range(1, 2_000)],
            ),
        )
    ),
    "a long prefix of parts": Bomb(
        lambda: tokenizer(
            model=model("BPE", map(chr, range(0x4E00, 0x9E00)), continuing_subword_prefix="x" * 1_000_000)
        )
    ),
    "a long suffix of words": Bomb(
        lambda: tokenizer(
            model=model("BPE", map(chr, range(0x4E00, 0x9E00)), end_of_word_suffix="x" * 1_000_000)
        )
    ),
    "ids near 4 G": Bomb(
        lambda: tokenizer(model={**BPE, "vocab": {"a": 4_294_967_294, "b": 1 << 31, "ab": 5}})
    ),
    "an id of 4 G": Bomb(
        lambda: tokenizer(model={**BPE, "vocab": {"a": 4_294_967_296, "b": 1, "ab": 5}}), "expected u32"
    ),
    "ids with gaps": Bomb(
        lambda: tokenizer(
            model={**BPE, "merges": [], "vocab": {word: 20_000 * i for i, word in enumerate(words(150_000))}}
        ),
        None,
        MANY,
    ),
    "a huge number": Bomb(
        lambda: tokenizer(raw={"model": b'{"type":"BPE","vocab":{"a":%s},"merges":[]}' % (b"9" * 2_000_000)}),
        "number out of range",
    ),
    **{
        f"many tokens of {kind}": Bomb(
            lambda kind=kind: tokenizer(model=model(kind, words(60_000))),  # type: ignore[misc]
            None,
            MANY,
        )
        for kind in ("BPE", "Unigram", "WordPiece", "WordLevel")
    },
    **{
        f"tokens of {kind} that begin with each other": Bomb(
            lambda kind=kind: tokenizer(model=model(kind, grown(2_000)))  # type: ignore[misc]
        )
        for kind in ("Unigram", "WordPiece", "WordLevel")
    },
    **{
        f"a huge token of {kind}": Bomb(
            lambda kind=kind: tokenizer(model=model(kind, ["ab" * 1_000_000]))  # type: ignore[misc]
        )
        for kind in ("BPE", "Unigram", "WordPiece", "WordLevel")
    },
}

# --- SentencePiece ---


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def message(number: int, contents: bytes) -> bytes:
    """Returns a field with a message or a text."""
    return varint(number << 3 | 2) + varint(len(contents)) + contents


def integer(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def piece(text: str, score: float = 0.0, kind: int = 1) -> bytes:
    stored = message(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) + integer(3, kind)
    return message(1, stored)


NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4
UNIGRAM_MODEL, BPE_MODEL = 1, 2


def pieces(
    texts: Iterable[str] = ("a",),
    kind: int = NORMAL,
    *,
    model_type: int = BPE_MODEL,
    trainer: bytes = b"",
    more: bytes = b"",
) -> Files:
    """Returns a model with pieces of one kind."""
    found = [piece("<unk>", 0, UNKNOWN), *(piece(text, -float(i), kind) for i, text in enumerate(texts))]
    return {"m.model": b"".join(found) + message(2, integer(3, model_type) + trainer) + more}


def normalizer(contents: bytes, number: int = 3) -> bytes:
    """Returns the rules of normalization with a map of characters."""
    return message(number, message(2, contents))


SENTENCEPIECE: dict[str, Bomb] = {
    "a length of 2^62": Bomb(
        lambda: {"m.model": b"\x0a" + varint(1 << 62) + b"\x0a\x01a"}, "expected a .tiktoken"
    ),
    "a length of 2^31 behind a piece": Bomb(
        lambda: {"m.model": piece("a") + b"\x0a" + varint(1 << 31)}, "cannot be read from byte"
    ),
    "a length that lies inside": Bomb(
        lambda: {"m.model": piece("a") + message(1, b"\x0a" + varint(1 << 31) + b"abc")}, "cannot be read"
    ),
    "deep groups": Bomb(lambda: pieces(more=b"\xa3\x06" * 500_000), "cannot be read"),
    "many unknown fields": Bomb(lambda: pieces(more=integer(200, 0) * 500_000)),
    "many unknown options": Bomb(lambda: pieces(trainer=integer(999, 1) * 500_000)),
    "many options": Bomb(lambda: pieces(trainer=message(1, b"") * 500_000), None, MANY),
    "options many times": Bomb(lambda: pieces(more=message(2, b"") * 500_000)),
    "many empty pieces": Bomb(lambda: pieces(more=message(1, b"") * 500_000), "is empty"),
    "a text many times": Bomb(lambda: pieces(more=message(1, message(1, b"b") * 500_000))),
    "a huge piece": Bomb(lambda: pieces(["a" * 2_000_000]), "expected less than 8000"),
    "huge names": Bomb(lambda: pieces(trainer=message(46, b"x" * 1_000_000) + message(44, b"y" * 1_000_000))),
    "a map with a cycle": Bomb(lambda: pieces(more=normalizer(charsmap(cycle(), b"\0")))),
    "a large map with a cycle": Bomb(lambda: pieces(more=normalizer(charsmap(cycle(1 << 20), b"\0")))),
    "a map of decoded texts with a cycle": Bomb(lambda: pieces(more=normalizer(charsmap(cycle(), b"\0"), 5))),
    "a map that points outside": Bomb(
        lambda: pieces(more=normalizer(charsmap([0x7FFFFFFF] * 256, b"\0"))), "points outside"
    ),
    "a map that lies about its size": Bomb(
        lambda: pieces(more=normalizer(struct.pack("<I", 0xFFFFFC00) + bytes(2048))), "ends inside its array"
    ),
    "a huge text in a map": Bomb(
        lambda: pieces(more=normalizer(one_rule(b"b" * 1_000_000))), "a value .* has 1000000 bytes"
    ),
    "many maps": Bomb(lambda: pieces(more=normalizer(charsmap(cycle(), b"\0")) * 1_000)),
    **{
        f"{name} of type {model_type}": Bomb(
            lambda texts=texts, kind=kind, model_type=model_type: pieces(
                texts(), kind, model_type=model_type
            ),  # type: ignore[misc]
            None,
            MANY,
        )
        for model_type in (UNIGRAM_MODEL, BPE_MODEL)
        for name, kind, texts in (
            ("many pieces", NORMAL, lambda: words(50_000, 5)),
            ("many control pieces", CONTROL, lambda: words(50_000, 5)),
            ("many symbols", USER_DEFINED, lambda: words(50_000, 5)),
            ("pieces that begin with each other", NORMAL, lambda: grown(2_000)),
            ("symbols that begin with each other", USER_DEFINED, lambda: grown(2_000)),
            ("long pieces", NORMAL, lambda: ["a" * (7_990 - i) for i in range(300)]),
            ("periodic pieces", NORMAL, lambda: [*grown(1_400, "ab"), "a", "b"]),
        )
    },
}

# --- Ranks ---


def ranks(tokens: Iterable[tuple[bytes, int]], *, name: str = "m.tiktoken") -> Files:
    return {name: b"".join(b"%b %d\n" % (base64.b64encode(token), rank) for token, rank in tokens)}


def numbered(texts: Iterable[str]) -> list[tuple[bytes, int]]:
    """Returns the bytes, and tokens behind them."""
    return [*BYTE_RANKS.items(), *((text.encode(), 256 + i) for i, text in enumerate(texts))]


FIRST = b"YQ== 0\n"

RANKS: dict[str, Bomb] = {
    "many tokens": Bomb(lambda: ranks(numbered(words(50_000))), None, MANY),
    "longer and longer tokens": Bomb(lambda: ranks(numbered(grown(2_000)[1:])), None, MANY),
    "longer and longer tokens from the last": Bomb(
        lambda: ranks([*BYTE_RANKS.items(), *((b"a" * size, 5_000 - size) for size in range(2, 2_000))]),
        None,
        MANY,
    ),
    "doubled tokens": Bomb(lambda: ranks(numbered("a" * (1 << size) for size in range(1, 21))), None, MANY),
    "long tokens": Bomb(lambda: ranks(numbered("a" * (9_000 - i) for i in range(200))), None, MANY),
    "periodic tokens": Bomb(lambda: ranks(numbered(grown(1_200, "ab"))), None, MANY),
    "a huge token": Bomb(lambda: ranks(numbered(["a" * 2_000_000])), None, MANY),
    "a line of 50 MB": Bomb(lambda: {"m.tiktoken": FIRST + b"A" * 50_000_000}, "got 1 fields", 3),
    "a rank of 50 MB": Bomb(
        lambda: {"m.tiktoken": FIRST + b"Yg== " + b"9" * 50_000_000}, "Exceeds the limit", 3
    ),
    "many fields": Bomb(lambda: {"m.tiktoken": FIRST + b"A " * 2_000_000}, "got more than 2 fields"),
    "empty lines": Bomb(lambda: {"m.tiktoken": FIRST + b"\n" * 3_000_000}, "each of the 256 bytes"),
    "a line many times": Bomb(lambda: {"m.tiktoken": FIRST * 500_000}, "in line 1 already"),
    "no line": Bomb(lambda: {"m.model": b"A" * 3_000_000}, "expected a .tiktoken file"),
    "ids near 4 G": Bomb(lambda: ranks([(bytes([i]), 4_294_967_294 - i) for i in range(256)])),
    "an id of 4 G": Bomb(
        lambda: ranks([*numbered([])[:-1], (b"\xff", 4_294_967_295)]), "expected a rank below 4294967295"
    ),
    "ids with gaps": Bomb(
        lambda: ranks(
            [*BYTE_RANKS.items(), *((w.encode(), 256 + 20_000 * i) for i, w in enumerate(words(50_000)))]
        ),
        None,
        MANY,
    ),
}

KIMI = {"tokenizer_class": "TikTokenTokenizer"}
QWEN = {"tokenizer_class": "QWenTokenizer"}

FOLDERS: dict[str, Bomb] = {
    "Kimi with many special tokens": Bomb(
        lambda: {
            **ranks(numbered([]), name="tiktoken.model"),
            "tokenizer_config.json": js(
                KIMI | {"added_tokens_decoder": {str(i): {"content": f"<{i}>"} for i in range(256, 60_000)}}
            ),
        },
        "expected IDs from 256 to 513",
        MANY,
    ),
    "Kimi with a deep configuration": Bomb(
        lambda: {
            **ranks(numbered([]), name="tiktoken.model"),
            "tokenizer_config.json": b'{"tokenizer_class":"TikTokenTokenizer","x":%s}' % DEEP,
        },
        "maximum recursion depth",
    ),
    "Qwen with many tokens": Bomb(
        lambda: {
            **ranks(numbered(words(50_000)), name="qwen.tiktoken"),
            "tokenizer_config.json": js(QWEN),
        },
        None,
        MANY,
    ),
    "Qwen with a huge chat template": Bomb(
        lambda: {
            **ranks(numbered([]), name="qwen.tiktoken"),
            "tokenizer_config.json": js(QWEN | {"chat_template": "x" * 3_000_000}),
        }
    ),
    "Llama with a size of 4 G": Bomb(
        lambda: {
            **ranks(numbered([]), name="tokenizer.model"),
            "params.json": js({"vocab_size": 4_294_967_294}),
        },
        "expected 256 token IDs",
    ),
    "Llama with small values": Bomb(
        lambda: {
            **ranks(numbered([]), name="tokenizer.model"),
            "params.json": b'{"vocab_size":1,"x":%s}' % SMALL_OBJECTS,
        },
        "expected 256 token IDs",
        MANY,
    ),
}

# --- vocab.txt ---


def lines(texts: Iterable[str], **config: Any) -> Files:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    files = {"vocab.txt": "".join(f"{text}\n" for text in [*special, *texts]).encode()}
    return {**files, "tokenizer_config.json": js(config)} if config else files


WORDS: dict[str, Bomb] = {
    "many words": Bomb(lambda: lines(words(100_000)), None, MANY),
    "words that begin with each other": Bomb(lambda: lines(grown(2_000)), None, MANY),
    "parts that begin with each other": Bomb(lambda: lines(f"##{word}" for word in grown(2_000)), None, MANY),
    "a huge word": Bomb(lambda: lines(["a" * 2_000_000]), None, MANY),
    "a word many times": Bomb(lambda: lines(["a"] * 500_000), None, MANY),
    "empty lines": Bomb(lambda: lines([""] * 2_000_000), "without white space at its end"),
    "a huge name of a class": Bomb(
        lambda: lines([], tokenizer_class="x" * 2_000_000), "expected a tokenizer of Bert"
    ),
    "a huge special token": Bomb(lambda: lines([], unk_token="x" * 2_000_000), "expected a line x"),
    "many added tokens": Bomb(
        lambda: {**lines([]), "added_tokens.json": js(dict.fromkeys(words(100_000), 5))},
        "no such special token",
        MANY,
    ),
    "a huge added token": Bomb(
        lambda: {**lines([]), "added_tokens.json": js({"x" * 2_000_000: 5})}, "no such special token"
    ),
    "deep special tokens": Bomb(
        lambda: {**lines([]), "special_tokens_map.json": b'{"additional_special_tokens":%s}' % DEEP},
        "maximum recursion depth",
    ),
}

# --- GPT-2's pair ---


def pair(merges: bytes, texts: Iterable[str] = (), *, encoder: bytes | None = None) -> Files:
    ids = {text: token_id for token_id, text in enumerate([*BYTES, *texts])}
    return {"vocab.bpe": b"#version: 0.2\n" + merges, "encoder.json": encoder or js(ids)}


def growing(count: int) -> bytes:
    return b"".join(b"%s a\n" % (b"a" * size) for size in range(1, count))


PAIRS: dict[str, Bomb] = {
    "many special tokens": Bomb(lambda: pair(b"", [f"<{word}>" for word in words(50_000)]), None, MANY),
    "longer and longer tokens": Bomb(
        lambda: pair(growing(2_000), grown(2_000)[1:]), "cannot be encoded exactly", MANY
    ),
    "a merge many times": Bomb(lambda: pair(b"a a\n" * 500_000, ["aa"]), "is merge 0 already"),
    "empty lines": Bomb(lambda: pair(b"\n" * 2_000_000), "expected two parts, got 0"),
    "many fields": Bomb(lambda: pair(b"a " * 1_000_000), "got more than 2"),
    "a huge merge": Bomb(lambda: pair(b"a" * 2_000_000 + b" b\n"), "is no token"),
    "deep ids": Bomb(lambda: pair(b"", encoder=b'{"a":' * 500_000), "maximum recursion depth"),
    "small values": Bomb(lambda: pair(b"", encoder=b'{"a":%s}' % SMALL_LISTS), "expected an integer", MANY),
    "a huge number": Bomb(lambda: pair(b"", encoder=b'{"a":%s}' % (b"9" * 2_000_000)), "Exceeds the limit"),
    "a huge special token": Bomb(lambda: pair(b"", ["x" * 2_000_000]), "no merge in"),
    "small values in the configuration": Bomb(
        lambda: {**pair(b""), "tokenizer_config.json": b'{"added_tokens_decoder":%s}' % SMALL_OBJECTS},
        "added_tokens_decoder: expected an object",
        MANY,
    ),
    "ids near 4 G": Bomb(
        lambda: pair(b"", encoder=js({text: 4_294_967_294 - 7 * i for i, text in enumerate(BYTES)}))
    ),
}

# --- tekken.json ---


def tekken(texts: Iterable[bytes] = (), *, special: int = 0, size: int | None = None, **more: Any) -> Files:
    tokens = [*BYTE_RANKS, *texts]
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": more.pop("pattern", r"\w+|\W+"),
        "default_vocab_size": len(tokens) + special if size is None else size,
        "default_num_special_tokens": special,
    }
    return {"tekken.json": js({"config": config, "vocab": vocab, **more})}


TEKKEN: dict[str, Bomb] = {
    "many tokens": Bomb(lambda: tekken(map(str.encode, words(30_000))), None, MANY),
    "longer and longer tokens": Bomb(lambda: tekken(map(str.encode, grown(1_500)[1:])), None, MANY),
    "a huge token": Bomb(lambda: tekken([b"a" * 2_000_000]), None, MANY),
    "many special tokens": Bomb(lambda: tekken(special=60_000, size=256 + 60_000), None, 1_000),
    "too many special tokens": Bomb(lambda: tekken(special=4_294_967_290), "expected at most 65536"),
    "too many tokens": Bomb(lambda: tekken(size=4_294_967_290), "tokens or more, as config says, got 256"),
    "a huge pattern": Bomb(
        lambda: tekken(pattern="|".join(words(100_000))), "a pattern of at most 32768 bytes"
    ),
    "a pattern that repeats": Bomb(lambda: tekken(pattern=r"\w{1000}{1000}")),
    "deep groups": Bomb(lambda: tekken(pattern="(" * 10_000 + ")" * 10_000), "does not compile"),
    "deep tokens": Bomb(
        lambda: {"tekken.json": b'{"config":{},"vocab":%s}' % DEEP}, "maximum recursion depth"
    ),
    "small values": Bomb(
        lambda: {"tekken.json": b'{"config":{"x":%s},"vocab":[]}' % SMALL_OBJECTS},
        "expected an integer",
        MANY,
    ),
}

# --- minbpe ---


def minbpe_model(
    merges: Iterable[tuple[int, int]] = (), special: Mapping[str, int] | None = None, *, pattern: str = ""
) -> Files:
    tokens = [f"{text} {token_id}" for text, token_id in (special or {}).items()]
    rest = [f"{left} {right}" for left, right in merges]
    return {"m.model": "\n".join(["minbpe v1", pattern, str(len(tokens)), *tokens, *rest, ""]).encode()}


MINBPE: dict[str, Bomb] = {
    "doubled tokens": Bomb(
        lambda: minbpe_model([(97, 97), *((256 + i, 256 + i) for i in range(60))]),
        "line 27: expected tokens of at most",
    ),
    "longer and longer tokens": Bomb(
        lambda: minbpe_model([(97, 97), *((256 + i, 97) for i in range(60_000))]),
        "expected tokens of at most",
        MANY,
    ),
    "many merges": Bomb(lambda: minbpe_model((i, j) for i in range(256) for j in range(256)), None, MANY),
    "many special tokens": Bomb(
        lambda: minbpe_model(special={word: 1_000 + i for i, word in enumerate(words(50_000))}), None, MANY
    ),
    "special tokens that begin with each other": Bomb(
        lambda: minbpe_model(special={word: 5_000 + i for i, word in enumerate(reversed(grown(2_000)))})
    ),
    "special tokens that hide each other": Bomb(
        lambda: minbpe_model(special={word: 5_000 + i for i, word in enumerate(grown(2_000))}),
        "minbpe never finds",
    ),
    "a number of special tokens": Bomb(
        lambda: {"m.model": b"minbpe v1\n\n99999999999999\n"}, "expected 99999999999999 special tokens"
    ),
    "a huge number": Bomb(lambda: {"m.model": b"minbpe v1\n\n" + b"9" * 2_000_000}, "Exceeds the limit"),
    "empty lines": Bomb(lambda: {"m.model": b"minbpe v1\n\n0\n" + b"\n" * 2_000_000}, "line 4", MANY),
    "many fields": Bomb(lambda: {"m.model": b"minbpe v1\n\n0\n" + b"1 " * 1_000_000}, "line 4", MANY),
    "a huge pattern": Bomb(
        lambda: minbpe_model(pattern="a|" * 500_000 + "a"), "a pattern of at most 32768 bytes"
    ),
    "deep groups": Bomb(
        lambda: minbpe_model(pattern="(?:" * 5_000 + "a" + ")" * 5_000), "does not compile|cannot be"
    ),
}

# --- The native file ---

HEAD: dict[str, Any] = {
    "kind": "ranks",
    "name": "m",
    "pattern": r"\w+|\W+",
    "sha256": "",
    "special_tokens": {},
    "template": None,
    "provenance": {},
}


def native(body: bytes, *, raw: bytes | None = None, **head: Any) -> Files:
    start = js(HEAD | head) if raw is None else raw
    return {"m.bytemill": with_checksum(b"bytemill 2\n%s\n%s" % (start, body))}


def stored_ranks() -> bytes:
    """Returns the body of a sound file."""
    encoding = bytemill.Encoding("m", pat_str=HEAD["pattern"], mergeable_ranks=BYTE_RANKS, special_tokens={})
    body: bytes = encoding._core_bpe.stored()
    return body


def lying(place: int) -> Files:
    """Returns a file with a huge number somewhere in its body."""
    body = stored_ranks()
    return native(body[:place] + b"\xff\xff\xff\x7f" + body[place + 4 :])


NATIVE: dict[str, Bomb] = {
    **{
        f"a number that lies at {place}": Bomb(lambda place=place: lying(place), "m.bytemill")  # type: ignore[misc]
        for place in (0, 4, 8, 12, 16)
    },
    "zeros": Bomb(lambda: native(bytes(2_000_000)), "m.bytemill"),
    "small values": Bomb(lambda: native(b"", raw=b'{"x":%s}' % SMALL_OBJECTS), "expected a string", MANY),
    "a deep head": Bomb(lambda: native(b"", raw=b'{"x":%s}' % DEEP), "maximum recursion depth"),
    "a huge pattern": Bomb(
        lambda: native(stored_ranks(), pattern="|".join(words(100_000))), "a pattern of at most 32768 bytes"
    ),
    "many special tokens": Bomb(
        lambda: native(
            tokenizer()["tokenizer.json"],
            kind="tokenizer.json",
            special_tokens={word: i for i, word in enumerate(words(60_000))},
        ),
        None,
        MANY,
    ),
    "many tokens around a text": Bomb(
        lambda: native(
            tokenizer()["tokenizer.json"],
            kind="tokenizer.json",
            template={"prefix": ["a"] * 500_000, "suffix": []},
        ),
        None,
        MANY,
    ),
    "a tokenizer.json that is one": Bomb(
        lambda: native(
            tokenizer(post_processor=template(3_000, 20_000))["tokenizer.json"], kind="tokenizer.json"
        ),
        "special tokens around a text",
    ),
    "a SentencePiece model that is one": Bomb(
        lambda: native(
            pieces(more=normalizer(one_rule(b"b" * 1_000_000)))["m.model"], kind="sentencepiece", pattern=""
        ),
        "a value .* has 1000000 bytes",
    ),
    "version 1 with many tokens": Bomb(
        lambda: {
            "m.bytemill": js(
                HEAD
                | {"format": "bytemill", "version": 1}
                | {"tokens": {base64.b64encode(w.encode()).decode(): i for i, w in enumerate(words(50_000))}}
            )
        },
        "each of the 256 bytes",
        MANY,
    ),
}

# --- GGUF ---

PREFIX = "tokenizer.ggml."
UINT8, INT32, FLOAT32, TEXT, LIST, UINT64 = 0, 5, 6, 8, 9, 10


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def array(kind: int, count: int, values: bytes) -> bytes:
    return struct.pack("<IQ", kind, count) + values


def texts_entry(name: str, values: list[str]) -> bytes:
    return entry(PREFIX + name, LIST, array(TEXT, len(values), b"".join(map(text, values))))


def numbers_entry(name: str, values: list[int]) -> bytes:
    return entry(PREFIX + name, LIST, array(INT32, len(values), struct.pack(f"<{len(values)}i", *values)))


def scores_entry(count: int) -> bytes:
    return entry(PREFIX + "scores", LIST, array(FLOAT32, count, bytes(4 * count)))


def gguf(*entries: bytes, kind: str = "llama", count: int | None = None, tensors: int = 0) -> Files:
    found = [entry(f"{PREFIX}model", TEXT, text(kind)), *entries]
    head = b"GGUF" + struct.pack("<IQQ", 3, tensors, len(found) if count is None else count)
    return {"m.gguf": head + b"".join(found)}


def llama(tokens: list[str], *more: bytes, kind: str = "llama") -> Files:
    kinds = [UNKNOWN, *[NORMAL] * len(tokens)]
    return gguf(
        texts_entry("tokens", ["<unk>", *tokens]),
        scores_entry(len(kinds)),
        numbers_entry("token_type", kinds),
        *more,
        kind=kind,
    )


def gpt2(tokens: list[str], kind: int = NORMAL, *more: bytes) -> Files:
    return gguf(
        entry(f"{PREFIX}pre", TEXT, text("gpt-2")),
        texts_entry("tokens", [*BYTES, *tokens]),
        numbers_entry("token_type", [*[NORMAL] * 256, *[kind] * len(tokens)]),
        texts_entry("merges", []),
        *more,
        kind="gpt2",
    )


GGUF: dict[str, Bomb] = {
    "2^60 entries": Bomb(lambda: gguf(count=1 << 60), "expected 8 more bytes"),
    "2^60 tensors": Bomb(lambda: gguf(tensors=1 << 60), "expected a list of texts"),
    "2^60 numbers": Bomb(
        lambda: gguf(entry(f"{PREFIX}tokens", LIST, array(UINT8, 1 << 60, b"a"))), "more bytes, got 1"
    ),
    "2^60 texts": Bomb(
        lambda: gguf(entry(f"{PREFIX}tokens", LIST, array(TEXT, 1 << 60, b"a"))), "more bytes, got 1"
    ),
    "2^60 texts elsewhere": Bomb(
        lambda: gguf(entry("x", LIST, array(TEXT, 1 << 60, b"a"))), "more bytes, got 1"
    ),
    "a text of 2^63": Bomb(
        lambda: gguf(entry(f"{PREFIX}pre", TEXT, struct.pack("<Q", 1 << 63))), "more bytes, got 0"
    ),
    "a name of 2^64": Bomb(lambda: gguf(b"\xff" * 8 + b"x"), "more bytes, got 1"),
    "deep lists": Bomb(
        lambda: gguf(entry(f"{PREFIX}tokens", LIST, struct.pack("<IQ", LIST, 1) * 100_000)),
        "no lists of lists",
    ),
    "many lists in a list": Bomb(
        lambda: gguf(entry("x", LIST, array(LIST, 100_000, array(UINT8, 0, b"") * 100_000))),
        "no lists of lists",
    ),
    "an alignment of 0": Bomb(
        lambda: gguf(entry("general.alignment", 4, bytes(4))), "expected a list of texts, got None"
    ),
    "an alignment of 2^31": Bomb(
        lambda: gguf(entry("general.alignment", 4, struct.pack("<I", 1 << 31))), "expected a list of texts"
    ),
    "many bytes": Bomb(
        lambda: gguf(entry(f"{PREFIX}scores", LIST, array(UINT8, 3_000_000, bytes(3_000_000)))),
        "expected a list of texts",
        3,
    ),
    "many empty texts": Bomb(
        lambda: gguf(entry("x", LIST, array(TEXT, 300_000, bytes(2_400_000)))), "expected a list of texts", 3
    ),
    "many entries": Bomb(
        lambda: gguf(*(entry(f"{PREFIX}{i}", UINT8, b"a") for i in range(50_000))), "tokens"
    ),
    "an entry twice": Bomb(
        lambda: gguf(entry(f"{PREFIX}x", UINT8, b"a"), entry(f"{PREFIX}x", UINT8, b"a")), "twice"
    ),
    "a map of 3 GiB": Bomb(
        lambda: llama(
            [], entry(f"{PREFIX}precompiled_charsmap", UINT64, struct.pack("<Q", 3 << 30)), kind="t5"
        ),
        "expected a list of numbers",
    ),
    "an id that is a text": Bomb(
        lambda: gpt2([], NORMAL, entry(f"{PREFIX}unknown_token_id", TEXT, text("x"))), "expected an integer"
    ),
    "tokens that are numbers": Bomb(
        lambda: gguf(numbers_entry("tokens", [1] * 1_000)), "expected a list of texts"
    ),
    "many pieces": Bomb(lambda: llama(words(50_000)), None, MANY),
    "pieces that begin with each other": Bomb(lambda: llama(grown(2_000)), None, MANY),
    "many tokens of bytes": Bomb(lambda: gpt2(words(60_000)), None, MANY),
    "many added tokens": Bomb(lambda: gpt2(words(60_000), USER_DEFINED), None, MANY),
}

# --- Records ---

PROVENANCE = b'{"bytemill":"1","encoding":{},"options":{"name":"a"},"sources":[],"shards":%s,"next":null}'
PLAN = b'{"version":1,"units":%s,"sources":{},"field":null,"lines":true,"errors":"raise"}'
MANIFEST = b'{"bytemill":"1","encoding":{},"options":{},"units":%s}'


def records(name: str, contents: bytes, reason: str) -> dict[str, Bomb]:
    """Returns those of a record of which a list is hostile."""
    return {
        "deep": Bomb(lambda: {name: contents % DEEP}, "recursion"),
        "small lists": Bomb(lambda: {name: contents % SMALL_LISTS}, reason, MANY),
        "small objects": Bomb(lambda: {name: contents % SMALL_OBJECTS}, reason, MANY),
        "a huge number": Bomb(lambda: {name: contents % (b"9" * 2_000_000)}, "Exceeds the limit"),
        "a huge text": Bomb(lambda: {name: contents % (b'"' + b"x" * 2_000_000 + b'"')}, reason),
    }


COUNTED: dict[str, object] = {"version": 1, "pattern": None, "special_tokens": [], "is_sorted": True}


def counts_file(metadata: dict[bytes, bytes]) -> Files:
    """Returns a file of piece counts with metadata of its own."""
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import parquet

    columns = [("piece", pa.large_binary()), ("count", pa.uint64())]
    schema = pa.schema(columns, metadata={b"bytemill": js(COUNTED), **metadata})
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table([[b"a"], [1]], schema=schema), sink)
    return {"m.parquet": sink.getvalue().to_pybytes()}


COUNTS: dict[str, Bomb] = {
    "deep metadata": Bomb(lambda: counts_file({b"bytemill": DEEP}), "expected metadata"),
    "small values": Bomb(lambda: counts_file({b"bytemill": SMALL_LISTS}), "expected metadata", MANY),
    "many special tokens": Bomb(
        lambda: counts_file({b"bytemill": js(COUNTED | {"special_tokens": words(40_000)})}),
        None,
        MANY,
    ),
    "a special token many times": Bomb(
        lambda: counts_file({b"bytemill": js(COUNTED | {"special_tokens": ["a"] * 300_000})}),
        "expected different special tokens",
        MANY,
    ),
    "deep first pieces": Bomb(lambda: counts_file({b"bytemill_first_pieces": DEEP}), "expected pieces"),
    "first pieces that are numbers": Bomb(
        lambda: counts_file({b"bytemill_first_pieces": b"[1]"}), "expected pieces"
    ),
    "many first pieces": Bomb(
        lambda: counts_file({b"bytemill_first_pieces": b"[" + b'"",' * 500_000 + b'""]'}), None, MANY
    ),
    "a length that lies": Bomb(
        lambda: {"m.parquet": counts_file({})["m.parquet"][:-8] + struct.pack("<I", 0x7FFFFFFF) + b"PAR1"},
        "expected counts in Parquet",
    ),
    "an Arrow file of nothing": Bomb(
        lambda: {"m.arrow": b"ARROW1\0\0" + b"\xff" * 1_000_000 + struct.pack("<i", 1 << 30) + b"ARROW1"},
        "expected counts in Parquet or Arrow",
    ),
}

# --- All ---

# By what they are; `support.readers` reads them.
BOMBS: dict[str, dict[str, Bomb]] = {
    "tokenizer.json, components": COMPONENTS,
    "tokenizer.json, models": MODELS,
    "SentencePiece": SENTENCEPIECE,
    "ranks": RANKS,
    "folders of ranks": FOLDERS,
    "vocab.txt": WORDS,
    "GPT-2's pair": PAIRS,
    "tekken.json": TEKKEN,
    "minbpe": MINBPE,
    "native": NATIVE,
    "GGUF": GGUF,
    "record of shards": records("provenance.json", PROVENANCE, "expected the record"),
    "plan of a job": records("plan.json", PLAN, "expected a plan"),
    "manifest of a job": records("manifest.json", MANIFEST, "expected a manifest"),
    "piece counts": COUNTS,
}
