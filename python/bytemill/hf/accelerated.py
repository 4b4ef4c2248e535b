"""`accelerate`: a tokenizer of `transformers` that encodes and decodes here.

The object stays what it is, with another class: its own with `_encode_plus` and `_decode` of `Accelerated`,
through which all of its methods encode and decode. Calls that are not known here go to the original methods.
The contract: every call returns what it returned before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bytemill._optional import import_optional
from bytemill.hf.calls import DEFAULTS, call_of
from bytemill.hf.columns import result_of
from bytemill.hf.encoded import Encoded
from bytemill.hf.engine import Engine
from bytemill.hf.samples import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex


__all__ = ["accelerate", "restore"]

# Where the engine stands in an accelerated tokenizer.
ENGINE = "_bytemill_engine"

# The class of accelerated tokenizers of each class.
CLASSES: dict[type, type] = {}

# Methods that must be those of `transformers`: `Accelerated` stands in their place, or does what they do.
REPLACED = (
    "_encode_plus",
    "_decode",
    "_convert_encoding",
    "_add_tokens",
    "_eventual_warn_about_too_long_sequence",
    "set_truncation_and_padding",
    "update_post_processor",
)


def accelerate(tokenizer: Any) -> Any:
    """Makes a tokenizer of `transformers` encode and decode here; `restore` undoes it.

    The object stays the same, and so does everything that it returns: for texts, pairs, lists of words and
    batches of them, with truncation, padding, offsets and tensors. Calls that raise, or have other arguments,
    go to the original methods; so do offsets where characters have no token, as in SmolLM 2 and BLOOM. Tokens
    that are added by the methods of the tokenizer are seen; after a change of `backend_tokenizer` itself,
    call this again.

    Args:
        tokenizer: A fast tokenizer of `transformers` 5, with a model that `Encoding.from_file` reads.

    Returns:
        `tokenizer` itself.

    Raises:
        TypeError: It is no fast tokenizer, or its class encodes in a way of its own.
        VocabularyError: Its ids cannot be given exactly: the message names the component; or sample texts got
            other ids.

    Complexity:
        That of reading its `tokenizer.json`.
    """
    backend = import_optional("transformers.tokenization_utils_tokenizers", "accelerated tokenizers")
    base = backend.TokenizersBackend
    if not isinstance(tokenizer, base):
        raise TypeError(
            f"expected a fast tokenizer of transformers, not {type(tokenizer).__name__}: "
            "`AutoTokenizer.from_pretrained` makes one where there is a tokenizer.json"
        )
    restore(tokenizer)
    kind = type(tokenizer)
    if own := [name for name in REPLACED if getattr(kind, name) is not getattr(base, name)]:
        raise TypeError(f"the class {kind.__name__} has its own {', '.join(own)}, which cannot be replaced")
    engine = engine_of(tokenizer)
    check(tokenizer.backend_tokenizer, engine)
    return attach(tokenizer, engine)


def restore(tokenizer: Any) -> Any:
    """Makes an accelerated tokenizer the one that it was, and returns it; others are returned as they are."""
    if isinstance(tokenizer, Accelerated):
        del tokenizer.__dict__[ENGINE]
        tokenizer.__class__ = original_class(tokenizer)
    return tokenizer


def engine_of(tokenizer: Any) -> Engine:
    """Reads the tokenizer behind one of `transformers`."""
    return Engine.parse(tokenizer.backend_tokenizer.to_str().encode(), type(tokenizer).__name__)


def attach(tokenizer: Any, engine: Engine) -> Any:
    """Sets the engine of a tokenizer and the class that goes with it."""
    tokenizer.__dict__[ENGINE] = engine
    tokenizer.__class__ = accelerated_class(type(tokenizer))
    return tokenizer


def accelerated_class(kind: type) -> type:
    """Returns the class of accelerated tokenizers of a class, which files name like the original."""
    if kind not in CLASSES:
        names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
        CLASSES[kind] = type(kind.__name__, (Accelerated, kind), names)
    return CLASSES[kind]


def original_class(tokenizer: Any) -> type:
    """Returns the class that an accelerated tokenizer had."""
    bases: tuple[type, ...] = type(tokenizer).__bases__
    return bases[1]


class Accelerated:
    """The methods that replace those of a fast tokenizer."""

    def _encode_plus(self: Any, text: Any, *args: Any, **given: Any) -> Any:
        original = super()._encode_plus  # type: ignore[misc]
        # What is asked for later is of these texts, whatever becomes of the list.
        text = list(text) if isinstance(text, (list, tuple)) else text
        options, engine = DEFAULTS | given, self.__dict__[ENGINE]
        call = None if args else call_of(self, engine, text, options)
        result = None if call is None else result_of(engine, call)
        if call is None or result is None:
            return original(text, *args, **given)
        columns, tensors = result.columns, options["return_tensors"]
        for ids in columns["input_ids"]:
            self._eventual_warn_about_too_long_sequence(ids, options["max_length"], options["verbose"])
        if not call.is_batch and tensors is None and not call.with_overflow:
            columns = {
                name: values[0] if isinstance(values[0], list) else values for name, values in columns.items()
            }

        def encodings() -> list[Any]:
            return result.encodings() if engine.is_traced else original(text, **given).encodings

        batch_encoding = import_optional("transformers", "accelerated tokenizers").BatchEncoding
        return batch_encoding(
            columns,
            LazyEncodings(result.size, encodings),
            tensor_type=tensors,
            n_sequences=result.sequences,
        )

    def _decode(
        self: Any,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        if cleans_up(self, clean_up_tokenization_spaces) or kwargs or not isinstance(ids, (list, tuple)):
            text: str = super()._decode(  # type: ignore[misc]
                token_ids, skip_special_tokens, clean_up_tokenization_spaces, **kwargs
            )
            return text
        engine: Engine = self.__dict__[ENGINE]
        return engine.decode(ids, skip_special=skip_special_tokens)

    def decode(self: Any, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        if is_batch(token_ids) and not kwargs.keys() - {"clean_up_tokenization_spaces"}:
            cleans = kwargs.get("clean_up_tokenization_spaces")
            if not cleans_up(self, cleans) and not has_own(original_class(self), "decode"):
                engine: Engine = self.__dict__[ENGINE]
                return engine.decode_batch(token_ids, skip_special=skip_special_tokens)
        return super().decode(token_ids, skip_special_tokens, **kwargs)  # type: ignore[misc]

    def _add_tokens(self: Any, *args: Any, **kwargs: Any) -> int:
        count: int = super()._add_tokens(*args, **kwargs)  # type: ignore[misc]
        if count:
            self.__dict__[ENGINE] = engine_of(self)
        return count

    def update_post_processor(self: Any) -> None:
        super().update_post_processor()  # type: ignore[misc]
        self.__dict__[ENGINE] = engine_of(self)

    def __reduce_ex__(self: Any, protocol: SupportsIndex) -> tuple[Any, ...]:
        plain: Any = object.__new__(original_class(self))
        plain.__dict__.update(self.__dict__)
        engine = plain.__dict__.pop(ENGINE)
        return attach, (plain, engine)


def cleans_up(tokenizer: Any, wanted: bool | None) -> bool:
    """Returns whether spaces of a decoded text are removed, which BPE needs a second option for."""
    if wanted is None:
        wanted = tokenizer.clean_up_tokenization_spaces
    insists = tokenizer.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output
    return bool(wanted and insists)


def has_own(kind: type, name: str) -> bool:
    """Returns whether a class has its own method of a name, not that of `transformers`."""
    backend = import_optional("transformers.tokenization_utils_tokenizers", "accelerated tokenizers")
    return getattr(kind, name) is not getattr(backend.TokenizersBackend, name)


def is_batch(token_ids: Any) -> bool:
    """Returns whether these are lists of ids, as calls return them, and no tensors or the like."""
    return (
        isinstance(token_ids, list)
        and bool(token_ids)
        and all(type(ids) is list and (not ids or type(ids[0]) is int) for ids in token_ids)
    )


class LazyEncodings(Sequence[Any]):
    """The encodings in a `BatchEncoding`, for offsets and words: made when they are asked for.

    They are ours, which have all that those of `tokenizers` have. Pickling makes them those.
    """

    def __init__(self, count: int, make: Callable[[], list[Any]]) -> None:
        """Takes the number of encodings, and what makes them."""
        self._count = count
        self._make = make

    @cached_property
    def _made(self) -> list[Any]:
        return self._make()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._made[index]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, ([theirs(each) if isinstance(each, Encoded) else each for each in self._made],)


def theirs(encoded: Encoded) -> Any:
    """Returns the encoding of `tokenizers` with the contents of one of ours."""
    encoding = import_optional("tokenizers", "accelerated tokenizers").Encoding()
    encoding.__setstate__(json.dumps(state_of(encoded)).encode())
    return encoding


def state_of(encoded: Encoded) -> dict[str, Any]:
    """Returns everything that an encoding has, as a `tokenizers.Encoding` is pickled."""
    ranges = encoded.layout.ranges.items()
    return {
        "ids": encoded.ids,
        "type_ids": encoded.type_ids,
        "tokens": encoded.tokens,
        "words": encoded.word_ids,
        "offsets": encoded.offsets,
        "special_tokens_mask": encoded.special_tokens_mask,
        "attention_mask": encoded.attention_mask,
        "overflowing": [state_of(other) for other in encoded.overflowing],
        "sequence_ranges": {str(number): {"start": low, "end": high} for number, (low, high) in ranges},
    }
