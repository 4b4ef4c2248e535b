"""Documents to shards: encoded block by block, and divided where shards are full.

```text
read      in a background thread, one block ahead               (source_blocks)
encode    on all threads
write     in a background thread                                (token_files)
finish    a full shard: flushed to the disk, renamed, recorded  (manifest)
```

A shard is written under a temporary name. When it is complete and on the disk it is renamed, and then the
record lists it, with the cursor where the next one begins. Whatever happens between two of these steps, the
record is right: continuing from it writes the next shard again from its start, with the same bytes, for the
blocks that are read from a position are always the same.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bytemill._arguments import thread_count
from bytemill._named import encoding_of
from bytemill.documents.blocks import Position
from bytemill.documents.sources import Reading, check_files
from bytemill.errors import DisallowedSpecialTokenError
from bytemill.io.atomic import check_folder, discard, named_as
from bytemill.progress import check_callable
from bytemill.shards.manifest import (
    TEMPORARY,
    Cursor,
    Provenance,
    Shard,
    check_contents,
    directory_lock,
    manifest_path,
    open_or_create_manifest,
    save,
)
from bytemill.shards.options import ERRORS, SHARD_TOKENS, described, format_named
from bytemill.shards.source_blocks import BackgroundWriter, SourceBlocks
from bytemill.special import NO_TOKENS, AllowedSpecial, DisallowedSpecial

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import numpy.typing as npt
    from typing_extensions import Buffer

    from bytemill._calls import Tokens
    from bytemill.core import Encoding
    from bytemill.documents import Source
    from bytemill.documents.blocks import Block
    from bytemill.documents.sources import Field
    from bytemill.shards.options import Errors, Format
    from bytemill.shards.token_files import TokenFile

__all__ = ["Progress", "shard_names", "write_described", "write_shards"]


class Progress(NamedTuple):
    """The progress of writing.

    Attributes:
        source_bytes: Bytes of files read so far, as stored: those of compressed files are compressed.
        text_bytes: Bytes of text that this run has encoded, as UTF-8.
        documents: Documents in shards, including those of earlier runs.
        tokens: Ids in shards, including those of earlier runs.
        shards: Full shards, including those of earlier runs.
    """

    source_bytes: int
    text_bytes: int
    documents: int
    tokens: int
    shards: int


def write_shards(  # noqa: PLR0913 - all but the first three have names
    source: Source,
    directory: str | os.PathLike[str],
    encoding: Encoding | str,
    *,
    format: Format = "bin",  # noqa: A002 - nothing else is meant
    shard_tokens: int | None = SHARD_TOKENS,
    prepend: Tokens = None,
    append: Tokens = None,
    dtype: npt.DTypeLike | None = None,
    allowed_special: AllowedSpecial = NO_TOKENS,
    disallowed_special: DisallowedSpecial = (),
    field: Field = None,
    lines: bool = False,
    errors: Errors = "strict",
    name: str = "shard",
    resume: bool = False,
    trust_sources: bool = False,
    num_threads: int | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Provenance:
    """Encodes documents into files of token ids.

    The same source and arguments give the same files, whatever the number of threads, and whether or not
    writing was interrupted and resumed.

    Args:
        source: As for training, see `bytemill.documents`: a path; a URI such as "s3://corpus/*.jsonl"; or an
            iterable of documents (`str`, `bytes`), paths (`os.PathLike`) and open files. Files are text, JSON
            lines or Parquet, also compressed. An empty text file is not a document.
        directory: Where shards are written: a folder that is empty, does not exist, or has shards of other
            names. It must not be in a folder of the source, nor be one.
        encoding: The encoding, or the name of an encoding or model.
        format: "bin": ids and nothing else, as nanoGPT reads them. "npy": arrays of NumPy. "megatron":
            indexed datasets of Megatron-LM, `.bin` and `.idx`. "parquet": a column `input_ids` of lists.
        shard_tokens: How many ids a shard holds. A document may continue in the next shard, but not in
            "megatron" and "parquet": there, a shard is full with the document that brings it to this number.
            The last shard has the rest. `None` for a single shard.
        prepend: Ids, or texts of single tokens, to put before each document.
        append: The same, to put after each document.
        dtype: The integer type of the ids. If not given, the smallest that the format has and the vocabulary
            fits in: uint16, then uint32, in "megatron" int32 from 65,500 ids on.
        allowed_special: The special tokens that become their ids; "all" for all of them. Others are text.
        disallowed_special: Strings that must not occur; "all" for all special tokens that are not allowed.
        field: As in `count_pieces`.
        lines: Whether each line of a text file is a document, its line break included.
        errors: How to handle invalid UTF-8: "strict" raises, "replace" turns it into U+FFFD.
        name: The start of the names of shards: `shard-000000.bin`, or `shard.bin` if there is only one.
        resume: Whether to continue where an earlier call with the same source and arguments ended, for
            whatever reason. It does nothing if all is written, and starts at the beginning if nothing is.
            Documents that are not in files must be given again.
        trust_sources: Whether `resume` takes files of the same names and sizes for unchanged, though they
            were copied or touched since.
        num_threads: How many threads may encode; all processors if not given.
        progress: Called after each block.

    Returns:
        What was written, from what: also in `provenance.json` in the folder, or for the second name there
            and others in `NAME.provenance.json`.

    Raises:
        ValueError: An argument has no meaning; `dtype` does not hold every id of the vocabulary; the source
            has the folder that is written to; a text is not UTF-8, a file not what its name says, or a
            disallowed string occurs; the message names the file and, where there are lines, the line. Or
            `resume` finds other sources or arguments. Finished shards stay, and writing can be resumed.
        FileExistsError: The folder has other files; or shards of this name, and `resume` is false.
        BlockingIOError: Another process writes there.
        TypeError: An argument, document or item of the source has the wrong type.
        OSError: A file cannot be read or written.
        ImportError: Parquet needs `pyarrow`, and `.zst` needs `zstandard`, which is not installed.
        PatternError: The engine of a custom pattern gives up on a text.
        KeyboardInterrupt: Ctrl-C. Finished shards stay, and writing can be resumed.

    Complexity:
        Linear in the documents. Memory for about six blocks of 8 MiB, their ids, and the caches of the
        encoding; a line, a document in Parquet and, if the pattern is none of the native families, a text
        file are in memory as a whole if they are larger. "megatron" keeps 8 bytes for each document of a
        shard.
    """
    encoding = encoding_of(encoding)
    wanted = described(
        encoding,
        Reading.checked(field, lines, errors, ERRORS),
        format=format,
        shard_tokens=shard_tokens,
        prepend=prepend,
        append=append,
        dtype=dtype,
        allowed_special=allowed_special,
        disallowed_special=disallowed_special,
        name=name,
    )
    check_callable(progress)
    check_files(source, outputs=directory)
    return write_described(
        source,
        directory,
        encoding,
        wanted,
        resume=resume,
        trust_sources=trust_sources,
        num_threads=thread_count(num_threads),
        progress=progress,
    )


def write_described(  # noqa: PLR0913 - all but the first four have names
    source: Source,
    directory: str | os.PathLike[str],
    encoding: Encoding,
    wanted: Provenance,
    *,
    num_threads: int,
    resume: bool = False,
    trust_sources: bool = False,
    progress: Callable[[Progress], object] | None = None,
    may_be_empty: bool = False,
) -> Provenance:
    """Writes shards as `write_shards`.

    Args:
        source: As in `write_shards`; also parts of files, as `FileRange`.
        directory: As in `write_shards`.
        encoding: The encoding that `wanted` describes.
        wanted: The record of a run that has not started, see `described`.
        num_threads: How many threads may encode.
        resume: As in `write_shards`.
        trust_sources: As in `write_shards`.
        progress: As in `write_shards`.
        may_be_empty: Whether there may be no tokens; without documents there are no shards then.

    Raises:
        Exception: As `write_shards`.
    """
    options = wanted.options
    allowed = None if options["allowed_special"] == "all" else frozenset(options["allowed_special"])
    disallowed = frozenset(options["disallowed_special"])
    special_tokens, whole = encoding._core_bpe.dividing(allowed, disallowed)  # noqa: SLF001 - of this library
    blocks = SourceBlocks(
        Reading.checked(options["field"], options["lines"], options["errors"]),
        pattern=encoding._pattern,  # noqa: SLF001 - of this library
        special_tokens=special_tokens,
        whole=whole,
        num_threads=num_threads,
    )
    encode = partial(
        encode_block,
        encoding,
        allowed,
        disallowed,
        options["prepend"],
        options["append"],
        options["dtype"],
        num_threads,
    )
    folder = Path(directory)
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with directory_lock(folder):
        path = manifest_path(folder, options["name"])
        found = open_or_create_manifest(path, wanted, resume=resume)
        blocks.expect(found.sources, path, trust=trust_sources)
        if found.next is None:
            blocks.expect_no_more(source)
            return found
        writer = ShardWriter(path, format_named(options["format"]), found, blocks)
        return writer.run(source, encode, progress, may_be_empty=may_be_empty)


def shard_names(options: Mapping[str, Any], number: int) -> list[str]:
    """Returns the names of the files of a shard."""
    end = "" if options["shard_tokens"] is None else f"-{number:06d}"
    return [f"{options['name']}{end}{suffix}" for suffix in format_named(options["format"]).suffixes]


class EncodedBlock(NamedTuple):
    """The ids of a block.

    Attributes:
        ids: Shape (tokens,).
        ends: Where documents end among them, shape (documents,), dtype int64.
    """

    ids: npt.NDArray[np.integer[Any]]
    ends: npt.NDArray[np.int64]


EMPTY = EncodedBlock(np.zeros(0, np.uint32), np.zeros(0, np.int64))


class ShardWriter:
    """Divides ids into shards."""

    def __init__(self, path: Path, kind: type[TokenFile], found: Provenance, blocks: SourceBlocks) -> None:
        """Takes the path of the record, the format, the record, and what reads documents."""
        self._record_path = path
        self._folder = path.parent
        self._kind = kind
        self._blocks = blocks
        # The one attribute that the background thread changes.
        self._record = found
        self._shard_tokens: int | None = found.options["shard_tokens"]
        # The shard that is being written, and its number; the files of shards that are not finished.
        self._number = len(found.shards)
        self._file: TokenFile | None = None
        self._tokens = self._documents = 0
        self._is_full = False
        self._unfinished: dict[TokenFile, list[Path]] = {}
        # The final names of files, by their temporary ones.
        self._final: dict[Path, Path] = {}

    def run(
        self,
        source: object,
        encode: Callable[[Block], EncodedBlock],
        progress: Callable[[Progress], object] | None,
        *,
        may_be_empty: bool,
    ) -> Provenance:
        """Writes the shards that are missing."""
        cursor = self._record.next
        assert cursor is not None, "not all is written"
        first: Cursor | None = cursor
        size = sum(file.size for file in self._record.sources if file.item < cursor.block.item)
        text_bytes = 0
        documents, tokens = self._record.documents, self._record.tokens
        try:
            with named_as(self._final), BackgroundWriter() as background:
                for block in self._blocks.read(source, cursor.block):
                    encoded = encode(block)
                    start = Cursor(block.start)
                    if first is not None:
                        start, first = self._first_cursor(first, block.start, encoded), None
                    self._write(encoded, start, block.items, background)
                    size += block.size
                    text_bytes += int(block.offsets[-1]) - int(block.offsets[0])
                    documents += len(encoded.ends) - start.documents
                    tokens += len(encoded.ids) - start.tokens
                    if progress is not None:
                        progress(Progress(size, text_bytes, documents, tokens, self._number))
                if first is not None:
                    self._first_cursor(first, Position(), EMPTY)
                if not may_be_empty:
                    check_contents(documents, tokens)
                if self._file is not None:
                    self._finish(None, None, background)
                else:
                    background.submit(self._save_record, None, None, None)
        finally:
            for file, paths in self._unfinished.items():
                file.abandon()
                for path in paths:
                    discard(path)
        return self._record

    def _first_cursor(self, cursor: Cursor, start: Position, encoded: EncodedBlock) -> Cursor:
        """Returns where to continue in the first block that is read.

        Raises:
            ValueError: The record names another block, or documents or ids that this one does not have.
        """
        if cursor == Cursor():
            return Cursor(start)
        ids, ends = encoded if start == cursor.block else EMPTY
        if cursor.tokens < len(ids):
            # A document without ids may be in either shard.
            least, most = (int(np.searchsorted(ends, cursor.tokens, side)) for side in ("left", "right"))
            if least <= cursor.documents <= most:
                return cursor
        item, offset = cursor.block.item, cursor.block.offset
        name = next((file.path for file in self._record.sources if file.item == item), f"document {item}")
        raise ValueError(
            f"{self._record_path}: expected a next shard that begins within the {len(ends)} documents and "
            f"{len(ids)} token IDs at {offset} of {name}, got one after {cursor.documents} documents and "
            f"{cursor.tokens} token IDs of them: give the same source, or write to another folder"
        )

    def _write(
        self, encoded: EncodedBlock, cursor: Cursor, items: Sequence[int], background: BackgroundWriter
    ) -> None:
        """Writes the ids of a block, see `Block.items`, from the cursor on."""
        ids, ends = encoded
        block, documents, start = cursor
        while start < len(ids) or documents < len(ends):
            if (
                self._is_full
                and start < len(ids)
                and not (documents < len(ends) and ends[documents] == start)
            ):
                item = items[documents] if items else block.item
                self._finish(Cursor(block, documents, start), item, background)
            if self._file is None:
                self._file = self._create()
            # Documents without ids stay with the ids before them, also where a block starts with some.
            end = start if self._is_full else self._end(len(ids), ends[documents:], start)
            complete = int(np.searchsorted(ends, end, side="right"))
            background.submit(self._file.write, ids[start:end], ends[documents:complete] - start)
            self._tokens += end - start
            self._documents += complete - documents
            if end > start and self._shard_tokens is not None:
                at_end = complete > documents and ends[complete - 1] == end
                enough = self._tokens >= self._shard_tokens
                self._is_full = enough and (at_end or not self._kind.whole_documents)
            start, documents = end, complete

    def _end(self, count: int, ends: npt.NDArray[np.int64], start: int) -> int:
        """Returns where the ids of the shard end among the `count` ids of a block."""
        if self._shard_tokens is None:
            return count
        full = start + self._shard_tokens - self._tokens
        if not self._kind.whole_documents:
            return min(full, count)
        last = int(np.searchsorted(ends, full))
        return int(ends[last]) if last < len(ends) else count

    def _create(self) -> TokenFile:
        """Creates the files of the shard under temporary names."""
        final = [self._folder / name for name in shard_names(self._record.options, self._number)]
        paths = [path.with_name(f"{path.name}{TEMPORARY}") for path in final]
        self._final.update(zip(paths, final, strict=True))
        try:
            file = self._kind(paths, self._record.options["dtype"])
        except BaseException:
            for path in paths:
                discard(path)
            raise
        self._unfinished[file] = paths
        return file

    def _finish(self, cursor: Cursor | None, item: int | None, background: BackgroundWriter) -> None:
        """Finishes the shard. The next one begins at the cursor, in an item of the source."""
        assert self._file is not None, "there is a shard"
        background.submit(
            self._store,
            self._file,
            (self._documents, self._tokens),
            cursor,
            item,
        )
        self._number += 1
        self._file = None
        self._tokens = self._documents = 0
        self._is_full = False

    # --- In the background thread ---

    def _store(
        self, file: TokenFile, counts: tuple[int, int], cursor: Cursor | None, item: int | None
    ) -> None:
        """Renames the files of a shard to their final names, unless no reader maps them, and records it."""
        file.close()
        paths = self._unfinished[file]
        _, tokens = counts
        if not tokens and not self._kind.maps_empty:
            # Only the record tells of its documents.
            for path in paths:
                path.unlink()
            paths = []
        sizes = {self._final[path].name: path.stat().st_size for path in paths}
        for path in paths:
            path.replace(self._final[path])
        del self._unfinished[file]
        self._save_record(Shard(sizes, *counts), cursor, item)

    def _save_record(self, shard: Shard | None, cursor: Cursor | None, item: int | None) -> None:
        """Records a shard, and where the next one begins: the cursor, and the item of the source there."""
        shards = self._record.shards if shard is None else (*self._record.shards, shard)
        # Reading may be ahead of the cursor.
        files = tuple(file for file in self._blocks.files if item is None or file.item <= item)
        self._record = replace(self._record, shards=shards, sources=files, next=cursor)
        save(self._record, self._record_path)


def encode_block(  # noqa: PLR0913, PLR0917 - all but the block are the same for all blocks
    encoding: Encoding,
    allowed: AbstractSet[str] | None,
    disallowed: AbstractSet[str],
    before: list[int],
    after: list[int],
    dtype: str,
    num_threads: int,
    block: Block,
) -> EncodedBlock:
    """Encodes a block."""
    offsets = np.asarray(block.offsets, np.int64)
    try:
        ids, ends = encoding._core_bpe.encode_spans_to_numpy(  # noqa: SLF001 - of this package
            block.data,
            offsets,
            allowed,
            disallowed,
            [] if block.start.inside else before,
            after if block.ends else [],
            dtype,
            num_threads,
        )
    except DisallowedSpecialTokenError as error:
        found = context_of(error.token, block.data, offsets)
        raise ValueError(
            f"{block.name}: expected no special token {error.token!r}, got {found!r}; allow it, or have it "
            "encoded as ordinary text"
        ) from None
    return EncodedBlock(ids, ends[1:] if block.ends else ends[1:-1])


def context_of(token: str, data: Buffer, offsets: npt.NDArray[np.int64]) -> str:
    """Returns the text around the first occurrence of `token` inside of one text."""
    data, wanted = bytes(data), token.encode()
    found = data.find(wanted, int(offsets[0]))
    # An occurrence across the end of a text is none.
    while found + len(wanted) > offsets[np.searchsorted(offsets, found, side="right")]:
        found = data.find(wanted, found + 1)
    return data[max(found - 30, 0) : found + len(wanted) + 30].decode(errors="replace")
