"""Documents to shards: encoded block after block, and cut where shards are full.

```text
read      in a thread of its own, one block ahead            (documents)
encode    by all threads
write     in a thread of its own, what is encoded            (token_files)
finish    a full shard: on the disk, its name, its record    (provenance)
```

A shard is written under a temporary name. When it is whole and on the disk it gets its own, and then the
record says so, with the place where the next one begins. Whatever happens between two of these steps, the
record is right: going on from it writes the next shard again from its beginning, and gives the same bytes,
for the blocks that are read from a place are always the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill.arguments import check_type
from bytemill.core import Encoding, __version__
from bytemill.decoding import thread_count
from bytemill.errors import DisallowedSpecialTokenError
from bytemill.shards.arguments import (
    Errors,
    Format,
    check_files,
    check_options,
    format_named,
    ids_of,
    stored_type,
)
from bytemill.shards.documents import Blocks, Place
from bytemill.shards.overlap import Behind, ahead
from bytemill.shards.provenance import (
    NAME,
    TEMPORARY,
    Cursor,
    Provenance,
    Shard,
    begun,
    claimed,
    save,
)
from bytemill.special import NO_TOKENS, AllowedSpecial, DisallowedSpecial, resolve_for_core

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    import numpy.typing as npt

    from bytemill.shards.arguments import Tokens
    from bytemill.shards.documents import Block
    from bytemill.shards.token_files import TokenFile
    from bytemill.sources import Source

__all__ = ["Progress", "write_shards"]


class Progress(NamedTuple):
    """How far writing is.

    Attributes:
        size: Bytes of files read so far; compressed ones count as they are.
        documents: Documents in shards, those written in earlier runs included.
        tokens: Ids in shards, likewise.
        shards: Shards that are full, likewise.
    """

    size: int
    documents: int
    tokens: int
    shards: int


def write_shards(  # noqa: PLR0913 - all but the first three have names
    source: Source,
    directory: str | os.PathLike[str],
    encoding: Encoding,
    *,
    format: Format = "bin",  # noqa: A002 - nothing else is meant
    shard_tokens: int | None = 100_000_000,
    prepend: Tokens = None,
    append: Tokens = None,
    dtype: npt.DTypeLike | None = None,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
    field: str = "text",
    lines: bool = False,
    errors: Errors = "strict",
    name: str = "shard",
    resume: bool = False,
    num_threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Provenance:
    """Encodes documents into files of token ids.

    The same source and arguments give the same files, whatever the number of threads, and whether or not
    writing was interrupted and resumed.

    Args:
        source: As for training, see `bytemill.sources`: a path; or an iterable of documents (`str`, `bytes`),
            paths (`os.PathLike`) and open files. Files are text, JSON lines or Parquet, also compressed. An
            empty text file is no document.
        directory: Where shards are written: a folder that is empty or does not exist.
        encoding: What makes ids of texts.
        format: "bin": ids and nothing else, as nanoGPT reads them. "npy": arrays of NumPy. "megatron":
            indexed datasets of Megatron-LM, `.bin` and `.idx`. "parquet": a column `input_ids` of lists.
        shard_tokens: How many ids a shard holds. A document goes on in the next shard, but not in "megatron"
            and "parquet": there, a shard is full with the document that brings it to so many. The last shard
            has what is left. `None` for a single shard.
        prepend: Ids, or texts of single tokens, to put before each document.
        append: The same, to put after each document.
        dtype: The integer type of the ids. If not given, the smallest that the format has and the vocabulary
            fits in: uint16, then uint32, in "megatron" int32 from 65,500 ids on.
        allowed_special: The special tokens that become their ids; "all" for all of them. Others are text.
        disallowed_special: Strings that must not occur; "all" for all special tokens that are not allowed.
        field: The field of JSON lines, or column of Parquet, that holds the text.
        lines: Whether each line of a text file is a document, its line break included.
        errors: What becomes of bytes that are not UTF-8: "strict" raises, "replace" makes them U+FFFD.
        name: What names of shards begin with: `shard-000000.bin`, or `shard.bin` if there is only one.
        resume: Whether to go on where an earlier call with the same source and arguments ended, in whatever
            way. It does nothing if all is written, and starts at the beginning if nothing is. Documents that
            are not in files must be given again.
        num_threads: How many threads may encode; all processors if not given.
        progress: Called after each block with how far writing is.

    Returns:
        What was written, from what: also in `provenance.json` in the folder.

    Raises:
        ValueError: An argument has no meaning; `dtype` does not hold every id of the vocabulary; a text is
            not UTF-8, a file not what its name says, or a disallowed string occurs, the message naming the
            file and, where there are lines, the line; or `resume` finds other sources or arguments. What was
            written so far stays, and can be resumed.
        FileExistsError: The folder is not empty, and `resume` is not asked for.
        BlockingIOError: Another process writes there.
        TypeError: An argument, document or item of the source has the wrong type.
        OSError: A file cannot be read or written.
        ImportError: Parquet needs `pyarrow`, and `.zst` needs `zstandard`, which is not installed.
        PatternError: The engine of a custom pattern gives up on a text.
        KeyboardInterrupt: Ctrl-C. What was written so far stays, and can be resumed.

    Complexity:
        Linear in the documents. Memory for about six blocks of 8 MiB, their ids, and what the encoding
        remembers; a line, a document in Parquet and, if the pattern is none of the published ones, a text
        file are in memory as a whole if they are larger. "megatron" keeps 8 bytes for each document of a
        shard.
    """
    check_type("encoding", encoding, Encoding)
    kind = format_named(format)
    threads = thread_count(num_threads)
    check_options(shard_tokens, errors=errors, name=name)
    stored = stored_type(kind, dtype, encoding)
    before, after = ids_of("prepend", prepend, encoding), ids_of("append", append, encoding)
    special = encoding.special_tokens_set
    allowed, disallowed = resolve_for_core(special, allowed_special, disallowed_special)
    if disallowed is None:
        disallowed = NO_TOKENS if allowed is None else special - allowed
    for text in disallowed:
        check_type("what is disallowed", text, str)
    wanted = Provenance(
        bytemill=__version__,
        encoding={
            "name": encoding.name,
            "sha256": encoding.sha256,
            "n_vocab": encoding.n_vocab,
        },
        options={
            "format": format,
            "dtype": stored,
            "shard_tokens": shard_tokens,
            "prepend": before,
            "append": after,
            "allowed_special": "all" if allowed is None else sorted(allowed & special),
            "disallowed_special": sorted(disallowed),
            "field": field,
            "lines": lines,
            "errors": errors,
            "name": name,
        },
    )
    blocks = Blocks(
        field=field,
        lines=lines,
        errors=errors,
        pattern=encoding._pat_str,  # noqa: SLF001 - a name of tiktoken
        special_tokens=disallowed | (special if allowed is None else special & allowed),
        num_threads=threads,
    )
    encode = partial(encoded, encoding, allowed, disallowed, before, after, stored, threads)
    check_files(source)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    with claimed(folder):
        found = begun(folder, wanted, resume=resume)
        blocks.expect(found.sources)
        if found.next is None:
            blocks.expect_no_more(source)
            return found
        return Writing(folder, kind, found, blocks).run(source, encode, progress)


class Encoded(NamedTuple):
    """The ids of a block.

    Attributes:
        ids: Shape (tokens,).
        ends: Where documents end among them, shape (documents,), dtype int64.
    """

    ids: npt.NDArray[np.integer[Any]]
    ends: npt.NDArray[np.int64]


NOTHING = Encoded(np.zeros(0, np.uint32), np.zeros(0, np.int64))


class Writing:
    """Cuts ids into shards."""

    def __init__(self, folder: Path, kind: type[TokenFile], found: Provenance, blocks: Blocks) -> None:
        """Takes where to write, how, what is there already, and where documents come from."""
        self._folder = folder
        self._kind = kind
        self._blocks = blocks
        # The one attribute that the writing thread changes.
        self._record = found
        self._most: int | None = found.options["shard_tokens"]
        # The shard that is being written, and its number; those that are not finished yet.
        self._number = len(found.shards)
        self._file: TokenFile | None = None
        self._tokens = self._documents = 0
        self._is_full = False
        self._unfinished: dict[TokenFile, list[Path]] = {}

    def run(
        self,
        source: object,
        encode: Callable[[Block], Encoded],
        progress: Callable[[Progress], object] | None,
    ) -> Provenance:
        """Writes what is missing."""
        cursor = self._record.next
        assert cursor is not None
        first: Cursor | None = cursor
        size = sum(file.size for file in self._record.sources if file.item < cursor.place.item)
        documents, tokens = self._record.documents, self._record.tokens
        try:
            with Behind() as behind:
                for block in ahead(self._blocks.of(source, cursor.place)):
                    encoded = encode(block)
                    start = Cursor(block.place)
                    if first is not None:
                        start, first = self._start(first, block.place, encoded), None
                    self._take(encoded, start, behind)
                    size += block.size
                    documents += len(encoded.ends) - start.documents
                    tokens += len(encoded.ids) - start.tokens
                    if progress is not None:
                        progress(Progress(size, documents, tokens, self._number))
                if first is not None:
                    self._start(first, Place(), NOTHING)
                if self._file is not None:
                    self._finish(None, behind)
                else:
                    behind.do(self._note, None, None)
        finally:
            for file, paths in self._unfinished.items():
                file.abandon()
                for path in paths:
                    path.unlink(missing_ok=True)
        return self._record

    def _start(self, cursor: Cursor, place: Place, encoded: Encoded) -> Cursor:
        """Gives where to go on in the first block that is read.

        Raises:
            ValueError: The record tells of another block, or of documents or ids that this one does not have.
        """
        if cursor == Cursor():
            return Cursor(place)
        ids, ends = encoded if place == cursor.place else NOTHING
        if cursor.tokens < len(ids):
            # A document without ids may be in either shard.
            least, most = (int(np.searchsorted(ends, cursor.tokens, side)) for side in ("left", "right"))
            if least <= cursor.documents <= most:
                return cursor
        message = (
            f"{self._folder / NAME}: expected a next shard that begins within the {len(ends)} documents and "
            f"{len(ids)} ids at {cursor.place}, got one after {cursor.documents} documents and "
            f"{cursor.tokens} ids of them: give the same source, or write to another folder"
        )
        raise ValueError(message)

    def _take(self, encoded: Encoded, cursor: Cursor, behind: Behind) -> None:
        """Writes the ids of a block, from the cursor on."""
        ids, ends = encoded
        place, documents, start = cursor
        while start < len(ids) or documents < len(ends):
            # Not before there is an id for the next one: documents without ids stay with the one before them.
            if self._is_full and start < len(ids):
                self._finish(Cursor(place, documents, start), behind)
            if self._file is None:
                self._file = self._open()
            end = self._end(len(ids), ends[documents:], start)
            complete = int(np.searchsorted(ends, end, side="right"))
            behind.do(self._file.write, ids[start:end], ends[documents:complete] - start)
            self._tokens += end - start
            self._documents += complete - documents
            if end > start and self._most is not None:
                at_end = complete > documents and ends[complete - 1] == end
                self._is_full = self._tokens >= self._most and (at_end or not self._kind.whole_documents)
            start, documents = end, complete

    def _end(self, count: int, ends: npt.NDArray[np.int64], start: int) -> int:
        """Tells how many of the ids of a block come before the end of the shard, or the block's."""
        if self._most is None:
            return count
        full = start + self._most - self._tokens
        if not self._kind.whole_documents:
            return min(full, count)
        last = int(np.searchsorted(ends, full))
        return int(ends[last]) if last < len(ends) else count

    def _open(self) -> TokenFile:
        paths = [self._folder / f"{name}{TEMPORARY}" for name in self._names()]
        try:
            file = self._kind(paths, self._record.options["dtype"])
        except BaseException:
            for path in paths:
                path.unlink(missing_ok=True)
            raise
        self._unfinished[file] = paths
        return file

    def _names(self) -> list[str]:
        """The names of the files of the shard."""
        name = self._record.options["name"]
        number = "" if self._most is None else f"-{self._number:06d}"
        return [f"{name}{number}{suffix}" for suffix in self._kind.suffixes]

    def _finish(self, cursor: Cursor | None, behind: Behind) -> None:
        """Ends the shard; the next one begins at the cursor."""
        assert self._file is not None
        behind.do(self._store, self._file, self._names(), (self._documents, self._tokens), cursor)
        self._number += 1
        self._file = None
        self._tokens = self._documents = 0
        self._is_full = False

    # --- In the writing thread ---

    def _store(
        self, file: TokenFile, names: list[str], counts: tuple[int, int], cursor: Cursor | None
    ) -> None:
        """Gives the files of a shard their names, and notes it."""
        file.close()
        paths = self._unfinished[file]
        sizes = {name: path.stat().st_size for name, path in zip(names, paths, strict=True)}
        for name, path in zip(names, paths, strict=True):
            path.replace(self._folder / name)
        del self._unfinished[file]
        self._note(Shard(sizes, *counts), cursor)

    def _note(self, shard: Shard | None, cursor: Cursor | None) -> None:
        """Notes a shard, and where the next one begins."""
        shards = self._record.shards if shard is None else (*self._record.shards, shard)
        # Reading may be ahead of the cursor.
        files = tuple(file for file in self._blocks.files if cursor is None or file.item <= cursor.place.item)
        self._record = replace(self._record, shards=shards, sources=files, next=cursor)
        save(self._record, self._folder)


def encoded(  # noqa: PLR0913, PLR0917 - all but the block are the same for all blocks
    encoding: Encoding,
    allowed: AbstractSet[str] | None,
    disallowed: AbstractSet[str],
    before: list[int],
    after: list[int],
    dtype: str,
    num_threads: int,
    block: Block,
) -> Encoded:
    """Encodes a block."""
    try:
        ids, offsets = encoding._core_bpe.encode_spans_to_numpy(  # noqa: SLF001 - of this package
            block.data,
            block.offsets,
            allowed,
            disallowed,
            [] if block.place.inside else before,
            after if block.ends else [],
            dtype,
            num_threads,
        )
    except DisallowedSpecialTokenError as error:
        message = (
            f"{block.name}: expected no special token {error.token!r}, got {around(block, error.token)!r}; "
            "allow it, or have it encoded as ordinary text"
        )
        raise ValueError(message) from None
    return Encoded(ids, offsets[1:] if block.ends else offsets[1:-1])


def around(block: Block, token: str) -> str:
    """Returns the text around the first occurrence of `token` within a text of a block."""
    data, wanted = bytes(block.data), token.encode()
    found = data.find(wanted, int(block.offsets[0]))
    # Not where two texts meet.
    while found + len(wanted) > block.offsets[np.searchsorted(block.offsets, found, side="right")]:
        found = data.find(wanted, found + 1)
    return data[max(found - 30, 0) : found + len(wanted) + 30].decode(errors="replace")
