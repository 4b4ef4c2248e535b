"""Derive the built-in merge tables from the published rank files.

A rank file lists every token of a vocabulary as bytes. A merge table contains the same in fewer bytes: each
multi-byte token is the pair of the two tokens that it is merged from, so its bytes follow from earlier ones.
src/builtin/README.md describes the source, the licence and the format of the tables.

    python tools/derive_vocabulary.py            write src/builtin/*.merges
    python tools/derive_vocabulary.py --check    compare with freshly derived ones; status 1 if they differ

Needs Python >= 3.10 and cargo, which fetches the package that carries the rank files.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import struct
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from cargo_packages import package_folder

SOURCE_PACKAGE = "tiktoken-rs"
SOURCE_VERSION = "0.12.1"

# The SHA-256 sums that tiktoken 0.14 expects of the files it downloads.
PUBLISHED_SHA256 = {
    "r50k_base.tiktoken": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base.tiktoken": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base.tiktoken": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base.tiktoken": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "vocab.bpe": "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    "encoder.json": "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
}

MAGIC = b"BMT1"
HEADER = struct.Struct("<4sIB256s")  # magic, number of pairs, bits per id, the byte tokens in id order
BYTE_TOKENS = 256
END_OF_TEXT = "<|endoftext|>"
END_OF_TEXT_ID = 50256  # a special token of the 50k vocabularies, so a hole among the merged tokens of p50k

Ranks = dict[bytes, int]
Pair = tuple[int, int]


class DerivationError(Exception):
    """A published file differs from the one that the tables are defined by."""


class Table(NamedTuple):
    """One merge table, derived and packed."""

    name: str
    tokens: int
    pairs: int
    packed: bytes


# --- the published files ------------------------------------------------------------------------------------


def fetch_assets() -> dict[str, bytes]:
    """Return the contents of the published files, fetched by cargo and verified by their SHA-256 sums.

    Raises:
        DerivationError: A file is not, byte for byte, the one that tiktoken expects.
        subprocess.CalledProcessError: cargo failed.
    """
    directory = package_folder(SOURCE_PACKAGE, SOURCE_VERSION) / "assets"
    contents = {name: (directory / name).read_bytes() for name in PUBLISHED_SHA256}
    # The package contains this file indented; the published one is the plain dump of the same object.
    contents["encoder.json"] = json.dumps(json.loads(contents["encoder.json"])).encode()
    for name, expected in PUBLISHED_SHA256.items():
        found = hashlib.sha256(contents[name]).hexdigest()
        if found != expected:
            message = f"{name} of {SOURCE_PACKAGE} {SOURCE_VERSION}: SHA-256 is {found}, expected {expected}"
            raise DerivationError(message)
    return contents


def parse_rank_file(contents: bytes) -> Ranks:
    """Return the ranks of a rank file: one line per token, its base64 text and its rank."""
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, contents.splitlines())}
    if len(ranks) != contents.count(b"\n") or len(ranks) != len(set(ranks.values())):
        message = "a rank file repeats a token or a rank"
        raise DerivationError(message)
    return ranks


def printable_bytes() -> dict[str, int]:
    """Return the alphabet of the GPT-2 files, in byte id order: the character that stands for each byte."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + at): byte for at, byte in enumerate(hidden)}


def verify_gpt2_files(ranks: Ranks, pairs: list[Pair], merges_text: str, ids_text: str) -> None:
    """Verify that the two GPT-2 files describe the ranks of r50k, and the merges the derived pairs.

    Raises:
        DerivationError: They do not.
    """
    alphabet = printable_bytes()

    def token_bytes(text: str) -> bytes:
        return bytes(alphabet[character] for character in text)

    _version, *lines = merges_text.splitlines()
    merges = [tuple(map(token_bytes, line.split(" "))) for line in lines]
    described = [bytes([byte]) for byte in alphabet.values()] + [b"".join(merge) for merge in merges]
    if {token: rank for rank, token in enumerate(described)} != ranks:
        message = "vocab.bpe does not describe the ranks of r50k"
        raise DerivationError(message)
    if [tuple(ranks[part] for part in merge) for merge in merges] != pairs:
        message = "the merges of vocab.bpe are not the derived pairs of r50k"
        raise DerivationError(message)

    ids = json.loads(ids_text)
    end_of_text_id = ids.pop(END_OF_TEXT, None)
    if end_of_text_id != END_OF_TEXT_ID or {token_bytes(text): ids[text] for text in ids} != ranks:
        message = "encoder.json does not describe the ranks of r50k"
        raise DerivationError(message)


# --- from ranks to pairs ------------------------------------------------------------------------------------


def canonical_parts(token: bytes, ranks: Ranks) -> list[bytes]:
    """Encode the bytes of `token` with the tokens of lower rank only: lowest rank first, leftmost first.

    Takes O(n^2) for n bytes; few tokens are long.
    """
    own_rank = ranks[token]
    parts = [token[at : at + 1] for at in range(len(token))]
    while True:
        pair_ranks = [ranks.get(left + right, own_rank) for left, right in pairwise(parts)]
        rank = min(pair_ranks)
        if rank >= own_rank:
            return parts
        at = pair_ranks.index(rank)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def derive_pairs(ranks: Ranks, first_id: int) -> list[Pair]:
    """Return the canonical parts of every token from `first_id` on, as pairs of ids in rank order.

    Raises:
        DerivationError: The ids have a hole, or a token does not come apart in exactly two.
    """
    made = sorted((rank, token) for token, rank in ranks.items() if rank >= first_id)
    if [rank for rank, _ in made] != list(range(first_id, first_id + len(made))):
        message = f"the ids from {first_id} on are not consecutive"
        raise DerivationError(message)
    pairs = []
    for rank, token in made:
        match canonical_parts(token, ranks):
            case [left, right]:
                pairs.append((ranks[left], ranks[right]))
            case parts:
                message = f"token {rank} ({token!r}) comes apart in {len(parts)}, not in two: {parts}"
                raise DerivationError(message)
    return pairs


# --- the table format ---------------------------------------------------------------------------------------


def pack(byte_tokens: bytes, pairs: list[Pair], bits: int) -> bytes:
    """Return the merge table as the bytes of its file."""
    ids = [part for pair in pairs for part in pair]
    # One large binary number: the first id is its lowest digits.
    stream = int("".join(f"{part:0{bits}b}" for part in reversed(ids)), 2)
    header = HEADER.pack(MAGIC, len(pairs), bits, byte_tokens)
    return header + stream.to_bytes((len(ids) * bits + 7) // 8, "little")


def unpack(packed: bytes, base: Ranks, first_id: int) -> Ranks:
    """Return the ranks that a merge table describes, its tokens numbered from `first_id` on.

    Args:
        packed: The bytes of the table's file.
        base: Merged tokens that the table builds upon and does not hold.
        first_id: The id of its first token.
    """
    _magic, number_of_pairs, bits, byte_tokens = HEADER.unpack_from(packed)
    digits = f"{int.from_bytes(packed[HEADER.size :], 'little'):0{2 * number_of_pairs * bits}b}"
    ids = [int(digits[end - bits : end], 2) for end in range(len(digits), 0, -bits)]

    ranks = {bytes([byte]): rank for rank, byte in enumerate(byte_tokens)} | base
    tokens = {rank: token for token, rank in ranks.items()}
    for made_id, (left, right) in enumerate(zip(ids[::2], ids[1::2], strict=True), start=first_id):
        tokens[made_id] = tokens[left] + tokens[right]
    return {token: rank for rank, token in tokens.items()}


def derive_table(name: str, ranks: Ranks, base: Ranks | None = None, first_id: int = BYTE_TOKENS) -> Table:
    """Derive and pack the pairs of a vocabulary, and verify that unpacking them yields the vocabulary again.

    Args:
        name: The vocabulary's name in messages and of its file.
        ranks: All its ranks.
        base: The ranks that another table holds already.
        first_id: The id of the first token of this table.

    Raises:
        DerivationError: The vocabulary does not have the form that the format relies on.
    """
    tokens = {rank: token for token, rank in ranks.items()}
    byte_tokens = b"".join(tokens.get(rank, b"") for rank in range(BYTE_TOKENS))
    if sorted(byte_tokens) != list(range(256)):
        message = f"{name}: the ids 0 to 255 are not the single bytes"
        raise DerivationError(message)
    try:
        pairs = derive_pairs(ranks, first_id)
    except DerivationError as error:
        message = f"{name}: {error}"
        raise DerivationError(message) from error
    packed = pack(byte_tokens, pairs, bits=max(tokens).bit_length())
    if unpack(packed, base or {}, first_id) != ranks:
        message = f"{name}: the packed table does not give back the ranks"
        raise DerivationError(message)
    return Table(f"{name}.merges", len(ranks), len(pairs), packed)


def derive_all(contents: dict[str, bytes]) -> list[Table]:
    """Return the tables of all built-in vocabularies."""
    r50k = parse_rank_file(contents["r50k_base.tiktoken"])
    p50k = parse_rank_file(contents["p50k_base.tiktoken"])
    if {token: rank for token, rank in p50k.items() if rank <= END_OF_TEXT_ID} != r50k:
        message = f"p50k is not r50k, a hole at {END_OF_TEXT_ID} and further tokens"
        raise DerivationError(message)
    gpt2_files = contents["vocab.bpe"].decode(), contents["encoder.json"].decode()
    verify_gpt2_files(r50k, derive_pairs(r50k, BYTE_TOKENS), *gpt2_files)
    return [
        derive_table("r50k", r50k),
        derive_table("p50k", p50k, base=r50k, first_id=END_OF_TEXT_ID + 1),
        derive_table("cl100k", parse_rank_file(contents["cl100k_base.tiktoken"])),
        derive_table("o200k", parse_rank_file(contents["o200k_base.tiktoken"])),
    ]


# --- the command --------------------------------------------------------------------------------------------


def write_atomically(path: Path, contents: bytes) -> None:
    """Replace the file in one step: a reader sees either the old contents or the new."""
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(contents)
    partial.replace(path)


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(description="Derive the built-in merge tables.")
    parser.add_argument("--check", action="store_true", help="compare the committed tables, write nothing")
    check = parser.parse_args().check
    directory = Path(__file__).resolve().parents[1] / "src" / "builtin"

    differing = []
    for table in derive_all(fetch_assets()):
        path = directory / table.name
        if not check:
            write_atomically(path, table.packed)
        elif not path.is_file() or path.read_bytes() != table.packed:
            differing.append(table.name)
        print(
            f"{table.name:14} {table.tokens:7} tokens {table.pairs:7} merges {len(table.packed):7} bytes "
            f"{len(table.packed) / table.pairs:6.2f} bytes per merge",
        )
    if differing:
        print(f"differ from the freshly derived tables: {', '.join(differing)}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except DerivationError as error:
        sys.exit(f"derive_vocabulary.py: {error}")
