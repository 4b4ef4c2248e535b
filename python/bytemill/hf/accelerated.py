"""`accelerate`: a tokenizer of `transformers` that encodes and decodes here.

The object stays what it is, with another class: its own with `_encode_plus` and `_decode` of `Accelerated`,
through which all of its methods encode and decode. Calls that are not known here go to the original methods.
The contract: every call returns what it returned before.

The class is one like any other: it makes tokenizers (`from_pretrained`), and others derive from it. So an
object of it may have no engine yet, or none for its backend any more: it is made when a call needs it. Where
it is refused, calls go to the original methods.
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
from bytemill.hf.held import ENGINE, held_of, hold

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import SupportsIndex

__all__ = ["accelerate", "restore"]

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
    go to the original methods; so do offsets where characters have no token, as in SmolLM 2 and BLOOM.

    Copies are accelerated too, and so are the tokenizers that its class makes, by `from_pretrained` for
    instance. After the methods of the tokenizer have added tokens, the next call reads it again, and where it
    is refused then, all calls go to the original methods. After a change of `backend_tokenizer` itself, call
    this again.

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
    kind = original_class(type(tokenizer))
    if own := [name for name in REPLACED if getattr(kind, name) is not getattr(base, name)]:
        raise TypeError(f"the class {kind.__name__} has its own {', '.join(own)}, which cannot be replaced")
    held = held_of(tokenizer)
    try:
        (hold(tokenizer) if held.is_off else held).make(kind.__name__)
    except Exception:
        restore(tokenizer)
        raise
    return accelerated(tokenizer)


def restore(tokenizer: Any) -> Any:
    """Makes an accelerated tokenizer the one that it was, and returns it; others are returned as they are.

    An object of a class that was derived from that of an accelerated tokenizer keeps its class, and has the
    original methods.
    """
    if isinstance(tokenizer, Accelerated) and is_derived(type(tokenizer)):
        hold(tokenizer, is_off=True)
    elif ENGINE in getattr(tokenizer, "__dict__", ()) or isinstance(tokenizer, Accelerated):
        tokenizer.__dict__.pop(ENGINE, None)
        tokenizer.__class__ = original_class(type(tokenizer))
    return tokenizer


def accelerated(tokenizer: Any) -> Any:
    """Gives a tokenizer the class that accelerates, unless it has it, and returns it."""
    if not isinstance(tokenizer, Accelerated):
        tokenizer.__class__ = accelerated_class(type(tokenizer))
    return tokenizer


def accelerated_class(kind: type) -> type:
    """Returns the class of accelerated tokenizers of a class, which files name like the original."""
    if kind not in CLASSES:
        names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
        CLASSES[kind] = type(kind.__name__, (Accelerated, kind), names)
    return CLASSES[kind]


def original_class(kind: type) -> type:
    """Returns the class whose methods `Accelerated` replaces; a class that is not accelerated itself."""
    if not issubclass(kind, Accelerated):
        return kind
    classes = kind.__mro__
    return classes[classes.index(Accelerated) + 1]


def is_derived(kind: type) -> bool:
    """Returns whether an accelerated class is not one of `accelerated_class`, but derives from one."""
    return CLASSES.get(original_class(kind)) is not kind


def remade(make: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Makes a copy of an accelerated tokenizer, which gets its attributes afterwards."""
    return accelerated(make(*args))


class Accelerated:
    """The methods that replace those of a fast tokenizer."""

    def _encode_plus(self: Any, text: Any, *args: Any, **given: Any) -> Any:
        original = super()._encode_plus  # type: ignore[misc]
        # What is asked for later is of these texts, whatever becomes of the list.
        text = list(text) if isinstance(text, (list, tuple)) else text
        options, engine = DEFAULTS | given, held_of(self).engine()
        call = None if args or engine is None else call_of(self, engine, text, options)
        result = None if call is None or engine is None else result_of(engine, call)
        if call is None or engine is None or result is None:
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
        is_known = isinstance(ids, (list, tuple)) and not kwargs
        engine = (
            held_of(self).engine() if is_known and not cleans_up(self, clean_up_tokenization_spaces) else None
        )
        if engine is None:
            text: str = super()._decode(  # type: ignore[misc]
                token_ids, skip_special_tokens, clean_up_tokenization_spaces, **kwargs
            )
            return text
        return engine.decode(ids, skip_special=skip_special_tokens)

    def decode(self: Any, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        if is_batch(token_ids) and not kwargs.keys() - {"clean_up_tokenization_spaces"}:
            cleans = kwargs.get("clean_up_tokenization_spaces")
            is_own = has_own(original_class(type(self)), "decode")
            engine = None if is_own or cleans_up(self, cleans) else held_of(self).engine()
            if engine is not None:
                return engine.decode_batch(token_ids, skip_special=skip_special_tokens)
        return super().decode(token_ids, skip_special_tokens, **kwargs)  # type: ignore[misc]

    def _add_tokens(self: Any, *args: Any, **kwargs: Any) -> int:
        try:
            count: int = super()._add_tokens(*args, **kwargs)  # type: ignore[misc]
        finally:
            held_of(self).forget()
        return count

    def update_post_processor(self: Any) -> None:
        try:
            super().update_post_processor()  # type: ignore[misc]
        finally:
            held_of(self).forget()

    @classmethod
    def from_pretrained(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if is_derived(cls):
            return super().from_pretrained(*args, **kwargs)  # type: ignore[misc]
        # What the original class does there depends on its name and its own methods.
        original: Any = original_class(cls)
        tokenizer = original.from_pretrained(*args, **kwargs)
        return accelerated(tokenizer) if type(tokenizer) is original else tokenizer

    def __reduce_ex__(self: Any, protocol: SupportsIndex) -> Any:
        kind = type(self)
        reduced: Any = super().__reduce_ex__(protocol)
        make, args, *rest = reduced
        if is_derived(kind):
            return make, args, *rest
        # The name of the class is that of the original.
        original = original_class(kind)
        return remade, (make, tuple(original if each is kind else each for each in args)), *rest


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
