"""A SentencePiece model as `tokenizer.json`: merges of characters, and bytes for characters that it lacks.

The library merges pairs in the order of a list, SentencePiece those that make the piece of the highest score.
The list has, for every piece in the order of scores, all its divisions into two pieces. Then both merge in
the same way:

- Both always merge the best pair, the leftmost first. Where scores differ, the pairs that are best are those
  that make one piece, for the list as for the model.
- These pairs are all the same two pieces, so that their order in the list decides nothing. For what was
  merged so far between the ends of a pair would have been merged in the same order if the text were that
  piece only; and then there is only one way to the last two.

So scores must differ, but for what `equal_scores` shows to be merged alike, and all characters of pieces must
be pieces. A normalizer of the library must do the same to texts as the model; otherwise an error is raised.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from bytemill._backend import SentencePieceModel
from bytemill.errors import VocabularyError
from bytemill.formats.equal_scores import division_order, tied

if TYPE_CHECKING:
    from bytemill.definition import Definition

__all__ = ["FORMS", "Form", "format_pieces", "format_pieces_config"]

MARK = "\u2581"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

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
    model = SentencePieceModel(definition.model)
    pieces, kinds = model.pieces, model.types.tolist()
    check_rules(definition, model)
    check_pieces(definition, model)
    if model.unk_id is None:
        refuse(definition, "it has no unknown piece")
    prefix = model.normalizer_spec["add_dummy_prefix"]
    form = form or ("llama" if prefix else "gemma")
    symbols = [text for text, kind in zip(pieces, kinds, strict=True) if kind == USER_DEFINED]
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
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": pieces[model.unk_id],
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": BYTE in kinds,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": merges_of(model),
        },
    }
    return json.dumps(contents, ensure_ascii=False).encode()


def merges_of(model: SentencePieceModel) -> list[list[str]]:
    """Returns all divisions of pieces into two, those with the highest score first."""
    columns = zip(model.pieces, model.scores.tolist(), model.types.tolist(), strict=True)
    normal = {text: score for text, score, kind in columns if kind == NORMAL}
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
        if kind == UNUSED:
            refuse(definition, f"the piece {text!r} is unused, and would be merged")
        if kind not in {NORMAL, USER_DEFINED} and len(text) == 1:
            refuse(definition, f"the piece {text!r} is a character, and would be found in texts")
        if kind != NORMAL or len(text) == 1:
            continue
        if math.isnan(score):
            refuse(definition, f"the score of the piece {text!r} is not a number")
        scores[text] = score
        missing = next((letter for letter in text if kinds.get(letter) not in {NORMAL, USER_DEFINED}), None)
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
    options = {"single_word": False, "lstrip": False, "rstrip": False}
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
        flags = options | {"normalized": False, "special": True}
        tokens.append({"id": token_id, "content": text} | flags)
    for text in symbols:
        flags = options | {"normalized": True, "special": False}
        tokens.append({"id": vocabulary[text], "content": text} | flags)
    return tokens


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
