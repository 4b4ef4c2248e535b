"""From documents to files of token ids, in shards, as the programs that train models read them.

| module | the question it answers |
|---|---|
| `writing` | which ids go to which shard, and when is one done? |
| `documents` | which documents does a source hold, and where does reading go on? |
| `token_files` | how do ids lie in a file? |
| `provenance` | what was written from what, and how far did it come? |
| `overlap` | what goes on while ids are made? |
"""

from bytemill.shards.provenance import Provenance, Shard
from bytemill.shards.writing import Progress, write_shards

__all__ = ["Progress", "Provenance", "Shard", "write_shards"]
