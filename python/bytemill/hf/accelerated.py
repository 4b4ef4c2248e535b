"""`accelerate`: speeds up a tokenizer of `transformers` in place.

The object gets a subclass of its class that overrides `_encode_plus` and `_decode`; all of its methods encode
and decode through these. Calls with unknown arguments run the original methods. Every call returns the same
result as before.

The subclass works like any class: it creates tokenizers (`from_pretrained`), and other classes derive from
it. So an object may have no engine yet, or no longer one for its backend: a call creates it when it is
needed. If bytemill does not support the tokenizer, calls run the original methods.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from bytemill._arguments import integer
from bytemill._messages import import_optional
from bytemill.errors import VocabularyError
from bytemill.hf.added import AddedToken
from bytemill.hf.calls import DEFAULTS, call_of, result_of
from bytemill.hf.encoded import Encoded
from bytemill.hf.engine import Engine
from bytemill.hf.samples import check, set_lengths
from bytemill.hf.snapshot import Snapshot
from bytemill.sessions import PrefixCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import SupportsIndex

    from typing_extensions import Self

__all__ = ["ENGINE", "Held", "accelerate", "held_of", "hold", "is_accelerated", "restore"]

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


def accelerate(tokenizer: Any, *, prefix_cache: PrefixCache | SupportsIndex | None = None) -> Any:
    """Speeds up a tokenizer of `transformers` in place; `restore` undoes it.

    The object stays the same and returns the same results: for texts, pairs, lists of words and batches of
    them, with truncation, padding, offsets and tensors. Calls that raise or have other arguments run the
    original methods; so do calls for offsets if some characters have no token, as in SmolLM 2 and BLOOM.

    Copies are accelerated too, and so are tokenizers that its class creates, for example with
    `from_pretrained`. After `add_tokens`, the next call reads the tokenizer again; if it is no longer
    supported, all calls run the original methods. A new post-processor, as for another language, is followed;
    after any other change of `backend_tokenizer` itself, call this function again.

    Args:
        tokenizer: A fast tokenizer of `transformers` 5 or later, with a model that `Encoding.from_file`
            reads.
        prefix_cache: A `PrefixCache`, or the number of bytes for a new one: single texts of 4 KiB and more,
            such as conversations from `apply_chat_template`, are then encoded from where they differ from
            earlier ones. A pickled tokenizer takes its size along, not its contents.

    Returns:
        `tokenizer` itself.

    Raises:
        ImportError: `transformers` is not installed, or older than version 5.
        TypeError: It is not a fast tokenizer, or its class overrides how texts are encoded; or `prefix_cache`
            is neither a cache nor an integer.
        ValueError: `prefix_cache` is negative.
        VocabularyError: bytemill cannot give the same token IDs (the message names the component), or sample
            texts got different ones.

    Complexity:
        That of reading its `tokenizer.json`.
    """
    if prefix_cache is not None and not isinstance(prefix_cache, PrefixCache):
        prefix_cache = PrefixCache(integer("prefix_cache", prefix_cache))
    base = backend_class()
    if not isinstance(tokenizer, base):
        raise TypeError(
            f"expected a fast tokenizer of transformers, not {type(tokenizer).__name__}: "
            "`AutoTokenizer.from_pretrained` makes one where there is a tokenizer.json"
        )
    kind = original_class(type(tokenizer))
    if own := [name for name in REPLACED if getattr(kind, name) is not getattr(base, name)]:
        raise TypeError(f"the class {kind.__name__} has its own {', '.join(own)}, which cannot be replaced")
    held = held_of(tokenizer)
    held = hold(tokenizer) if held.is_off else held
    held.prefix_cache = prefix_cache
    try:
        held.make(kind.__name__)
    except Exception:
        restore(tokenizer)
        raise
    return accelerated(tokenizer)


def backend_class() -> type[Any]:
    """Returns the class of fast tokenizers, which `transformers` has since version 5."""
    transformers = import_optional("transformers", "accelerated tokenizers")
    try:
        from transformers.tokenization_utils_tokenizers import TokenizersBackend
    except ImportError as error:
        raise ImportError(
            f"accelerated tokenizers need transformers 5 or later, not {transformers.__version__}: "
            "upgrade it with `pip install -U transformers`"
        ) from error
    return TokenizersBackend


def restore(tokenizer: Any) -> Any:
    """Undoes `accelerate`, and returns the tokenizer; other tokenizers are returned unchanged.

    If the class of the object was derived from that of an accelerated tokenizer, the object keeps its class
    and runs the original methods.
    """
    if isinstance(tokenizer, Accelerated) and is_derived(type(tokenizer)):
        hold(tokenizer, is_off=True)
    elif ENGINE in getattr(tokenizer, "__dict__", ()) or isinstance(tokenizer, Accelerated):
        tokenizer.__dict__.pop(ENGINE, None)
        tokenizer.__class__ = original_class(type(tokenizer))
    return tokenizer


def is_accelerated(tokenizer: Any) -> bool:
    """Returns whether calls of a tokenizer of `transformers` run bytemill.

    False for any other object, after `restore`, and after a change for which all calls run the original
    methods.
    """
    return isinstance(tokenizer, Accelerated) and held_of(tokenizer).engine() is not None


def accelerated(tokenizer: Any) -> Any:
    """Sets the class of a tokenizer to the accelerated one, and returns the tokenizer."""
    if not isinstance(tokenizer, Accelerated):
        tokenizer.__class__ = accelerated_class(type(tokenizer))
    return tokenizer


def accelerated_class(kind: type) -> type:
    """Returns the accelerated subclass of a class, with the same name in files."""
    if kind not in CLASSES:
        # Files and messages of `transformers` have the name, which stays; `repr` of the class has this.
        qualified = f"{kind.__qualname__} (accelerated by bytemill)"
        names = {"__module__": kind.__module__, "__qualname__": qualified, "__doc__": kind.__doc__}
        made = CLASSES[kind] = type(kind.__name__, (Accelerated, kind), names)
        # A class that `datasets` does not find by its name it hashes with the code of all its methods: a
        # fingerprint would take longer, and change with the version of this package.
        module = sys.modules.get(kind.__module__)
        if module is not None:
            setattr(module, qualified, made)
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
    """Makes a copy of an accelerated tokenizer, whose attributes are set afterwards."""
    return accelerated(make(*args))


class Accelerated:
    """The methods that replace those of a fast tokenizer."""

    def _encode_plus(self: Any, text: Any, *args: Any, **given: Any) -> Any:
        encode_plus, held = super()._encode_plus, held_of(self)  # type: ignore[misc]

        def original(text: Any, *args: Any, **given: Any) -> Any:
            # It sets truncation and padding, and encodes: another thread must not change them in between, and
            # the next call need not be one of its own.
            with held.lock, settings_kept(self.backend_tokenizer):
                return encode_plus(text, *args, **given)

        options, engine = DEFAULTS | given, held.engine()
        call = None if args or engine is None else call_of(self, engine, text, options)
        tensors = options["return_tensors"]
        result = (
            None if call is None or engine is None else result_of(engine, call, in_arrays=tensors is not None)
        )
        if call is None or engine is None or result is None:
            return original(text, *args, **given)
        columns = result.columns
        for ids in columns["input_ids"]:
            self._eventual_warn_about_too_long_sequence(ids, options["max_length"], options["verbose"])
        if not call.is_batch and tensors is None and not call.with_overflow:
            columns = {
                name: values[0] if isinstance(values[0], list) else values for name, values in columns.items()
            }

        batch_encoding = import_optional("transformers", "accelerated tokenizers").BatchEncoding
        return batch_encoding(
            columns,
            LazyEncodings(result.size, result.encodings),
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
        held = held_of(self)
        is_known = isinstance(ids, (list, tuple)) and not kwargs and not held.has_own("decode")
        engine = held.engine() if is_known else None
        texts = None if engine is None else texts_of(engine, [ids], skip_special_tokens)
        if texts is None:
            text: str = super()._decode(  # type: ignore[misc]
                token_ids, skip_special_tokens, clean_up_tokenization_spaces, **kwargs
            )
            return text
        (text,) = texts
        return self.clean_up_tokenization(text) if cleans_up(self, clean_up_tokenization_spaces) else text

    def decode(self: Any, token_ids: Any, skip_special_tokens: bool = False, **kwargs: Any) -> Any:
        if is_batch(token_ids) and not kwargs.keys() - {"clean_up_tokenization_spaces"}:
            held = held_of(self)
            is_own = has_own(original_class(type(self)), "decode") or held.has_own("decode", "decode_batch")
            engine = None if is_own else held.engine()
            texts = None if engine is None else texts_of(engine, token_ids, skip_special_tokens)
            if texts is not None:
                if cleans_up(self, kwargs.get("clean_up_tokenization_spaces")):
                    return [*map(self.clean_up_tokenization, texts)]
                return texts
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


@contextmanager
def settings_kept(backend: Any) -> Iterator[None]:
    """Restores the truncation and padding that a tokenizer has now."""
    truncation, padding = backend.truncation, backend.padding
    try:
        yield
    finally:
        # Another thread may encode with the tokenizer, which refuses changes then.
        with suppress(RuntimeError):
            set_lengths(backend, truncation, padding)


def texts_of(engine: Engine, rows: list[Any], skips_special: object) -> list[str] | None:
    """Returns the text of each row; `None` if the original method refuses the IDs or the flag."""
    if type(skips_special) is not bool:
        return None
    try:
        return engine.decode_batch(rows, skip_special=skips_special)
    except (OverflowError, TypeError):
        return None


def cleans_up(tokenizer: Any, wanted: bool | None) -> bool:
    """Returns whether spaces of a decoded text are removed, for which BPE needs a second option."""
    if wanted is None:
        wanted = tokenizer.clean_up_tokenization_spaces
    if not wanted:
        return False
    insists = tokenizer.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output
    return bool(insists) or type(tokenizer.backend_tokenizer.model).__name__ != "BPE"


def has_own(kind: type, name: str) -> bool:
    """Returns whether a class has its own method of a name, not that of `transformers`."""
    return getattr(kind, name) is not getattr(backend_class(), name)


def is_batch(token_ids: Any) -> bool:
    """Returns whether these are lists of IDs, as calls return them, not tensors."""
    return (
        isinstance(token_ids, list)
        and bool(token_ids)
        and all(type(ids) is list and (not ids or type(ids[0]) is int) for ids in token_ids)
    )


class LazyEncodings(Sequence[Any]):
    """The encodings in a `BatchEncoding`, for offsets and words, created on first access.

    They are `Encoded` objects, which have all of `tokenizers.Encoding`, and are pickled as those.
    """

    def __init__(self, count: int, make: Callable[[], list[Any]]) -> None:
        """Takes the number of encodings, and the function that creates them."""
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
    """Returns the `tokenizers.Encoding` with the contents of an `Encoded`."""
    encoding = import_optional("tokenizers", "accelerated tokenizers").Encoding()
    encoding.__setstate__(json.dumps(state_of(encoded)).encode())
    return encoding


def state_of(encoded: Encoded) -> dict[str, Any]:
    """Returns the contents of an encoding, in the form in which a `tokenizers.Encoding` is pickled."""
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


# `Held`: the engine of a tokenizer of `tokenizers`, made when it is needed.

# The attribute of a tokenizer of `transformers` that has its engine.
ENGINE = "_bytemill_engine"

# How many engines a tokenizer keeps: one for each post-processor that it has had.
MOST_ENGINES = 16


class Held:
    """The engine of a tokenizer, which shallow copies of a tokenizer of `transformers` share like it.

    Attributes:
        backend: The `tokenizers.Tokenizer`.
        is_off: Whether it is to have no engine.
        prefix_cache: A cache for single texts; `None` for none.
        lock: Held by what changes the settings of the backend.
    """

    def __init__(self, backend: Any, is_off: bool = False, prefix_cache: PrefixCache | None = None) -> None:
        """Takes the tokenizer, whether it is to have no engine, and a cache for it."""
        self.backend = backend
        self.is_off = is_off
        self.prefix_cache = prefix_cache
        # Comparing an engine with the tokenizer, and its original methods, change its settings for a moment.
        self.lock = RLock()
        ALL_HELD.add(self)
        # By the post-processor: some classes set another one for each language. `None` if it is refused.
        self._engines: dict[bytes, Engine | None] = {}

    def make(self, name: str) -> Engine:
        """Makes the engine, for a tokenizer with a name.

        Raises:
            VocabularyError: It would give other IDs or texts.
        """
        with self.lock:
            self.forget()
            return self._made(self._engines, self._processor(), name)

    def _made(self, engines: dict[bytes, Engine | None], processor: bytes, name: str = "tokenizer") -> Engine:
        """Makes the engine for a post-processor and keeps it in `engines`; errors as `make`."""
        parsed = next((engine for engine in [*engines.values()] if engine is not None), None)
        if parsed is None:
            parsed = Engine.parse(self.backend.to_str().encode(), name, is_live=True)
        # The file may have one that another thread has set since.
        engine = parsed.with_processor(json.loads(processor or b"null"))
        check(self.backend, engine)
        engine.prefix_cache = self.prefix_cache
        # Reading a file numbers added tokens anew: in some tokenizers they would get other IDs.
        if not engine.is_traced and engine.reread() is engine:
            engine.snapshot = Snapshot(engine, self.backend.model)
        if len(engines) >= MOST_ENGINES:
            engines.clear()
        engines[processor] = engine
        return engine

    def engine(self) -> Engine | None:
        """Returns the engine, made if there is none; `None` if it is refused."""
        if self.is_off or self.has_own("encode", "encode_batch", "encode_batch_fast"):
            return None
        processor = self._processor()
        # Another thread may forget all at any time: nothing is looked up twice.
        with suppress(KeyError):
            return self._engines[processor]
        with self.lock:
            engines = self._engines
            # Another thread may have been here.
            with suppress(KeyError):
                return engines[processor]
            try:
                return self._made(engines, processor)
            except VocabularyError:
                # Not if it was compared with a post-processor that another thread has set since.
                if self._processor() == processor:
                    engines[processor] = None
            except RuntimeError:
                # Another thread encodes with the tokenizer, which refuses changes then: later.
                pass
            return None

    def _processor(self) -> bytes:
        processor = self.backend.post_processor
        state: bytes = b"" if processor is None else processor.__getstate__()
        return state

    def has_own(self, *names: str) -> bool:
        """Returns whether the tokenizer itself has other methods than its class, as that of CLIP has."""
        return not getattr(self.backend, "__dict__", {}).keys().isdisjoint(names)

    def forget(self) -> None:
        """Drops the engine: the tokenizer has changed.

        An engine that another thread makes meanwhile is kept in the dictionary that this one replaces, so it
        is dropped too.
        """
        self._engines = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self)(copy.deepcopy(self.backend, memo), self.is_off, self.prefix_cache)
        # A copy is the tokenizer that is written to a file and read, where tokens are numbered anew. Another
        # thread may have added some to this one since.
        tokens = {
            token_id: AddedToken.of(token, special=False)
            for token_id, token in other.backend.get_added_tokens_decoder().items()
        }
        other._engines = {  # noqa: SLF001 - of this class
            processor: engine
            for processor, engine in [*self._engines.items()]
            if engine is not None and engine.added.by_id == tokens
        }
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.backend, self.is_off, self.prefix_cache)


# All that are in use.
ALL_HELD: WeakSet[Held] = WeakSet()


def forget_owners() -> None:
    """Replaces the locks in a forked process, where the threads that held them do not exist."""
    for held in ALL_HELD:
        held.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_owners)


def hold(tokenizer: Any, *, is_off: bool = False, prefix_cache: PrefixCache | None = None) -> Held:
    """Sets what has the engine of a tokenizer of `transformers`, and returns it."""
    held = Held(tokenizer.backend_tokenizer, is_off, prefix_cache)
    tokenizer.__dict__[ENGINE] = held
    return held


def held_of(tokenizer: Any) -> Held:
    """Returns what has the engine of a tokenizer, a new one if it was never used or has another backend."""
    held: Held | None = tokenizer.__dict__.get(ENGINE)
    if held is None or held.backend is not tokenizer.backend_tokenizer:
        is_off, cache = (False, None) if held is None else (held.is_off, held.prefix_cache)
        held = hold(tokenizer, is_off=is_off, prefix_cache=cache)
    return held
