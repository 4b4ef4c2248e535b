"""From documents to files of token ids, in shards, as the programs that train models read them.

| module | responsibility |
|---|---|
| `writer` | which ids go to which shard, and when a shard is finished |
| `source_blocks` | the blocks of a source from a position on, and whether its files have changed |
| `token_files` | the formats of shards |
| `token_ranges` | parts of shards: where new ones begin, reading |
| `manifest` | what was written from what, and where to continue |
| `background` | reading and writing while ids are made |
| `options` | the arguments of `write_shards`, checked |
"""

from bytemill.shards.manifest import Provenance, Shard
from bytemill.shards.writer import Progress, write_shards

__all__ = ["Progress", "Provenance", "Shard", "write_shards"]


def __dir__() -> list[str]:
    """Returns the public names."""
    return __all__
