"""The answers of the playground to its page: one function for each endpoint, none of which knows HTTP."""

from __future__ import annotations

import inspect
import json
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bytemill import reference
from bytemill.errors import DisallowedSpecialTokenError, UnknownTokenError
from bytemill.inspection.traces import merge_trace, training_trace
from bytemill.io.reading import MissingPatternError
from bytemill.patterns import PATTERNS
from bytemill.playground.loaded import rule_of
from bytemill.playground.wire import pack, tokenize
from bytemill.registry import get_encoding
from bytemill.splitting import Splitter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bytemill.core import Encoding
    from bytemill.playground.loaded import Loaded

__all__ = [
    "ENDPOINTS",
    "FORMATS",
    "STAGES",
    "Answer",
    "Format",
    "Message",
    "Problem",
    "Stage",
    "chat_tokens",
    "definition_of",
    "failure",
]

# The most bytes of a piece whose merges are explained, such pieces, hits of a search, and ids that are
# decoded at once.
MOST_EXPLAINED = 64
MOST_PIECES = 64
MOST_HITS = 200
MOST_DECODED = 4_000_000

# The most characters that a pattern cuts by the definition.
MOST_CUT = 10_000

# The most bytes of a text that is saved as a page: one of a megabyte has about 30.
MOST_ON_A_PAGE = 1_000_000

# The most tokens that are looked up by their bytes at once, and messages of a chat.
MOST_LOOKED_UP = 1_024
MOST_MESSAGES = 64


class Answer(NamedTuple):
    """An answer to the page.

    Attributes:
        body: The content.
        binary: Whether it is tokens in binary form rather than JSON.
    """

    body: bytes
    binary: bool = False


class Problem(ValueError):  # noqa: N818 - what the page calls it
    """A request that the page could not have meant, with a message for its reader."""


def as_json(value: object) -> Answer:
    """Returns a JSON answer."""
    return Answer(json.dumps(value, separators=(",", ":")).encode())


def failure(error: Exception) -> dict[str, Any]:
    """Returns an error as JSON-compatible values: a message, and the place in the text if it has one."""
    if isinstance(error, DisallowedSpecialTokenError):
        message = f"The text contains the special token {error.token} at character {error.start}."
        return {"error": message, "place": error.start, "token": error.token}
    if isinstance(error, MissingPatternError):
        return {"error": str(error), "patterns": list(PATTERNS)}
    if isinstance(error, KeyError):
        return {"error": str(error.args[0])}
    return {"error": str(error) or type(error).__name__}


def text_of(body: bytes) -> str:
    """Returns a text that came as UTF-8."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise Problem(f"The file is not UTF-8: byte {error.start:,} is 0x{body[error.start]:02x}.") from None


def chosen(loaded: Loaded, query: Mapping[str, str], key: str = "e") -> Encoding:
    """Returns the encoding that a query names."""
    if key not in query:
        raise Problem(f"expected the name of an encoding as {key}=")
    return loaded[query[key]]


def request_of(body: bytes) -> dict[str, Any]:
    """Returns the JSON object of a body."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise Problem("expected JSON") from None
    if not isinstance(value, dict):
        raise Problem("expected a JSON object")
    return value


def encodings(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG001 - one signature
    """Lists the encodings, and the patterns that have names."""
    return as_json({"encodings": loaded.described(), "patterns": list(PATTERNS)})


def details(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG001 - one signature
    """Describes one encoding."""
    chosen(loaded, query)
    return as_json(loaded.details(query["e"]))


def encode(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Encodes a text by one encoding or two, in binary form."""
    text, special = text_of(body), query.get("special", "text")
    sequence = int(query.get("seq", "0")) & 0xFFFFFFFF
    names = [query.get("e", ""), *([query["b"]] if "b" in query else [])]
    blocks = [pack(tokenize(loaded, name, text, special), sequence) for name in names]
    return Answer(b"".join(blocks), binary=True)


def decode(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Decodes ids that came as 4 bytes each: the text, and those that are not tokens."""
    encoding = chosen(loaded, query)
    if len(body) % 4 or len(body) > 4 * MOST_DECODED:
        raise Problem(f"expected at most {MOST_DECODED:,} IDs of 4 bytes each, got {len(body):,} bytes")
    ids = np.frombuffer(body, np.dtype("<u4")).tolist()
    unknown = dict.fromkeys(i for i in ids if not encoding._core_bpe.is_token(i))  # noqa: SLF001
    known = [i for i in ids if i not in unknown] if unknown else ids
    contents = encoding.decode_bytes(known)
    return as_json(
        {
            "text": contents.decode(errors="replace"),
            "exact": contents.decode(errors="ignore").encode() == contents,
            "unknown": list(unknown)[:MOST_HITS],
            "highest": encoding.max_token_value,
        }
    )


def token(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Describes one token."""
    from bytemill.inspection.token_report import MEANING, report_token

    report = report_token(chosen(loaded, query), identifier(request_of(body)))
    parts = [{"id": each, "bytes": value.hex()} for each, value in report.parts]
    return as_json({**report.to_dict(), "parts": parts, "meaning": MEANING[report.reach]})


def identifier(request: Mapping[str, Any]) -> int:
    """Returns the id that a request names."""
    found = request.get("id")
    if not isinstance(found, int) or not 0 <= found < 1 << 32:
        raise Problem(f"expected a token id, got {found!r}")
    return found


def explain(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Shows how the pieces of a short text become tokens."""
    encoding = chosen(loaded, query)
    text = text_of(body)
    if encoding._has_ranks:  # noqa: SLF001 - of this library
        pieces = [piece.encode() for piece in encoding._core_bpe.split(text)]  # noqa: SLF001 - as above
        traces = [
            merge_trace(piece, encoding._mergeable_ranks)  # noqa: SLF001 - as above
            for piece in pieces[:MOST_PIECES]
            if len(piece) <= MOST_EXPLAINED
        ]
        return as_json({"pieces": traces, "count": len(pieces), "ranks": True})
    text = text[:MOST_EXPLAINED]
    explained = encoding.explain(text)
    kind = encoding._core_bpe.model_kind  # noqa: SLF001 - as above
    scored = encoding.candidates(text) if kind == "scores" else [[] for _ in explained]
    steps = [
        {
            "bytes": each.piece.hex(),
            "rows": [[part.hex() for part in row] for row in each.steps],
            "ids": each.ids,
            "candidates": [
                {"start": start, "bytes": token.hex(), "id": token_id, "score": round(score, 3)}
                for start, token, token_id, score in found
            ],
        }
        for each, found in zip(explained, scored, strict=True)
        if each.piece
    ]
    return as_json({"pieces": steps, "count": len(steps), "ranks": False, "kind": kind})


def pieces(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Cuts a text into its pieces, by an encoding or a pattern with a name: sizes in bytes, 4 bytes each."""
    if "pattern" in query:
        if query["pattern"] not in PATTERNS:
            raise Problem(f"expected the name of a pattern, one of {', '.join(PATTERNS)}")
        cut = reference.split(text_of(body)[:MOST_CUT], Splitter(PATTERNS[query["pattern"]]))
        return Answer(np.array([len(piece) for piece in cut], np.dtype("<u4")).tobytes(), binary=True)
    encoding = chosen(loaded, query)
    if not encoding._has_ranks:  # noqa: SLF001 - of this library
        raise Problem(f"{query['e']} has no single pattern that cuts the text into pieces")
    found = encoding._core_bpe.split(text_of(body))  # noqa: SLF001 - as above
    return Answer(np.array([len(piece.encode()) for piece in found], np.dtype("<u4")).tobytes(), binary=True)


def search(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Finds tokens by their text, bytes or ids; for an empty query the first that are longer than a byte."""
    encoding = chosen(loaded, query)
    request = request_of(body)
    wanted = request.get("query")
    if not isinstance(wanted, str):
        raise Problem("expected a text to search for")
    matches = matcher(wanted)
    found = [(i, value) for i, value in encoding.vocab().items() if matches(i, value)]
    count = len(found)
    if not wanted:
        # Where merges begin.
        found = [(i, value) for i, value in found if len(value) > 1 and not encoding.is_special_token(i)]
    hits = [
        {"id": i, "bytes": value.hex(), "special": encoding.is_special_token(i)}
        for i, value in found[:MOST_HITS]
    ]
    return as_json({"count": count, "hits": hits})


def matcher(wanted: str) -> Callable[[int, bytes], bool]:
    """Returns the test of a search: `#5` and `#5-9` are ids, `0x` begins bytes, anything else is text.

    Every token contains the empty text.
    """
    ids = re.fullmatch(r"#(\d{1,10})(?:-(\d{1,10}))?", wanted.strip())
    if ids:
        first, last = int(ids[1]), int(ids[2] or ids[1])
        return lambda token_id, _: first <= token_id <= last
    digits = re.fullmatch(r"0x((?:[0-9a-fA-F]{2}\s*)+)", wanted.strip())
    part = bytes.fromhex(digits[1]) if digits else wanted.encode(errors="replace")
    return lambda _, value: part in value


def train(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG001 - one signature
    """Trains on a short text, and returns every step."""
    request = request_of(body)
    text, merges, pattern = request.get("text"), request.get("merges"), request.get("pattern")
    rule = request.get("tie_break")
    if not isinstance(text, str) or not isinstance(merges, int) or not isinstance(pattern, str):
        raise Problem("expected text, merges and pattern")
    if rule not in ("first_seen", "smallest_pair"):
        raise Problem("expected first_seen or smallest_pair as tie_break")
    tie_break: Literal["first_seen", "smallest_pair"] = rule
    return as_json(training_trace(text, merges, pattern, tie_break))


def known(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Looks tokens up by their bytes: the id of each, or null."""
    encoding = chosen(loaded, query)
    wanted = request_of(body).get("tokens")
    if not isinstance(wanted, list) or len(wanted) > MOST_LOOKED_UP:
        raise Problem(f"expected at most {MOST_LOOKED_UP:,} tokens")
    ids = {value: token_id for token_id, value in encoding.vocab().items()}
    return as_json({"ids": [ids.get(bytes.fromhex(each)) for each in wanted]})


def parts(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Cuts a text into parts of at most n tokens: sizes in bytes, 4 bytes each."""
    cut = chosen(loaded, query).split(text_of(body), int(query.get("n", "")))
    return Answer(np.array([len(part.encode()) for part in cut], np.dtype("<u4")).tobytes(), binary=True)


def page(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Renders a text as a page without scripts, to be saved."""
    from bytemill.inspection.token_view import show

    if len(body) > MOST_ON_A_PAGE:
        raise Problem(f"expected a text of at most {MOST_ON_A_PAGE:,} bytes for a page, got {len(body):,}")
    view = show(chosen(loaded, query), text_of(body), **rule_of(query.get("special", "text")))
    return Answer(view.page().encode(), binary=True)


def chat(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG001 - one signature
    """Encodes a chat."""
    request = request_of(body)
    name, messages, answering = request.get("format"), request.get("messages"), request.get("answering")
    if name not in FORMATS:
        raise Problem(f"expected a format, one of {', '.join(FORMATS)}")
    if not isinstance(messages, list) or len(messages) > MOST_MESSAGES:
        raise Problem(f"expected at most {MOST_MESSAGES} messages")
    given = [Message(*each) for each in messages if isinstance(each, list)]
    texts = [*(text for each in given for text in each), *([] if answering is None else [answering])]
    if len(given) < len(messages) or not all(isinstance(text, str) for text in texts):
        raise Problem("expected messages of a role and a content")
    return as_json(chat_tokens(FORMATS[name], given, answering, parsed=request.get("parsed") is True))


def stage(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG001 - one signature
    """Returns the lines of the reference that define a stage of encoding."""
    return as_json(definition_of(query.get("name", "")))


def load(loaded: Loaded, query: Mapping[str, str], body: bytes) -> Answer:
    """Opens a tokenizer file."""
    pattern = query.get("pattern") or None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        name = loaded.open(query.get("name", ""), body, pattern)
    return as_json({"name": name, "warnings": [str(each.message) for each in caught]})


# By method and path below the secret.
ENDPOINTS: dict[tuple[str, str], Callable[[Loaded, Mapping[str, str], bytes], Answer]] = {
    ("GET", "encodings"): encodings,
    ("GET", "details"): details,
    ("GET", "stage"): stage,
    ("POST", "encode"): encode,
    ("POST", "decode"): decode,
    ("POST", "token"): token,
    ("POST", "explain"): explain,
    ("POST", "pieces"): pieces,
    ("POST", "search"): search,
    ("POST", "train"): train,
    ("POST", "known"): known,
    ("POST", "parts"): parts,
    ("POST", "page"): page,
    ("POST", "chat"): chat,
    ("POST", "load"): load,
}

# What the library raises for requests that cannot be answered; `ImportError` names a missing package.
REFUSED = (
    ValueError,
    UnknownTokenError,
    KeyError,
    TypeError,
    OverflowError,
    MemoryError,
    RecursionError,
    ImportError,
)


# Chats as tokens: what stands around messages is special tokens, what they contain is ordinary text.
#
# Each format writes a message as special tokens and texts in turn. `harmony` is that of o200k_harmony,
# whose special tokens are published. The ids of `chatml` are not: they are those that other tools assume
# for the chat models of cl100k_base.


class Message(NamedTuple):
    """A message of a chat.

    Attributes:
        role: Who says it.
        content: What is said.
    """

    role: str
    content: str


class Format(NamedTuple):
    """How a chat is written.

    Attributes:
        encoding: The name of the encoding.
        start: The special token before the role.
        content: The special token between role and content.
        end: The special token behind the content.
        assumed: The ids of special tokens that the encoding does not have.
    """

    encoding: str
    start: str
    content: str
    end: str
    assumed: dict[str, int]

    def open(self) -> Encoding:
        """Returns the encoding with the special tokens of the format."""
        encoding = get_encoding(self.encoding)
        return encoding.with_special_tokens(self.assumed) if self.assumed else encoding


FORMATS = {
    "harmony": Format("o200k_harmony", "<|start|>", "<|message|>", "<|end|>", {}),
    "chatml": Format(
        "cl100k_base",
        "<|im_start|>",
        "<|im_sep|>",
        "<|im_end|>",
        {"<|im_start|>": 100264, "<|im_end|>": 100265, "<|im_sep|>": 100266},
    ),
}


def segments(form: Format, messages: Sequence[Message], answering: str | None) -> Iterator[tuple[str, bool]]:
    """Yields the texts of a chat, and whether each is a special token of the format.

    Args:
        form: The format.
        messages: The messages.
        answering: The role whose message is asked for, if any: its head is the end of the chat.
    """
    for message in messages:
        yield from ((form.start, True), (message.role, False), (form.content, True))
        yield from ((message.content, False), (form.end, True))
    if answering is not None:
        yield from ((form.start, True), (answering, False))


def chat_tokens(
    form: Format, messages: Sequence[Message], answering: str | None, *, parsed: bool
) -> dict[str, Any]:
    """Encodes a chat.

    Args:
        form: The format.
        messages: The messages.
        answering: The role whose message is asked for, if any.
        parsed: Whether special tokens that a message contains become tokens, as in a careless program.

    Returns:
        JSON-compatible values: the text, the ids, the bytes of each token, the indices of special tokens, and
        the number of tokens if the whole text were ordinary text.
    """
    encoding = form.open()
    ids: list[int] = []
    special: list[int] = []
    text = ""
    for part, marks in segments(form, messages, answering):
        text += part
        made = encoding.encode(part, **rule_of("allow" if marks or parsed else "text"))
        special += [len(ids) + i for i, each in enumerate(made) if encoding.is_special_token(each)]
        ids += made
    return {
        "encoding": form.encoding,
        "text": text,
        "ids": ids,
        "lengths": [len(value) for value in encoding.decode_tokens_bytes(ids)],
        "special": special,
        "as_text": encoding.count(text),
    }


# The stages of a text on its way to ids, each with the lines of `bytemill.reference` that define it.


class Stage(NamedTuple):
    """One step that a text goes through, and the place of its definition.

    Attributes:
        function: The function of the reference.
        first: How the first of its lines that say so begins, without indentation.
        lines: The number of those lines.
        about: A sentence about it.
    """

    function: Callable[..., Any]
    first: str
    lines: int
    about: str


ENCODING = reference.ReferenceEncoding

# In the order in which a text goes through them; then those of training.
STAGES = {
    "text": Stage(
        ENCODING.encode,
        "text = repair_surrogates(text)",
        1,
        "A text is any string; what has no UTF-8 form is repaired first.",
    ),
    "special": Stage(
        ENCODING.encode,
        "while found := find(text, allowed, start):",
        4,
        "Special tokens that are allowed are cut out, and become their IDs. The text between them is "
        "ordinary text.",
    ),
    "pieces": Stage(
        reference.split,
        "return [piece.encode()",
        1,
        "The pattern of the encoding cuts the text into pieces, roughly words. No merge crosses a cut.",
    ),
    "bytes": Stage(
        reference.merge_steps, "parts = [piece[i : i + 1]", 2, "A piece starts as single bytes of its UTF-8."
    ),
    "merges": Stage(
        reference.merge_steps,
        "_, i = min(mergeable)",
        3,
        "The two neighbouring parts that form the token of lowest rank are merged, again and again.",
    ),
    "ids": Stage(
        ENCODING.encode_piece,
        "if piece in self.mergeable_ranks:",
        4,
        "Each part that is left is a token, and its rank is its ID. A piece that is a token is taken whole.",
    ),
    "training": Stage(
        reference.train_steps,
        "for new_id in range(",
        10,
        "Training merges the pair that occurs most often, and counts again.",
    ),
}


def definition_of(stage: str) -> dict[str, Any]:
    """Returns the lines that define a stage, as JSON-compatible values.

    Raises:
        KeyError: There is no such stage.
    """
    if stage not in STAGES:
        raise KeyError(f"there is no stage {stage!r}")
    function, first, count, about = STAGES[stage]
    lines, start = inspect.getsourcelines(function)
    marked = next(i for i, line in enumerate(lines) if line.strip().startswith(first))
    return {
        "about": about,
        "file": f"bytemill/{Path(reference.__file__).name}",
        "start": start,
        "lines": [line.rstrip("\n") for line in lines],
        "marked": [start + marked, start + marked + count - 1],
    }
