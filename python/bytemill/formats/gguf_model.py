"""The vocabulary in a GGUF file, of four kinds.

`llama` and `t5` are SentencePiece models, of the types BPE and Unigram: the file has pieces, scores, types
and the treatment of spaces, under other names than SentencePiece's own file. `gpt2` is BPE of bytes, whose
file has tokens and merges, and names the family whose normalizer and pattern it needs (`gguf_splitting`);
`bert` is WordPiece, whose file has the tokens in another spelling. Both become the `tokenizer.json` of the
same meaning. A file of another kind raises an error that names its kind.
"""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any, NoReturn

from bytemill._backend import SentencePieceModel
from bytemill.definition import Loaded, Template
from bytemill.errors import VocabularyError
from bytemill.formats import bert_vocabulary, sentencepiece_model, tokenizer_json
from bytemill.formats.gguf_splitting import SPLITTINGS
from bytemill.formats.huggingface import added_token, template_processing
from bytemill.formats.json_file import Value, brief, shown
from bytemill.formats.sentencepiece_model import BPE, UNIGRAM
from bytemill.formats.transformers_folder import Beside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill.definition import Tokens
    from bytemill.formats.gguf_file import Numbers, Stored

__all__ = ["PREFIX", "load"]

# What the names of the entries begin with that are read here.
PREFIX = "tokenizer.ggml."

# The kinds that are read, and what the others are.
READ = ("bert", "gpt2", "llama", "t5")
KINDS = {
    "rwkv": "a greedy search for the longest token",
    "plamo2": "a Unigram model without its own normalization",
    "none": "no vocabulary",
    "no_vocab": "no vocabulary",
}

# Types of tokens.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

# What stands for a space in pieces. The words of a WordPiece vocabulary begin with it, whose other tokens
# lose their prefix.
SPACE = "\u2581"


def load(entries: Mapping[str, Stored], name: str, source: str) -> Loaded:
    """Returns the definition of a vocabulary, with its core where that has been read.

    Args:
        entries: The entries of the file that begin with `PREFIX`, without that.
        name: The name of the definition.
        source: Where it comes from, for messages.

    Raises:
        VocabularyError: It is of another kind or family, or damaged; the message has file and reason.
    """
    file = Entries(entries, source)
    kind = file.text("model")
    if kind in ("llama", "t5"):
        contents = pieces_of(file, BPE if kind == "llama" else UNIGRAM)
        definition = sentencepiece_model.definition_of(contents, name, source)
        usual = "bos" if kind == "llama" else "eos"
        template = Template.of(*around(file, file.texts("tokens"), usual), definition.special_tokens)
        return Loaded(definition._replace(template=template))
    if kind not in READ:
        what = f" ({KINDS[kind]})" if kind in KINDS else ""
        file.refuse("model", f"expected {', '.join(map(repr, READ))}, got {kind!r}{what}")
    contents = merges_of(file) if kind == "gpt2" else words_of(file)
    return tokenizer_json.load(contents, name, source)


class Entries:
    """The entries of a file, which raise an error that names file and entry."""

    def __init__(self, entries: Mapping[str, Stored], source: str) -> None:
        """Takes the entries without their prefix."""
        self.entries = entries
        self.source = source

    def refuse(self, entry: str, reason: str) -> NoReturn:
        """Raises an error about an entry."""
        raise VocabularyError(f"{self.source}: {PREFIX}{entry}: {brief(reason)}")

    def text(self, name: str) -> str | None:
        """Returns a text; `None` if the file has none of this name."""
        value = self.entries.get(name)
        if value is not None and not isinstance(value, str):
            self.refuse(name, f"expected a text, got {shown(value)}")
        return value

    def texts(self, name: str) -> list[str]:
        """Returns a list of texts."""
        values = self.entries.get(name)
        if not isinstance(values, list):
            self.refuse(name, f"expected a list of texts, got {shown(values)}")
        return values

    def numbers(self, name: str) -> Numbers:
        """Returns a list of numbers."""
        values = self.entries.get(name)
        if not isinstance(values, array):
            self.refuse(name, f"expected a list of numbers, got {shown(values)}")
        return values

    def table(self, *names: str) -> tuple[list[str], list[Numbers], list[int]]:
        """Returns the tokens, the columns of these names, and the types of the tokens, all of one length.

        Older converters gave what fills the table the type UNKNOWN; its type is UNUSED here.
        """
        tokens = self.texts("tokens")
        *columns, kinds = map(self.numbers, (*names, "token_type"))
        if {len(tokens)} != {len(column) for column in (*columns, kinds)}:
            self.refuse(" and ".join(["tokens", *names, "token_type"]), "expected lists of one length")
        if kinds.typecode in "fd":
            self.refuse("token_type", "expected a list of integers")
        unknown = self.token_id("unknown")
        types = [
            UNUSED if kind == UNKNOWN and unknown not in (None, token_id) else int(kind)
            for token_id, kind in enumerate(kinds)
        ]
        return tokens, columns, types

    def token_id(self, *names: str) -> int | None:
        """Returns the ID of a token by the first of its names that the file has."""
        for name in names:
            found = self.entries.get(f"{name}_token_id")
            if found is not None:
                if type(found) is not int:
                    self.refuse(f"{name}_token_id", f"expected an integer, got {shown(found)}")
                return found
        return None

    def token(self, token_id: int, tokens: list[str]) -> str:
        """Returns the token of an ID that another entry has."""
        if not 0 <= token_id < len(tokens):
            self.refuse("tokens", f"expected a token {token_id}, got {len(tokens)} tokens")
        return tokens[token_id]

    def flag(self, name: str, *, default: bool) -> bool:
        """Returns an option."""
        return bool(self.entries.get(name, default))


def pieces_of(file: Entries, model_type: int) -> bytes:
    """Returns the SentencePiece model of a file of the kinds `llama` and `t5`."""
    tokens, (scores,), kinds = file.table("scores")
    if model_type == BPE:
        # Converters write user-defined runs of spaces, as Gemma has, with spaces in place of the marks.
        tokens = [
            text.replace(" ", SPACE) if kind == USER_DEFINED else text
            for text, kind in zip(tokens, kinds, strict=True)
        ]
    has_map = "precompiled_charsmap" in file.entries
    options: dict[str, Any] = {"model_type": model_type, "byte_fallback": BYTE in kinds}
    for option, entry in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding")):
        token_id = file.token_id(entry)
        if token_id is not None:
            # Readers find the piece by its text, which is `<s>` in models that do not say otherwise.
            options |= {f"{option}_id": token_id, f"{option}_piece": file.token(token_id, tokens)}
    rules: dict[str, Any] = {
        "name": "identity",
        "precompiled_charsmap": file.numbers("precompiled_charsmap").tobytes() if has_map else b"",
        "add_dummy_prefix": file.flag("add_space_prefix", default=True),
        "remove_extra_whitespaces": file.flag("remove_extra_whitespaces", default=False),
        "escape_whitespaces": True,
    }
    try:
        pieces = list(zip(tokens, scores, kinds, strict=True))
        return SentencePieceModel.build(pieces, options, rules).serialize()
    except (ValueError, TypeError) as error:
        raise VocabularyError(f"{file.source}: {error}") from error


def merges_of(file: Entries) -> bytes:
    """Returns the `tokenizer.json` of a file of the kind `gpt2`."""
    family = file.text("pre")
    if family is None or family not in SPLITTINGS:
        known = ", ".join(sorted(SPLITTINGS))
        file.refuse("pre", f"expected the name of a family whose pattern is known ({known}), got {family!r}")
    splitting = SPLITTINGS[family]
    tokens, _, kinds = file.table()
    merges = file.texts("merges")
    check_distinct(file, tokens)
    vocab = {text: token_id for token_id, text in enumerate(tokens) if kinds[token_id] != UNUSED}
    contents = {
        "added_tokens": added_tokens(tokens, kinds),
        **splitting.components(),
        "post_processor": template_processing(*around(file, tokens, "bos" if splitting.adds_bos else None)),
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "vocab": vocab,
            "merges": merges,
            "ignore_merges": splitting.ignores_merges,
            **dict.fromkeys(("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")),
            **dict.fromkeys(("fuse_unk", "byte_fallback"), False),
        },
    }
    return json.dumps(contents, ensure_ascii=False).encode()


def added_tokens(tokens: list[str], kinds: list[int]) -> list[dict[str, Any]]:
    """Returns the tokens that are found in texts before anything else; the file has none of their flags."""
    return [
        added_token(text, token_id, special=kinds[token_id] != USER_DEFINED)
        for token_id, text in enumerate(tokens)
        if kinds[token_id] in (UNKNOWN, CONTROL, USER_DEFINED)
    ]


def around(file: Entries, tokens: list[str], usual: str | None) -> tuple[Tokens, Tokens]:
    """Returns the tokens that are added before and after each text, each with its ID.

    Of a file that does not say which, as older converters wrote, that is the token with the `usual` entry.
    """
    before, after = (
        [(file.token(token_id, tokens), token_id)]
        if (token_id := file.token_id(entry)) is not None
        and file.flag(f"add_{entry}_token", default=entry == usual)
        else []
        for entry in ("bos", "eos")
    )
    return before, after


def words_of(file: Entries) -> bytes:
    """Returns the `tokenizer.json` of a file of the kind `bert`."""
    tokens, _, kinds = file.table()
    words = [word(text, kind) for text, kind in zip(tokens, kinds, strict=True)]
    check_distinct(file, words)
    lowercase = file.entries.get("normalizer.lowercase")
    upper = bert_vocabulary.upper_case_word(words)
    if lowercase is None and upper is not None:
        file.refuse("normalizer.lowercase", f"expected true or false, as the word {upper!r} is in upper case")
    config: dict[str, Any] = {
        "do_lower_case": lowercase is not False,
        "strip_accents": file.entries.get("normalizer.strip_accents"),
    }
    for name, entries in (
        ("pad", ["padding"]),
        ("unk", ["unknown"]),
        ("cls", ["cls", "bos"]),
        ("sep", ["seperator", "eos"]),  # as the format spells it
        ("mask", ["mask"]),
    ):
        token_id = file.token_id(*entries)
        if token_id is not None:
            config[f"{name}_token"] = file.token(token_id, words)
    ids = {text: token_id for token_id, text in enumerate(words)}
    beside = Beside(Value(config, file.source, PREFIX))
    return bert_vocabulary.tokenizer_of(ids, beside, file.source, added_tokens(words, kinds))


def word(text: str, kind: int) -> str:
    """Returns a token of WordPiece as `vocab.txt` has it."""
    if kind in (UNKNOWN, UNUSED) or (text.startswith("[") and text.endswith("]")):
        return text
    if kind == CONTROL:
        # Older converters took it for a word, unless it is in brackets.
        return text.removeprefix(SPACE) or text
    return text[1:] if text.startswith(SPACE) and text != SPACE else f"##{text}"


def check_distinct(file: Entries, tokens: list[str]) -> None:
    """Raises `VocabularyError` if a token occurs twice, of which a `tokenizer.json` has the last."""
    ids: dict[str, int] = {}
    for token_id, text in enumerate(tokens):
        first = ids.setdefault(text, token_id)
        if first != token_id:
            file.refuse("tokens", f"expected each token once, got {text!r} at {first} and {token_id}")
