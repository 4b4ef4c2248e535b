"""`accelerate`: a tokenizer of `transformers` that encodes and decodes here.

The object stays what it is, with another class: its own with `_encode_plus` and `_decode` of `Accelerated`,
through which all of its methods encode and decode. Calls that are not known here go to the original methods.
The contract: every call returns what it returned before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from bytemill._optional import import_optional
from bytemill.hf.engine import Engine
from bytemill.hf.samples import check
from bytemill.hf.settings import Padding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import SupportsIndex

    from bytemill.hf.processing import Frame

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

# The arguments of `_encode_plus` and what they are if they are not given.
DEFAULTS: dict[str, Any] = {
    "text_pair": None,
    "add_special_tokens": True,
    "padding_strategy": "do_not_pad",
    "truncation_strategy": "do_not_truncate",
    "max_length": None,
    "stride": 0,
    "is_split_into_words": False,
    "pad_to_multiple_of": None,
    "padding_side": None,
    "return_tensors": None,
    "return_token_type_ids": None,
    "return_attention_mask": None,
    "return_overflowing_tokens": False,
    "return_special_tokens_mask": False,
    "return_offsets_mapping": False,
    "return_length": False,
    "verbose": True,
    "split_special_tokens": None,
}


def accelerate(tokenizer: Any) -> Any:
    """Makes a tokenizer of `transformers` encode and decode here; `restore` undoes it.

    The object stays the same, and so does everything that it returns. Texts, batches, truncation, padding,
    tensors, chat templates and decoding are fast; pairs, lists of words and offsets go to the original
    methods. Tokens that are added by the methods of the tokenizer are seen; after a change of
    `backend_tokenizer` itself, call this again.

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


class Limits(NamedTuple):
    """How long rows of ids may be, and what they are filled up with.

    Attributes:
        frame: What stands around each text.
        room: The most ids of a text; `None` for any number.
        keeps_end: Whether the beginning is dropped, not the end.
        padding: What fills up; `None` for nothing.
    """

    frame: Frame
    room: int | None
    keeps_end: bool
    padding: Padding | None

    def kept(self, ids: list[int]) -> list[int]:
        """Returns the ids of a text that are kept."""
        if self.room is None or len(ids) <= self.room:
            return ids
        return ids[-self.room :] if self.keeps_end else ids[: self.room]

    def column(
        self, first: list[int], rows: Iterable[list[int]], last: list[int], pad: int, target: int
    ) -> list[list[int]]:
        """Returns rows of numbers for tokens.

        Args:
            first: The numbers of the tokens before each text.
            rows: Those of the tokens of each text.
            last: Those of the tokens after each text.
            pad: That of a token that fills up.
            target: The number of tokens to fill up to.
        """
        if first or last:
            rows = (first + row + last for row in rows)
        if self.padding is None:
            return list(rows)
        if self.padding.direction == "left":
            return [[pad] * (target - len(row)) + row for row in rows]
        return [row + [pad] * (target - len(row)) for row in rows]


class Accelerated:
    """The methods that replace those of a fast tokenizer."""

    def _encode_plus(self: Any, text: Any, *args: Any, **given: Any) -> Any:
        original = super()._encode_plus  # type: ignore[misc]
        batched = isinstance(text, (list, tuple))
        texts = list(text) if batched else [text]

        def fall_back() -> Any:
            return original(texts if batched else text, *args, **given)

        options = DEFAULTS | given
        if args or not is_known(texts, options):
            return fall_back()
        limits = limits_of(self, options)
        columns = None if limits is None else columns_of(self, texts, limits, options)
        if columns is None:
            return fall_back()
        max_length, verbose = options["max_length"], options["verbose"]
        for ids in columns["input_ids"]:
            self._eventual_warn_about_too_long_sequence(ids, max_length, verbose)
        tensors = options["return_tensors"]
        if not batched and tensors is None:
            columns = {
                name: values[0] if isinstance(values[0], list) else values for name, values in columns.items()
            }
        encodings = LazyEncodings(len(texts), lambda: fall_back().encodings)
        batch_encoding = import_optional("transformers", "accelerated tokenizers").BatchEncoding
        return batch_encoding(columns, encodings, tensor_type=tensors, n_sequences=1)

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
    """Whether spaces of a decoded text are removed, which for byte pair encodings needs a second wish."""
    if wanted is None:
        wanted = tokenizer.clean_up_tokenization_spaces
    insists = tokenizer.clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output
    return bool(wanted and insists)


def has_own(kind: type, name: str) -> bool:
    """Whether a class has its own method of a name, not that of `transformers`."""
    backend = import_optional("transformers.tokenization_utils_tokenizers", "accelerated tokenizers")
    return getattr(kind, name) is not getattr(backend.TokenizersBackend, name)


def is_batch(token_ids: Any) -> bool:
    """Whether these are lists of ids, as calls return them, and no tensors or the like."""
    return (
        isinstance(token_ids, list)
        and bool(token_ids)
        and all(type(ids) is list and (not ids or type(ids[0]) is int) for ids in token_ids)
    )


def is_known(texts: list[Any], options: dict[str, Any]) -> bool:
    """Whether the texts and arguments of a call are known here, but for its limits."""
    unknown = ("text_pair", "is_split_into_words", "stride", "return_overflowing_tokens")
    return (
        len(options) == len(DEFAULTS)
        and bool(texts)
        and all(isinstance(text, str) for text in texts)
        and not any(options[name] for name in (*unknown, "return_offsets_mapping"))
    )


def limits_of(tokenizer: Any, options: dict[str, Any]) -> Limits | None:
    """Returns the limits of a call; `None` if they are not known here."""
    frame: Frame = tokenizer.__dict__[ENGINE].frames[bool(options["add_special_tokens"])]
    room = padding = None
    max_length = options["max_length"]
    if options["truncation_strategy"] != "do_not_truncate":
        known = options["truncation_strategy"] in {"longest_first", "only_first"}
        if not known or not isinstance(max_length, int):
            return None
        room = max_length - len(frame.before) - len(frame.after)
        if room <= 0:
            return None
    strategy = options["padding_strategy"]
    if strategy != "do_not_pad":
        if strategy not in {"longest", "max_length"} or tokenizer.pad_token_id is None:
            return None
        padding = Padding(
            options["padding_side"] or tokenizer.padding_side,
            tokenizer.pad_token_id,
            tokenizer.pad_token_type_id,
            tokenizer.pad_token,
            max_length if strategy == "max_length" else None,
            options["pad_to_multiple_of"],
        )
    return Limits(frame, room, tokenizer.truncation_side == "left", padding)


def columns_of(
    tokenizer: Any,
    texts: list[str],
    limits: Limits,
    options: dict[str, Any],
) -> dict[str, list[Any]] | None:
    """Returns the columns of a result; `None` if its rows, of different lengths, cannot be a tensor."""
    engine: Engine = tokenizer.__dict__[ENGINE]
    split = options["split_special_tokens"]
    finds_special = not (tokenizer.split_special_tokens if split is None else split)
    before, after, type_id = limits.frame
    rows = [limits.kept(ids) for ids in engine.rows(texts, finds_special=finds_special)]
    counts = [len(row) for row in rows]
    lengths = [len(before) + count + len(after) for count in counts]
    padding = limits.padding
    if options["return_tensors"] is not None and padding is None and len(set(lengths)) > 1:
        return None
    target = 0 if padding is None else padding.target(max(lengths))

    def wanted(option: str, name: str) -> bool:
        given = options[option]
        return name in tokenizer.model_input_names if given is None else bool(given)

    pad_id, pad_type_id = (0, 0) if padding is None else (padding.pad_id, padding.pad_type_id)
    columns: dict[str, list[Any]] = {
        "input_ids": limits.column(
            [e.token_id for e in before], rows, [e.token_id for e in after], pad_id, target
        )
    }
    if wanted("return_token_type_ids", "token_type_ids"):
        types = ([type_id] * count for count in counts)
        columns["token_type_ids"] = limits.column(
            [e.type_id for e in before], types, [e.type_id for e in after], pad_type_id, target
        )
    if wanted("return_attention_mask", "attention_mask"):
        ones = ([1] * length for length in lengths)
        columns["attention_mask"] = limits.column([], ones, [], 0, target)
    if options["return_special_tokens_mask"]:
        mask = ([0] * count for count in counts)
        columns["special_tokens_mask"] = limits.column([1] * len(before), mask, [1] * len(after), 1, target)
    if options["return_length"]:
        columns["length"] = [len(row) for row in columns["input_ids"]]
    return columns


class LazyEncodings(Sequence[Any]):
    """The encodings in a `BatchEncoding`, for offsets and words: made when they are asked for."""

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
        return list, (self._made,)
