"""Hugging Face's `tokenizer.json`: what of it is byte-level BPE, and nothing else.

The file describes a pipeline, of which an encoding is a special case: no normalizer; a pre-tokenizer that
cuts by one pattern and shows bytes as characters (`ByteLevel`, whose alphabet is that of `data_gym`); the
model BPE over these characters; a `ByteLevel` decoder; and *added tokens*, which are found before anything
else. Added tokens become special tokens. The library always finds them in text, so its ids are those of
`encode(text, allowed_special="all")`.

What departs from this is refused, as is a merge list that gives other ids than ranks would (see
`merge_list`). Tokens that a post-processor puts before and after a text are no part of an encoding; a
warning names them.

How the library gives ids to added tokens decides what can be written: a token that the model's vocabulary
has gets its id from there, others are numbered on, whatever the file says. So those written here are in the
model's vocabulary too, where no merges lead to them. Two names for one id cannot be written: the library
forgets the first.
"""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

from bytemill.errors import PatternError, VocabularyError
from bytemill.formats.data_gym import BYTE_OF_CHARACTER, token_bytes, token_text
from bytemill.formats.dialects import from_oniguruma, matches_everything, to_oniguruma
from bytemill.formats.merge_list import check_merges, merges_of
from bytemill.formats.parts import Parts, checked_ids, checked_ranks
from bytemill.patterns import GPT2_PATTERN

if TYPE_CHECKING:
    from bytemill.core import Encoding
    from bytemill.formats.json_file import Value

__all__ = ["format_tokenizer", "format_tokenizer_config", "parse_tokenizer"]

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


# --- Reading ---


def parse_tokenizer(file: Value) -> Parts:
    """Reads a `tokenizer.json`.

    Raises:
        VocabularyError: It is malformed, or does something that an encoding does not; the message names file,
            place and reason.
    """
    # First what tells most: of another model, everything else is different too.
    check_type(file["model"])
    for part, why in (
        ("normalizer", "texts would be changed before they are encoded"),
        ("truncation", "ids would be left out"),
        ("padding", "ids would be added"),
    ):
        if not file[part].is_null:
            file[part].refuse(f"expected null, got {kind(file[part])}: {why}, which an encoding does not do")
    check_decoder(file["decoder"])
    pattern = parse_pre_tokenizer(file["pre_tokenizer"])
    special_tokens = added_tokens(file["added_tokens"])
    ranks = parse_model(file["model"], special_tokens)
    return Parts(pattern, ranks, special_tokens, warning=warning_of(file["post_processor"]))


def kind(component: Value) -> str:
    """The type of a component."""
    return str(component.object().get("type"))


def check_decoder(decoder: Value) -> None:
    """Checks that ids are decoded to bytes."""
    if decoder.is_null or kind(decoder) != "ByteLevel":
        decoder.refuse(f"expected a ByteLevel decoder, got {'none' if decoder.is_null else kind(decoder)}")


def parse_pre_tokenizer(component: Value) -> str:
    """Reads the pre-tokenizer: gives the pattern."""
    if component.is_null:
        component.refuse("expected ByteLevel, or Split and ByteLevel, got none")
    steps = [component]
    if kind(component) == "Sequence":
        steps = list(component["pretokenizers"])
    kinds = [kind(step) for step in steps]
    if kinds not in (["ByteLevel"], ["Split", "ByteLevel"]):
        component.refuse(
            f"expected ByteLevel, or Split and ByteLevel, got {', '.join(kinds) or 'nothing'}: "
            "an encoding cuts text by one pattern"
        )
    byte_level = steps[-1]
    if byte_level["add_prefix_space"].contents is not False:
        byte_level["add_prefix_space"].refuse("expected false: an encoding puts no space before a text")
    splits_again = byte_level["use_regex"].is_null or byte_level["use_regex"].flag()
    if len(steps) == 1:
        if not splits_again:
            byte_level["use_regex"].refuse(
                "expected true without a Split before, got false: nothing cuts text"
            )
        return GPT2_PATTERN
    if splits_again:
        byte_level["use_regex"].refuse("expected false after a Split, got true: text would be cut again")
    return parse_split(steps[0])


def parse_split(split: Value) -> str:
    """Reads a `Split`: gives its pattern, if its matches are the pieces."""
    regex = split["pattern"]["Regex"]
    if regex.is_null:
        split["pattern"].refuse("expected a Regex")
    try:
        pattern = from_oniguruma(regex.text())
    except PatternError as error:
        regex.refuse(str(error))
    behavior, inverted = split["behavior"].text(), split["invert"].flag()
    if behavior == "Isolated":
        if not matches_everything(pattern):
            split.refuse(
                f"what the pattern {regex.text()!r} does not match would become a piece, which an encoding "
                "leaves out; expected a pattern that certainly matches every character"
            )
    elif behavior != "Removed" or not inverted:
        split["behavior"].refuse(
            f'expected "Isolated", or "Removed" with invert, got {behavior!r} '
            f"{'with' if inverted else 'without'} invert"
        )
    return pattern


def added_tokens(tokens: Value) -> dict[str, int]:
    """Reads the added tokens; their order is that of the file."""
    ids: dict[str, int] = {}
    normalized: dict[bool, list[str]] = {False: [], True: []}
    for token in [] if tokens.is_null else tokens:
        content = token["content"].text()
        for option in ("single_word", "lstrip", "rstrip"):
            if token[option].flag():
                token[option].refuse(
                    f"expected false, got true: the token {content!r} would depend on the text around it"
                )
        if not content:
            token["content"].refuse("expected a text, got an empty one")
        if content in ids:
            token["content"].refuse(f"the token {content!r} is there twice")
        ids[content] = token["id"].integer()
        normalized[token["normalized"].flag()].append(content)
    checked_ids(ids.items(), tokens.source)
    for first, second in product(normalized[False], normalized[True]):
        if overlap(first, second):
            tokens.refuse(
                f"{first!r} and {second!r} can overlap in a text: the library would look for the first "
                "everywhere before it looks for the second, as only the second is normalized"
            )
    return ids


def overlap(first: str, second: str) -> bool:
    """Tells whether occurrences of two strings can share characters."""
    if first in second or second in first:
        return True
    return any(
        first.endswith(second[:size]) or second.endswith(first[:size])
        for size in range(1, min(len(first), len(second)))
    )


def parse_model(model: Value, added: dict[str, int]) -> dict[bytes, int]:
    """Reads the model: gives the mergeable tokens."""
    check_options(model)
    vocabulary = model["vocab"].ids()
    merges = parse_merges(model["merges"])
    made = {left + right for left, right in merges}
    tokens: dict[str, bytes] = {}
    for text in vocabulary:
        # An added token that is made by merges too, or is a byte, is both.
        if text in added and text not in made and text not in BYTE_OF_CHARACTER:
            continue
        try:
            tokens[text] = token_bytes(text)
        except ValueError as error:
            model["vocab"].refuse(f"the token {text!r}, which is no added token: {error}")
    ranks = checked_ranks({token: vocabulary[text] for text, token in tokens.items()}, model.source)
    unknown = next((text for merge in merges for text in merge if text not in tokens), None)
    if unknown is not None:
        model["merges"].refuse(f"{unknown!r} is no token in {model['vocab'].place}")
    check_merges(
        ranks,
        [(tokens[left], tokens[right]) for left, right in merges],
        model.source,
        whole_pieces=model["ignore_merges"].flag(),
    )
    check_added_ids(added, vocabulary, model)
    return ranks


def check_type(model: Value) -> None:
    """Checks that the model is BPE."""
    if not model["type"].is_null and model["type"].text() != "BPE":
        model["type"].refuse(f"expected BPE, got {model['type'].text()}: an encoding is byte-level BPE")


def check_options(model: Value) -> None:
    """Checks that BPE is all that the model does."""
    if model["dropout"].contents:
        model["dropout"].refuse("expected null: with dropout, ids would be random")
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model[affix].contents:
            model[affix].refuse(f"expected null, got {model[affix].contents!r}")


def parse_merges(merges: Value) -> list[tuple[str, str]]:
    """Reads the merges: pairs of texts, or texts with a space between."""
    pairs = []
    for place, merge in enumerate(merges.list()):
        match merge.split(" ") if isinstance(merge, str) else merge:
            case [str(left), str(right)]:
                pairs.append((left, right))
            case _:
                merges.refuse(f"merge {place}: expected two tokens, got {merge!r}")
    return pairs


def check_added_ids(added: dict[str, int], vocabulary: dict[str, int], model: Value) -> None:
    """Checks that the ids of the added tokens are those that the library gives them, see the module."""
    text_of_id = {token_id: text for text, token_id in vocabulary.items()}
    highest: int | None = None
    for content, token_id in added.items():
        given = vocabulary.get(content)
        if given is None:
            given = len(vocabulary) if highest is None or highest < len(vocabulary) else highest + 1
        if given != token_id:
            model["vocab"].refuse(
                f"the added token {content!r} has the id {token_id}, but the library gives it {given}: that "
                "which it has here, or else the next number"
            )
        text = text_of_id.get(token_id, content)
        if text != content:
            model["vocab"].refuse(f"{text!r} and the added token {content!r} have the same id {token_id}")
        highest = token_id if highest is None else max(highest, token_id)


def warning_of(processor: Value) -> str | None:
    """Says what a post-processor does to texts, if anything; refuses those that are not known."""
    if processor.is_null:
        return None
    steps = list(processor["processors"]) if kind(processor) == "Sequence" else [processor]
    names: list[str] = []
    for step in steps:
        if kind(step) == "TemplateProcessing":
            parts = [part["SpecialToken"] for part in step["single"]]
            names += [part["id"].text() for part in parts if not part.is_null]
        elif kind(step) != "ByteLevel":
            step.refuse(f"expected ByteLevel or TemplateProcessing, got {kind(step)}")
    if not names:
        return None
    return (
        f"{processor.source}: its post-processor adds {', '.join(names)} to each text, which an encoding "
        "does not: `encode_batch_to_numpy` has `prepend` and `append`"
    )


# --- Writing ---


def format_tokenizer(encoding: Encoding) -> bytes:
    """Gives the contents of a `tokenizer.json`.

    Raises:
        VocabularyError: The library would give other ids, or other text for a special token.
        PatternError: The pattern may mean something else to the library.
    """
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name
    special_tokens = encoding._special_tokens  # noqa: SLF001 - tiktoken's name
    pairs, whole = merges_of(ranks)
    vocabulary = {token_text(token): token_id for token, token_id in ranks.items()}
    for text, token_id in special_tokens.items():
        check_special_token(text, token_id, vocabulary)
    checked_ids(
        (*vocabulary.items(), *special_tokens.items()), f"{encoding!r} cannot be written as tokenizer.json"
    )
    pattern = encoding._pat_str  # noqa: SLF001 - tiktoken's name
    regex = to_oniguruma(pattern)
    isolated = matches_everything(pattern)
    split = {
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": "Isolated" if isolated else "Removed",
        "invert": not isolated,
    }
    vocabulary |= special_tokens
    contents = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            added_token(text, token_id)
            for text, token_id in sorted(special_tokens.items(), key=lambda item: item[1])
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, BYTE_LEVEL]},
        "post_processor": None,
        "decoder": BYTE_LEVEL,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            # A token that no merges lead to is only found by looking up whole pieces.
            "ignore_merges": bool(whole),
            "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])),
            "merges": [[token_text(left), token_text(right)] for left, right in pairs.values()],
        },
    }
    return json.dumps(contents, ensure_ascii=False).encode()


def check_special_token(text: str, token_id: int, vocabulary: dict[str, int]) -> None:
    """Checks that the library tells a special token from others, and decodes it to itself."""
    if vocabulary.get(text, token_id) != token_id:
        message = (
            f"the special token {text!r} cannot be written as tokenizer.json: that is how the mergeable "
            f"token {token_bytes(text)!r} with the id {vocabulary[text]} is spelled there"
        )
        raise VocabularyError(message)
    if not text.isascii() and all(character in BYTE_OF_CHARACTER for character in text):
        message = (
            f"the special token {text!r} cannot be written as tokenizer.json: all its characters stand for "
            f"bytes there, so that it would be decoded to {token_bytes(text)!r}"
        )
        raise VocabularyError(message)


def added_token(text: str, token_id: int) -> dict[str, Any]:
    """The entry of an added token."""
    options = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": token_id, "content": text, **options}


def format_tokenizer_config(encoding: Encoding) -> bytes:
    """Gives the contents of the `tokenizer_config.json` with which `transformers` loads the directory."""
    contents: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
    }
    if "<|endoftext|>" in encoding.special_tokens_set:
        contents["eos_token"] = "<|endoftext|>"  # noqa: S105 - no password
    return json.dumps(contents, indent=1).encode()
