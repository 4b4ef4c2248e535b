"""BERT's `vocab.txt`: a token on each line, whose ID is the number of the line. Read only.

`tokenizer_config.json` in the same directory says how texts are normalized and which tokens are special;
without that file, the defaults of `transformers` apply. The definition is the `tokenizer.json` of the same
meaning.
"""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from bytemill.errors import VocabularyError
from bytemill.formats.huggingface import added_token, template_processing
from bytemill.formats.json_file import brief
from bytemill.formats.lines import text_lines
from bytemill.formats.transformers_folder import check_class, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill.formats.json_file import Value
    from bytemill.formats.transformers_folder import Beside

__all__ = ["ids_of", "looks_like_vocabulary", "tokenizer_of", "upper_case_word"]

# Lines among which the unknown token is, and its name in nearly all models.
FIRST_LINES = 1000
UNKNOWN = "[UNK]"

# The special tokens, by their names in the configuration.
SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": UNKNOWN,
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}

# Those that no text needs.
OPTIONAL = {"pad_token", "mask_token"}

# The classes of tokenizers that read the file in this way, without `Tokenizer` or `TokenizerFast` at the end.
CLASSES = ["Bert", "ConvBert", "DistilBert", "Electra", "LayoutLM", "MobileBert", "RetriBert", "SqueezeBert"]


def looks_like_vocabulary(contents: bytes) -> bool:
    """Returns whether a file is one: it has the unknown token on a line of its own, near the start."""
    lines = contents[: 1 << 16].splitlines()[:FIRST_LINES]
    return UNKNOWN.encode() in lines


def tokenizer_of(
    ids: dict[str, int], beside: Beside, source: str, further: Iterable[dict[str, Any]] = ()
) -> bytes:
    """Returns the `tokenizer.json` that gives the IDs of a vocabulary.

    Args:
        ids: The ID of each token.
        beside: The files in the same directory.
        source: Where the vocabulary comes from, for messages.
        further: Entries of added tokens besides the special tokens that the configuration names.

    Raises:
        VocabularyError: A special token is missing, the configuration is that of another kind of tokenizer or
            names a token that is not supported, or it is missing and the vocabulary has upper-case words.
    """
    config = beside.config
    special = SPECIAL if config is None else named(config)
    if config is not None:
        check_class(config, CLASSES)
    elif word := upper_case_word(ids):
        raise VocabularyError(
            f"{source}: expected a tokenizer_config.json in the same directory that says whether "
            f"do_lower_case is true, "
            f"as the vocabulary has words in upper case such as {brief(repr(word))}"
        )
    for token in special.values():
        if token not in ids:
            raise VocabularyError(f"{source}: expected a line {brief(token)}, the special token, got none")
    beside.check_tokens({text: ids[text] for text in special.values()}, has_normalizer=True)
    first, last = special["cls_token"], special["sep_token"]
    added = {text: added_token(text, ids[text]) for text in special.values()}
    added |= {token["content"]: token for token in further if token["content"] not in added}
    file = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": sorted(added.values(), key=itemgetter("id")),
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": flag(config, "tokenize_chinese_chars", default=True),
            "strip_accents": flag(config, "strip_accents", default=None),
            "lowercase": flag(config, "do_lower_case", default=True),
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": template_processing([(first, ids[first])], [(last, ids[last])], []),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": special["unk_token"],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }
    return json.dumps(file, ensure_ascii=False).encode()


def ids_of(contents: bytes, source: str) -> dict[str, int]:
    """Returns the ID of each token, of equal ones the last.

    Raises:
        VocabularyError: It is not UTF-8, or the libraries read a line differently: an empty one, or one that
            ends in white space.
    """
    try:
        text = contents.decode()
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{source}: expected UTF-8: {error}") from None
    ids: dict[str, int] = {}
    for number, line in enumerate(text_lines(text)):
        token = line.removesuffix("\r")
        if not token or token != token.rstrip():
            raise VocabularyError(
                f"{source}: line {number + 1}: expected a token without white space at its end, "
                f"got {brief(repr(token))}"
            )
        ids[token] = number
    return ids


def upper_case_word(tokens: Iterable[str]) -> str | None:
    """Returns the first token in upper case that is not a special token, if there is one."""
    return next((token for token in tokens if token != token.lower() and not token.startswith("[")), None)


def named(config: Value) -> dict[str, str]:
    """Returns the special tokens by their names in the configuration, without those that are null there."""
    special = {}
    for name, usual in SPECIAL.items():
        token = config[name]
        if not token.is_null:
            special[name] = text_of(token)
        elif name not in config.object():
            special[name] = usual
        elif name not in OPTIONAL:
            token.refuse("expected a token, which each text or an unknown word needs")
    return special


def flag(config: Value | None, name: str, *, default: bool | None) -> bool | None:
    """Returns an option of the configuration."""
    if config is None or config[name].is_null:
        return default
    return config[name].flag()
