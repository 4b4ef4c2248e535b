"""Documents: their sources, and reading files of them.

A source is anything iterable whose items are documents (`str`, `bytes`), paths (`os.PathLike`) or open files
(`Stream`); or one path. A folder means all files in it and its subfolders, except hidden ones.

The name of a file determines its format: JSON Lines (`.jsonl`, `.ndjson`), Parquet (`.parquet`), or else
text; with a further `.gz` or `.zst` it is compressed. A text file is one document, or each of its lines is
one. If a field is named, every file except Parquet is read as JSON Lines.

| module | responsibility |
|---|---|
| `sources` | sources, kinds of files by name, opening files |
| `recognition` | contents that do not match the kind of a file |
| `readers` | decompression, lines |
| `json_lines` | the strings in a field of JSON lines |
| `parquet` | columns of Parquet files |
| `blocks` | files as blocks: the bytes of documents, and where each starts and ends |
| `batches` | sources as batches: lists of documents, for training and the command line |

Training, shards and the command line all read through this package.
"""

from bytemill.documents.sources import Document, Source, Stream

__all__ = ["Document", "Source", "Stream"]
