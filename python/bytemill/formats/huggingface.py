"""Hugging Face's `tokenizer.json` of byte-level BPE, as it is written.

The file describes a pipeline, of which an encoding is a special case: no normalizer; a pre-tokenizer that
splits by one pattern and writes bytes as characters (`ByteLevel`, with the alphabet of `data_gym`); the model
BPE over these characters; a `ByteLevel` decoder; and *added tokens*, which are found before anything else.
Special tokens become added tokens. The library always finds them in text, so its IDs are those of
`encode(text, allowed_special="all")`.

The library assigns IDs to added tokens in its own way: a token that is in the model's vocabulary gets its ID
from there, others are numbered on, whatever the file says. So added tokens are written to the model's
vocabulary too, where no merges make them. Two names for one ID cannot be written: the library forgets the
first.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from bytemill._backend import SentencePieceModel, build_core, matches_everything
from bytemill.definition import Definition, tokens_by_id
from bytemill.errors import VocabularyError
from bytemill.formats.data_gym import BYTE_OF_CHARACTER, token_bytes, token_text
from bytemill.formats.dialects import to_oniguruma
from bytemill.formats.sentencepiece_model import merging_model
from bytemill.patterns import WHOLE_TEXT_PATTERN
from bytemill.reference_sentencepiece import MARK, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytemill.definition import Tokens

__all__ = [
    "FORMS",
    "Form",
    "added_token",
    "division_order",
    "format_pieces",
    "format_pieces_config",
    "format_tokenizer",
    "format_tokenizer_config",
    "template_processing",
    "tied",
    "tokens_around",
]

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def format_tokenizer(definition: Definition, *, normalizer: str | None = None) -> bytes:
    """Returns the contents of a `tokenizer.json`.

    Args:
        definition: The definition.
        normalizer: The type of a normalizer of the whole text, special tokens included.

    Raises:
        VocabularyError: The library would give different token IDs, or other text for a special token.
        PatternError: The pattern may mean something else to the library.
    """
    name, pattern, ranks, special_tokens, *_ = definition
    for text, token_id in special_tokens.items():
        check_special_token(text, token_id, ranks)
    ids = {*ranks.values(), *special_tokens.values()}
    if len(ids) < len(ranks) + len(special_tokens):
        spelled = ((token_text(token), token_id) for token, token_id in ranks.items())
        tokens_by_id(
            (*spelled, *special_tokens.items()),
            f"the encoding {name!r} cannot be written as tokenizer.json",
        )

    core = build_core(ranks, {}, WHOLE_TEXT_PATTERN)
    vocabulary_and_merges, has_whole = core.model_entries(special_tokens)
    regex = to_oniguruma(pattern)
    isolated = matches_everything(pattern)
    split = {
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": "Isolated" if isolated else "Removed",
        "invert": not isolated,
    }
    contents = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            added_token(text, token_id, normalized=normalizer is not None)
            for text, token_id in sorted(special_tokens.items(), key=lambda item: item[1])
        ],
        "normalizer": normalizer and {"type": normalizer},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, BYTE_LEVEL]},
        "post_processor": template_processing(*tokens_around(definition)),
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
            "ignore_merges": has_whole,
        },
    }
    # The model is the last entry, and its own last entries are written by the core, five times as fast.
    start = json.dumps(contents, ensure_ascii=False).removesuffix("}}")
    return f"{start}, {vocabulary_and_merges}}}}}".encode()


def check_special_token(text: str, token_id: int, ranks: dict[bytes, int]) -> None:
    """Raises an error for a special token that the library would confuse with another or change."""
    if not all(character in BYTE_OF_CHARACTER for character in text):
        return
    refusal = f"the special token {text!r} cannot be written as tokenizer.json"
    token = token_bytes(text)
    if ranks.get(token, token_id) != token_id:
        raise VocabularyError(
            f"{refusal}: that is how the mergeable token {token!r} with the id {ranks[token]} is spelled "
            "there"
        )
    if not text.isascii():
        raise VocabularyError(
            f"{refusal}: all its characters stand for bytes there, so that it would be decoded to {token!r}"
        )


def added_token(
    text: str, token_id: int, *, normalized: bool = False, special: bool = True
) -> dict[str, Any]:
    """Returns the entry of an added token, which is found in normalized text or in the text as it is."""
    options = {"single_word": False, "lstrip": False, "rstrip": False}
    return {"id": token_id, "content": text, **options, "normalized": normalized, "special": special}


def template_processing(
    before: Tokens, after: Tokens, before_second: Tokens | None = None
) -> dict[str, Any] | None:
    """Returns the post-processor that puts tokens around texts; `None` if there are no tokens.

    Args:
        before: The tokens before a text, each with its ID.
        after: Those after it.
        before_second: Those before the second text of a pair; if not given, `before`.
    """
    if not before and not after:
        return None

    def around(sequence: str, first: Tokens, type_id: int) -> list[dict[str, Any]]:
        ids = [("SpecialToken", text) for text, _ in first]
        ids += [("Sequence", sequence), *(("SpecialToken", text) for text, _ in after)]
        return [{kind: {"id": text, "type_id": type_id}} for kind, text in ids]

    single = around("A", before, 0)
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": single + around("B", before if before_second is None else before_second, 1),
        "special_tokens": {
            text: {"id": text, "ids": [token_id], "tokens": [text]} for text, token_id in (*before, *after)
        },
    }


def tokens_around(definition: Definition) -> tuple[Tokens, Tokens]:
    """Returns the tokens that a definition says are added before and after each text, each with its ID.

    Raises:
        VocabularyError: One of them is no token of the definition.
    """
    if definition.template is None:
        return [], []
    texts = {token_id: token_text(token) for token, token_id in definition.ranks.items()}
    if definition.model is not None:
        texts = dict(enumerate(SentencePieceModel(definition.model).pieces))

    def named(token: str | int) -> tuple[str, int]:
        text = texts.get(token) if isinstance(token, int) else token
        token_id = definition.special_tokens.get(token) if isinstance(token, str) else token
        if text is None or token_id is None:
            raise VocabularyError(
                f"the encoding {definition.name!r} cannot be written as tokenizer.json: its definition adds "
                f"{token!r} to each text, which is not one of its tokens"
            )
        return text, token_id

    before, after = (list(map(named, part)) for part in definition.template)
    return before, after


def format_tokenizer_config(definition: Definition) -> bytes:
    """Returns the contents of the `tokenizer_config.json` with which `transformers` loads the directory."""
    contents: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
    }
    if "<|endoftext|>" in definition.special_tokens:
        contents["eos_token"] = "<|endoftext|>"  # noqa: S105 - no password
    return json.dumps(contents, indent=1).encode()


# A SentencePiece model as `tokenizer.json`: merges of characters, and bytes for characters that it lacks.
#
# The library merges pairs in the order of a list, SentencePiece those that make the piece of the highest
# score. The list has, for every piece in the order of scores, all its divisions into two pieces. Then both
# merge in the same way:
#
# - Both always merge the best pair, the leftmost first. Where scores differ, the pairs that are best are
#   those that make one piece, for the list as for the model.
# - These pairs are all the same two pieces, so that their order in the list decides nothing. For what was
#   merged so far between the ends of a pair would have been merged in the same order if the text were that
#   piece only; and then there is only one way to the last two.
#
# So scores must differ, but for what `equal_scores` shows to be merged alike, and all characters of pieces
# must be pieces. A normalizer of the library must do the same to texts as the model; otherwise an error is
# raised.

# How files say what is done to spaces: as those of Llama 2, of Gemma, or of later Mistral models.
Form: TypeAlias = Literal["llama", "gemma", "metaspace"]
FORMS: tuple[Form, ...] = ("llama", "gemma", "metaspace")

MARKS = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
PREPENDED = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": MARK}, MARKS]}
# Finds nothing, as no space is left; Gemma's files have it.
AT_SPACES = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
METASPACE = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "never", "split": False}

DECODERS = [
    {"type": "Replace", "pattern": {"String": MARK}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
]
WITHOUT_PREFIX = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


def format_pieces(definition: Definition, form: Form | None = None) -> bytes:
    """Returns the contents of the `tokenizer.json` of a SentencePiece model.

    Args:
        definition: The definition of the model.
        form: How the file describes the treatment of spaces; by default like Llama 2's if the model puts a
            space before each text, otherwise like Gemma's.

    Raises:
        VocabularyError: The library would give different token IDs, with this form or any.

    Complexity:
        O(characters of all pieces).
    """
    assert definition.model is not None, "the definition is that of a SentencePiece model"
    model = merging_model(definition.model, "files of `tokenizers`")
    pieces, kinds = model.pieces, model.types.tolist()
    check_rules(definition, model)
    check_pieces(definition, model)
    if model.unk_id is None:
        refuse(definition, "it has no unknown piece")
    prefix = model.normalizer_spec["add_dummy_prefix"]
    form = form or ("llama" if prefix else "gemma")
    symbols = [text for text, kind in zip(pieces, kinds, strict=True) if kind == Kind.USER_DEFINED]
    check_form(definition, form, symbols, prefix=bool(prefix))
    vocabulary = {text: token_id for token_id, text in enumerate(pieces)}
    decoders = [*DECODERS, WITHOUT_PREFIX] if prefix else DECODERS
    contents = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added_tokens(definition, vocabulary, symbols),
        "normalizer": {"llama": PREPENDED, "gemma": MARKS, "metaspace": None}[form],
        "pre_tokenizer": {"llama": None, "gemma": AT_SPACES, "metaspace": METASPACE}[form],
        "post_processor": template_processing(*tokens_around(definition)),
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": pieces[model.unk_id],
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": Kind.BYTE in kinds,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": merges_of(model),
        },
    }
    return json.dumps(contents, ensure_ascii=False).encode()


def merges_of(model: SentencePieceModel) -> list[list[str]]:
    """Returns all divisions of pieces into two, those with the highest score first."""
    columns = zip(model.pieces, model.scores.tolist(), model.types.tolist(), strict=True)
    normal = {text: score for text, score, kind in columns if kind == Kind.NORMAL}
    merges = []
    for text, score in normal.items():
        divisions = ((text[:size], text[size:]) for size in range(1, len(text)))
        known = (pair for pair in divisions if pair[0] in normal and pair[1] in normal)
        merges += [(-score, division_order(*pair), pair) for pair in known]
    return [list(pair) for _, _, pair in sorted(merges, key=lambda merge: merge[:2])]


# --- What is refused ---
def refuse(definition: Definition, reason: str) -> NoReturn:
    """Raises `VocabularyError` with the reason."""
    raise VocabularyError(
        f"the SentencePiece model {definition.name!r} cannot be written as tokenizer.json: {reason}"
    )


def check_rules(definition: Definition, model: SentencePieceModel) -> None:
    """Raises an error for models that change texts in a way that no normalizer of the library does."""
    rules, options = model.normalizer_spec, model.trainer_spec
    if rules["precompiled_charsmap"]:
        refuse(definition, f"it normalizes texts by the rules {rules['name']!r}; expected identity")
    for rule, expected, why in (
        ("remove_extra_whitespaces", False, "spaces at the ends and in a row would stay"),
        ("escape_whitespaces", True, f"spaces would become {MARK!r}"),
    ):
        if rules[rule] is not expected:
            refuse(definition, f"expected {rule} to be {expected}, got {rules[rule]}: {why}")
    if options["treat_whitespace_as_suffix"]:
        refuse(definition, "it puts spaces after texts, by treat_whitespace_as_suffix")


def check_pieces(definition: Definition, model: SentencePieceModel) -> None:
    """Raises an error for pieces that the library would merge in another order, or not at all."""
    kinds = dict(zip(model.pieces, model.types.tolist(), strict=True))
    scores: dict[str, float] = {}
    for text, score in zip(model.pieces, model.scores.tolist(), strict=True):
        kind = kinds[text]
        if kind == Kind.UNUSED:
            refuse(definition, f"the piece {text!r} is unused, and would be merged")
        if kind not in {Kind.NORMAL, Kind.USER_DEFINED} and len(text) == 1:
            refuse(definition, f"the piece {text!r} is a character, and would be found in texts")
        if kind != Kind.NORMAL or len(text) == 1:
            continue
        if math.isnan(score):
            refuse(definition, f"the score of the piece {text!r} is not a number")
        scores[text] = score
        missing = next(
            (letter for letter in text if kinds.get(letter) not in {Kind.NORMAL, Kind.USER_DEFINED}), None
        )
        if missing is not None:
            refuse(
                definition, f"{missing!r} in the piece {text!r} is no piece, so that nothing would make it"
            )
    if (equal := tied(scores)) is not None:
        refuse(
            definition,
            f"the pieces {equal[0]!r} and {equal[1]!r} have the same score {scores[equal[0]]}, so that the "
            "leftmost is merged first, which a list of merges does not say",
        )


def check_form(definition: Definition, form: Form, symbols: list[str], *, prefix: bool) -> None:
    """Raises an error for a form that treats spaces or user-defined symbols differently."""
    if form not in FORMS:
        raise ValueError(f"expected a form of {', '.join(FORMS)}, got {form!r}")
    if prefix != (form == "llama"):
        reason = (
            "it puts a space before all texts, also those that begin with one: expected llama as the form"
            if prefix
            else "it puts no space before texts: expected gemma or metaspace as the form"
        )
        refuse(definition, reason)
    if symbols and form != "gemma":
        refuse(
            definition,
            f"it has user-defined symbols such as {symbols[0]!r}, "
            + ("and a space would be put after each" if prefix else "which only the form gemma finds"),
        )
    spaced = next((symbol for symbol in symbols if " " in symbol), None)
    if spaced is not None:
        refuse(definition, f"the user-defined symbol {spaced!r} has a space, which no normalized text has")


# --- Added tokens ---
def added_tokens(
    definition: Definition, vocabulary: dict[str, int], symbols: list[str]
) -> list[dict[str, Any]]:
    """Returns the added tokens: the special tokens, which are looked for first, and user-defined symbols."""
    tokens = []
    count = len(vocabulary)
    for text, token_id in sorted(definition.special_tokens.items(), key=lambda item: item[1]):
        if text in symbols:
            refuse(definition, f"{text!r} is a user-defined symbol and a special token")
        given = vocabulary.get(text, count)
        if given != token_id:
            refuse(
                definition,
                f"the special token {text!r} has the id {token_id}, but the library gives it {given}: that "
                "of the piece, or else the next number",
            )
        count += text not in vocabulary
        tokens.append(added_token(text, token_id))
    symbol_ids = ((text, vocabulary[text]) for text in symbols)
    return tokens + [added_token(*symbol, normalized=True, special=False) for symbol in symbol_ids]


def format_pieces_config(definition: Definition) -> bytes:
    """Returns the contents of the `tokenizer_config.json` with which `transformers` loads the directory."""
    assert definition.model is not None, "the definition is that of a SentencePiece model"
    model = SentencePieceModel(definition.model)
    contents: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
    }
    # Not the unknown token: `transformers` would have it found in texts.
    for name, token_id in (("bos", model.bos_id), ("eos", model.eos_id), ("pad", model.pad_id)):
        if token_id is not None and model.pieces[token_id] in definition.special_tokens:
            contents[f"{name}_token"] = model.pieces[token_id]
    return json.dumps(contents, indent=1).encode()


# Pieces with equal scores: when a list of merges says what SentencePiece does with them.
#
# SentencePiece merges the leftmost of the pairs whose pieces have the highest score; a list has an order
# between these pairs too. The pieces of equal scores that models have are runs of one character, above all
# spaces. Where no other piece has two of that character side by side, a run in a text is merged by itself.
# Whether both ways then choose the same pair each time, whatever the length of the run, is tried out: from
# some length on, the start of a run is done, and the rest is merged as a shorter run.

# Runs that are longer before they repeat are not tried out.
LIMIT = 300


def division_order(left: str, right: str) -> tuple[int, int]:
    """Returns the order of pairs whose pieces have the same score: those with longer left parts first."""
    return -len(left), -len(right)


def tied(scores: Mapping[str, float]) -> tuple[str, str] | None:
    """Returns two pieces with the same score whose order decides about IDs; `None` if there are none.

    Args:
        scores: The score of each piece that merges make.
    """
    groups: dict[float, list[str]] = {}
    for text, score in scores.items():
        groups.setdefault(score, []).append(text)
    for texts in groups.values():
        runs: dict[str, set[int]] = {}
        for text in texts:
            runs.setdefault(text[0] if set(text) == {text[0]} else text, set()).add(len(text))
        if len(texts) == 1:
            continue
        for start, lengths in runs.items():
            others = {text for text in scores if start * 2 in text} - {start * length for length in lengths}
            if len(start) > 1 or others or not same_choices(lengths):
                other = next((text for text in texts if text != texts[0]), texts[0])
                return texts[0], other
    return None


def same_choices(lengths: Iterable[int]) -> bool:
    """Returns whether the leftmost pair is the first in the list too, in runs of every length.

    Args:
        lengths: How long the runs are that are pieces.
    """
    known = frozenset(lengths)
    longest = repetition(known)
    return longest is not None and all(same_in(count, known) for count in range(2, longest + 3))


def pairs(parts: list[int], known: frozenset[int]) -> list[int]:
    """Returns where a pair of parts is a piece."""
    return [place for place in range(len(parts) - 1) if parts[place] + parts[place + 1] in known]


def same_in(count: int, known: frozenset[int]) -> bool:
    """Returns whether both rules choose the same pairs in a run of `count` equal characters."""
    parts = [1] * count
    while found := pairs(parts, known):
        place = found[0]
        if place != min(found, key=lambda place: (-parts[place], -parts[place + 1], place)):
            return False
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return True


def repetition(known: frozenset[int]) -> int | None:
    """Returns how many characters of an endless run are read until its merging repeats."""
    sizes = known | {1}
    done = {size for size in sizes if not any(size + other in known for other in sizes)}
    parts: list[int] = []
    seen: set[tuple[int, ...]] = set()
    for count in range(LIMIT):
        last = max((place + 1 for place, size in enumerate(parts) if size in done), default=0)
        parts = parts[last:]
        if tuple(parts) in seen:
            return count
        seen.add(tuple(parts))
        parts.append(1)
        while found := pairs(parts, known):
            parts[found[0] : found[0] + 2] = [parts[found[0]] + parts[found[0] + 1]]
    return None
