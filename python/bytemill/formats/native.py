"""The native file, `.bytemill`: a whole encoding in one file.

Version 2 consists of

- the line `bytemill 2`;
- a line of JSON, the head: `kind`, `name`, `pattern`, `sha256` (see `bytemill.fingerprint`), `special_tokens`
  (text to ID), `template` (`prefix` and `suffix`, of texts and IDs as in `Definition.template`, or null) and
  `provenance` (any JSON that the writer adds);
- the body, by the `kind`: of "ranks" the tokens and what merges into each, in the form that
  `src/vocabulary/stored.rs` describes; of "sentencepiece" and "tokenizer.json" that file;
- the CRC-32 of all before, in 4 bytes, the lowest first.

The checksum detects damage, not forgery: the writer of a file determines its token IDs. `sha256` is a note,
which no code reads. Equal encodings with equal provenance give equal files.

Version 1, which is only read, is one JSON object: `format` ("bytemill"), `version` (1), `name`, `pattern`,
`sha256`, `provenance`, `special_tokens`, and `tokens` (base64 to ID). A vocabulary of 200,000 tokens took
0.6 s to load: their base64, and the pairs that merge, which had to be found.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

from bytemill._backend import Stored, build_core
from bytemill.definition import Definition, Loaded, Template, core_of
from bytemill.errors import PatternError, VocabularyError
from bytemill.formats.json_file import Value, brief, json_bytes, parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bytemill._backend import CoreBPE

__all__ = ["FORMAT", "format_native", "load", "parse_version_1"]

FORMAT = "bytemill"
VERSION = 2
START = FORMAT.encode() + b" "
CHECKSUM_BYTES = 4

# The most bytes of the first line.
FIRST_LINE = 20


def load(contents: bytes, source: str) -> Loaded:
    """Returns the definition of a file of version 2, with its core.

    Args:
        contents: The bytes of the file.
        source: Where it comes from, for messages.

    Raises:
        VocabularyError: It is malformed, damaged or of a later version; the message has file, entry and
            reason.
    """
    file = Value(None, source)
    version, found, _ = contents[:FIRST_LINE].partition(b"\n")
    if not found or version != START + b"%d" % VERSION:
        shown = version.removeprefix(START).decode(errors="replace")
        file.refuse(f"version: expected 1 or {VERSION}, got {shown}: a newer bytemill may read it")
    end = len(contents) - CHECKSUM_BYTES
    expected, got = crc32(memoryview(contents)[:end]), int.from_bytes(contents[end:], "little")
    if expected != got:
        file.refuse(f"the file is damaged: expected the checksum {expected:08x}, got {got:08x}")
    start = contents.find(b"\n", len(version) + 1, end) + 1
    if not start:
        file.refuse("expected a line of JSON after the first")
    head = parse_json(contents[len(version) + 1 : start], source)
    try:
        return loaded(head, Stored(contents, start, end))
    except PatternError as error:
        raise VocabularyError(f"Error parsing {source}: {brief(str(error))}") from error
    except VocabularyError as error:
        if source in str(error):
            raise
        raise VocabularyError(f"Error parsing {source}: {brief(str(error))}") from error


def loaded(head: Value, body: Stored) -> Loaded:
    """Returns the definition of a head and a body, with its core."""
    template = None
    if not head["template"].is_null:
        parts = (head["template"][part] for part in Template._fields)
        template = Template(
            *(tuple(i.text() if isinstance(i.contents, str) else i.integer() for i in part) for part in parts)
        )
    name, pattern = head["name"].text(), head["pattern"].pattern()
    definition = Definition(name, pattern, {}, head["special_tokens"].ids(), template)
    contents = body.contents[body.start : body.end] if head["kind"].contents != "ranks" else b""
    match head["kind"].text():
        case "ranks":
            return Loaded(definition, build_core(body, definition.special_tokens, pattern))
        case "sentencepiece":
            definition = definition._replace(splitting="", model=contents)
        case "tokenizer.json":
            definition = definition._replace(splitting="", tokenizer=contents)
        case kind:
            head["kind"].refuse(f"expected ranks, sentencepiece or tokenizer.json, got {kind!r}")
    return Loaded(definition, core_of(definition))


def format_native(definition: Definition, core: CoreBPE, provenance: Mapping[str, Any]) -> bytes:
    """Returns the contents of a native file.

    Args:
        definition: The definition.
        core: Its core.
        provenance: Additional information, as JSON values.

    Raises:
        TypeError, ValueError: The provenance cannot be written as JSON.
    """
    kind: Literal["ranks", "sentencepiece", "tokenizer.json"] = "ranks"
    if definition.model is not None:
        kind, body = "sentencepiece", definition.model
    elif definition.tokenizer is not None:
        kind, body = "tokenizer.json", definition.tokenizer
    else:
        body = core.stored()
    head = {
        "kind": kind,
        "name": definition.name,
        "pattern": definition.splitting,
        "sha256": definition.sha256,
        "special_tokens": dict(sorted(definition.special_tokens.items(), key=itemgetter(1))),
        "template": definition.template and definition.template._asdict(),
        "provenance": dict(provenance),
    }
    contents = b"%s%d\n%s\n%s" % (START, VERSION, json_bytes(head), body)
    return contents + crc32(contents).to_bytes(CHECKSUM_BYTES, "little")


def parse_version_1(file: Value) -> Definition:
    """Parses a file of version 1.

    Raises:
        VocabularyError: It is malformed, damaged or of a later version; the message has file, entry and
            reason.
    """
    # Only here: importing it takes a millisecond.
    import base64

    if file["version"].integer() != 1:
        file["version"].refuse(
            f"expected 1 or {VERSION}, got {file['version'].contents}: a newer bytemill may read it"
        )
    ranks: dict[bytes, int] = {}
    for encoded, token_id in file["tokens"].ids().items():
        try:
            token = base64.b64decode(encoded, validate=True)
        except ValueError as error:
            file["tokens"].refuse(f"{encoded!r}: {error}")
        if token in ranks:
            file["tokens"].refuse(f"{encoded!r}: the token {token!r} is there already")
        ranks[token] = token_id
    definition = Definition(
        file["name"].text(), file["pattern"].pattern(), ranks, file["special_tokens"].ids()
    )
    definition.check(file.source)
    if file["sha256"].text() != definition.sha256:
        file["sha256"].refuse(
            f"expected {definition.sha256}, that of the file's contents, got {file['sha256'].text()}"
        )
    return definition
