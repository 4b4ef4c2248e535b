"""Hugging Face's `tokenizer.json`, restricted to byte-level BPE.

The file describes a pipeline, of which an encoding is a special case: no normalizer; a pre-tokenizer that
splits by one pattern and writes bytes as characters (`ByteLevel`, with the alphabet of `data_gym`); the model
BPE over these characters; a `ByteLevel` decoder; and *added tokens*, which are found before anything else.
Added tokens become special tokens. The library always finds them in text, so its ids are those of
`encode(text, allowed_special="all")`.

Any other pipeline is refused here, as is a merge list that gives other ids than ranks would (see
`merge_list`): the core reads those files (`src/huggingface`), and the file itself is the definition.
The tokens that a post-processor adds to a text become the definition's template, which an encoding does not
apply.

The library assigns ids to added tokens in its own way: a token that is in the model's vocabulary gets its id
from there, others are numbered on, whatever the file says. So added tokens are written to the model's
vocabulary too, where no merges make them. Two names for one id cannot be written: the library forgets the
first.
"""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, Any

from bytemill.definition import Definition, Template, tokens_by_id
from bytemill.errors import PatternError, VocabularyError
from bytemill.formats.data_gym import BYTE_OF_CHARACTER, token_bytes, token_text
from bytemill.formats.dialects import from_oniguruma, matches_everything, to_oniguruma
from bytemill.formats.merge_list import check_merges, merges_of
from bytemill.patterns import GPT2_PATTERN

if TYPE_CHECKING:
    from bytemill.formats.json_file import Value

__all__ = ["format_tokenizer", "format_tokenizer_config", "parse_tokenizer"]

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


# --- Reading ---


def parse_tokenizer(file: Value, name: str) -> Definition:
    """Parses a `tokenizer.json`.

    Args:
        file: Its contents.
        name: The name of the encoding, which the file does not have.

    Raises:
        VocabularyError: It is malformed, or does something that an encoding does not; the message has file,
            entry and reason.
    """
    # The model first: with another one, everything else differs too.
    check_model_type(file["model"])
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
    template = parse_post_processor(file["post_processor"])
    return parse_model(file["model"], Definition(name, pattern, {}, special_tokens, template))


def kind(component: Value) -> str:
    """Returns the type of a component."""
    return str(component.object().get("type"))


def check_decoder(decoder: Value) -> None:
    """Refuses a decoder that does not decode ids to bytes."""
    if decoder.is_null or kind(decoder) != "ByteLevel":
        decoder.refuse(f"expected a ByteLevel decoder, got {'none' if decoder.is_null else kind(decoder)}")


def parse_pre_tokenizer(component: Value) -> str:
    """Returns the pattern of the pre-tokenizer."""
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
    """Returns the pattern of a `Split` if its matches are the pieces."""
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
    """Returns the id of each added token, in the order of the file."""
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
    tokens_by_id(ids.items(), tokens.source)
    for first, second in product(normalized[False], normalized[True]):
        if overlap(first, second):
            tokens.refuse(
                f"{first!r} and {second!r} can overlap in a text: the library would look for the first "
                "everywhere before it looks for the second, as only the second is normalized"
            )
    return ids


def overlap(first: str, second: str) -> bool:
    """Whether occurrences of two strings can share characters."""
    if first in second or second in first:
        return True
    return any(
        first.endswith(second[:size]) or second.endswith(first[:size])
        for size in range(1, min(len(first), len(second)))
    )


def parse_model(model: Value, definition: Definition) -> Definition:
    """Parses the model, and returns the definition with its mergeable tokens."""
    added = definition.special_tokens
    check_options(model)
    vocabulary = model["vocab"].ids()
    merges = parse_merges(model["merges"])
    made = {left + right for left, right in merges}
    tokens: dict[str, bytes] = {}
    for text in vocabulary:
        # An added token that merges make too, or that is a byte, is also a mergeable token.
        if text in added and text not in made and text not in BYTE_OF_CHARACTER:
            continue
        try:
            tokens[text] = token_bytes(text)
        except ValueError as error:
            model["vocab"].refuse(f"the token {text!r}, which is no added token: {error}")
    definition = definition._replace(ranks={token: vocabulary[text] for text, token in tokens.items()})
    definition.check(model.source)
    unknown = next((text for merge in merges for text in merge if text not in tokens), None)
    if unknown is not None:
        model["merges"].refuse(f"{unknown!r} is no token in {model['vocab'].path}")
    check_merges(
        definition.ranks,
        [(tokens[left], tokens[right]) for left, right in merges],
        model.source,
        whole_pieces=model["ignore_merges"].flag(),
    )
    check_added_ids(added, vocabulary, model)
    return definition


def check_model_type(model: Value) -> None:
    """Refuses other models than BPE."""
    if not model["type"].is_null and model["type"].text() != "BPE":
        model["type"].refuse(f"expected BPE, got {model['type'].text()}: an encoding is byte-level BPE")


def check_options(model: Value) -> None:
    """Refuses options that change what BPE does."""
    if model["dropout"].contents:
        model["dropout"].refuse("expected null: with dropout, ids would be random")
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model[affix].contents:
            model[affix].refuse(f"expected null, got {model[affix].contents!r}")


def parse_merges(merges: Value) -> list[tuple[str, str]]:
    """Parses the merges: pairs of texts, or texts with a space between them."""
    pairs = []
    for index, merge in enumerate(merges.list()):
        match merge.split(" ") if isinstance(merge, str) else merge:
            case [str(left), str(right)]:
                pairs.append((left, right))
            case _:
                merges.refuse(f"merge {index}: expected two tokens, got {merge!r}")
    return pairs


def check_added_ids(added: dict[str, int], vocabulary: dict[str, int], model: Value) -> None:
    """Refuses ids of added tokens other than those that the library assigns, see the module."""
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


def parse_post_processor(processor: Value) -> Template | None:
    """Returns the special tokens that a post-processor adds to each text; refuses unknown processors."""
    if processor.is_null:
        return None
    steps = list(processor["processors"]) if kind(processor) == "Sequence" else [processor]
    prefix: tuple[str, ...] = ()
    suffix: tuple[str, ...] = ()
    for step in steps:
        if kind(step) == "TemplateProcessing":
            # Each step adds its tokens outside those of the steps before.
            before, after = parse_template(step["single"])
            prefix, suffix = before + prefix, suffix + after
        elif kind(step) != "ByteLevel":
            step.refuse(f"expected ByteLevel or TemplateProcessing, got {kind(step)}")
    return Template(prefix, suffix) if prefix or suffix else None


def parse_template(single: Value) -> Template:
    """Returns the special tokens before and after the text in the template for one text."""
    before: list[str] = []
    after: list[str] = []
    names = before
    for part in single:
        if part["SpecialToken"].is_null:
            names = after
        else:
            names.append(part["SpecialToken"]["id"].text())
    return Template(tuple(before), tuple(after))


# --- Writing ---


def format_tokenizer(definition: Definition) -> bytes:
    """Returns the contents of a `tokenizer.json`.

    Raises:
        VocabularyError: The library would give other ids, or other text for a special token.
        PatternError: The pattern may mean something else to the library.
    """
    name, pattern, ranks, special_tokens, *_ = definition
    pairs, whole = merges_of(ranks)
    vocabulary = {token_text(token): token_id for token, token_id in ranks.items()}
    for text, token_id in special_tokens.items():
        check_special_token(text, token_id, vocabulary)
    tokens_by_id(
        (*vocabulary.items(), *special_tokens.items()),
        f"the encoding {name!r} cannot be written as tokenizer.json",
    )
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
            # A token that no merges make is only found by looking up whole pieces.
            "ignore_merges": bool(whole),
            "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])),
            "merges": [[token_text(left), token_text(right)] for left, right in pairs.values()],
        },
    }
    return json.dumps(contents, ensure_ascii=False).encode()


def check_special_token(text: str, token_id: int, vocabulary: dict[str, int]) -> None:
    """Refuses a special token that the library would confuse with another, or decode to other text."""
    refusal = f"the special token {text!r} cannot be written as tokenizer.json"
    if vocabulary.get(text, token_id) != token_id:
        raise VocabularyError(
            f"{refusal}: that is how the mergeable token {token_bytes(text)!r} with the id "
            f"{vocabulary[text]} is spelled there"
        )
    if not text.isascii() and all(character in BYTE_OF_CHARACTER for character in text):
        raise VocabularyError(
            f"{refusal}: all its characters stand for bytes there, so that it would be decoded to "
            f"{token_bytes(text)!r}"
        )


def added_token(text: str, token_id: int) -> dict[str, Any]:
    """Returns the entry of an added token."""
    options = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"id": token_id, "content": text, **options}


def format_tokenizer_config(definition: Definition) -> bytes:
    """Returns the contents of the `tokenizer_config.json` with which `transformers` loads the directory."""
    contents: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
    }
    if "<|endoftext|>" in definition.special_tokens:
        contents["eos_token"] = "<|endoftext|>"  # noqa: S105 - no password
    return json.dumps(contents, indent=1).encode()
