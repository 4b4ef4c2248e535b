"""Documents: where they come from, and how files of them are read.

A source is anything iterable whose items are documents (`str`, `bytes`), paths (`os.PathLike`) or open files
(`Stream`); or one path. A folder stands for the files in it and below, without hidden ones.

The name of a file says what it holds: JSON lines (`.jsonl`, `.ndjson`), Parquet (`.parquet`), or else text,
and with a further `.gz` or `.zst` it is compressed. A text file is one document, or each of its lines is one.
If a field is named, every file but Parquet is JSON lines.

| module | responsibility |
|---|---|
| `sources` | what a source is, what kind of file a name means, opening files |
| `recognition` | contents that do not agree with how they are read |
| `readers` | decompression, lines |
| `json_lines` | the strings in a field of JSON lines |
| `parquet` | columns of Parquet files |
| `blocks` | files as blocks: the bytes of documents, and where each starts and ends |
| `batches` | sources as batches: lists of documents, for training and the command line |

Training, shards and the command line all read through this package.
"""

from bytemill.documents.sources import Document, Source, Stream

__all__ = ["Document", "Source", "Stream"]
