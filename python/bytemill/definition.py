"""`Definition`: the plain data that determines an encoding.

Formats read and write definitions; `Encoding` is built from one, around its core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bytemill._backend import CoreBPE, SentencePieceModel, build_core
from bytemill.errors import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "ID_LIMIT",
    "Definition",
    "Loaded",
    "Splitting",
    "Template",
    "Tokens",
    "core_of",
    "tokens_by_id",
]

# Ids are below this.
ID_LIMIT = 2**32 - 1

BYTES = 256

# Tokens, each with its ID.
Tokens: TypeAlias = "Sequence[tuple[str, int]]"

# How text is cut into pieces: by a pattern, the regular expression whose matches are the pieces. Another way
# to split becomes another member of this type, and the type checker then lists who assumes a pattern.
Splitting: TypeAlias = str


class Template(NamedTuple):
    """Tokens that a tokenizer's own library adds to each text.

    A special token of the encoding is a string; another token is an ID.

    Attributes:
        prefix: The tokens before the text.
        suffix: The tokens after the text.
    """

    prefix: tuple[str | int, ...]
    suffix: tuple[str | int, ...]

    @classmethod
    def of(cls, before: Tokens, after: Tokens, special_tokens: Mapping[str, int]) -> Template | None:
        """Returns the template of tokens around texts, each with its ID; `None` if there are no tokens."""
        if not before and not after:
            return None
        prefix, suffix = (
            tuple(text if special_tokens.get(text) == token_id else token_id for text, token_id in part)
            for part in (before, after)
        )
        return cls(prefix, suffix)


class Definition(NamedTuple):
    """The plain data that determines an encoding.

    It is immutable: encodings share the dictionaries, so do not change them either.

    Attributes:
        name: The name of the encoding; it does not affect token IDs.
        splitting: How text is cut into pieces, which merges never cross: a regular expression.
        ranks: The rank of each mergeable token, which is also its ID.
        special_tokens: The ID of each special token.
        template: The special tokens that the tokenizer's own library adds to each text, which an encoding
            does not; `None` if it adds none. It does not affect token IDs either.
        model: The bytes of a SentencePiece model, which alone determines token IDs: `splitting` and `ranks`
            are empty. `None` for other encodings.
        tokenizer: The bytes of a `tokenizer.json`, which alone determines token IDs in the same way. `None`
            for other encodings, and for files that merge by rank.
    """

    name: str
    splitting: Splitting
    ranks: dict[bytes, int]
    special_tokens: dict[str, int]
    template: Template | None = None
    model: bytes | None = None
    tokenizer: bytes | None = None

    def __repr__(self) -> str:
        if self.tokenizer is not None:
            return f"<Definition {self.name!r}: a tokenizer.json of {len(self.tokenizer)} bytes>"
        if self.model is not None:
            return f"<Definition {self.name!r}: a SentencePiece model of {len(self.model)} bytes>"
        return f"<Definition {self.name!r}: {len(self.ranks)} + {len(self.special_tokens)} tokens>"

    @property
    def max_id(self) -> int:
        """The highest token ID."""
        return max(max(self.ranks.values(), default=0), max(self.special_tokens.values(), default=0))

    @property
    def sha256(self) -> str:
        """The SHA-256, in hexadecimal, of everything that determines token IDs.

        `bytemill.fingerprint` defines it.

        Complexity:
            O(n log n) for n tokens, each time.
        """
        # Only here: hashing is rarely needed, and importing it takes a while.
        from bytemill.fingerprint import vocabulary_sha256

        return vocabulary_sha256(
            self.splitting, self.ranks, self.special_tokens, self.model or self.tokenizer
        )

    def vocab(self) -> dict[int, bytes]:
        """Returns the bytes of every token, special ones as UTF-8, in the order of the IDs."""
        tokens = {token_id: token for token, token_id in self.ranks.items()}
        for text, token_id in self.special_tokens.items():
            tokens.setdefault(token_id, text.encode())
        return dict(sorted(tokens.items()))

    def check(self, source: str) -> Definition:
        """Returns the definition itself if its mergeable tokens form a vocabulary.

        Args:
            source: Where it comes from, for messages.

        Raises:
            VocabularyError: A single byte is missing, a token is empty, two mergeable tokens have the same
                ID, or an ID is out of range.
        """
        if missing := [byte for byte in range(BYTES) if bytes([byte]) not in self.ranks]:
            shown = ", ".join(f"0x{byte:02x}" for byte in missing[:8]) + (", ..." if missing[8:] else "")
            raise VocabularyError(
                f"{source}: expected a token for each of the 256 bytes, got none for {shown}"
            )
        if b"" in self.ranks:
            raise VocabularyError(f"{source}: the token with the id {self.ranks[b'']} is empty")
        ids = set(self.ranks.values())
        if len(ids) < len(self.ranks) or min(ids) < 0 or max(ids) >= ID_LIMIT:
            tokens_by_id(self.ranks.items(), source)
        for text, token_id in self.special_tokens.items():
            check_id(text, token_id, source)
        return self

    def merging_bytes(self, purpose: str) -> Definition:
        """Returns the definition itself if it merges bytes.

        Args:
            purpose: What needs that, for messages.

        Raises:
            VocabularyError: It is a SentencePiece model, or a `tokenizer.json` that does not merge by rank.
        """
        if self.tokenizer is not None:
            raise VocabularyError(
                f"{purpose} need merges of bytes by rank, and the encoding {self.name!r} is a "
                "tokenizer.json, which `save_huggingface` writes"
            )
        if self.model is not None:
            raise VocabularyError(
                f"{purpose} need merges of bytes, and the encoding {self.name!r} is a SentencePiece model, "
                "which `save_sentencepiece` writes"
            )
        return self

    def with_vocab_size(self, vocab_size: int, name: str) -> Definition:
        """Returns the definition of the first merges only, with the special tokens numbered after them.

        Args:
            vocab_size: The number of IDs, special tokens included.
            name: The name of the new definition.

        Raises:
            ValueError: There are fewer IDs, `vocab_size` is too small for the bytes and the special tokens,
                or it is a SentencePiece model.
        """
        self.merging_bytes("definitions that can be cut without `Encoding.with_vocab_size`")
        special_ids = sorted(set(self.special_tokens.values()))
        kept = vocab_size - len(special_ids)
        ranks = {token: rank for token, rank in self.ranks.items() if rank < kept}
        if len(ranks) != kept or sum(len(token) == 1 for token in ranks) < BYTES:
            raise ValueError(
                f"expected a vocab_size from {BYTES + len(special_ids)} to {self.max_id + 1}, "
                f"below any gap in the IDs of mergeable tokens, got {vocab_size}"
            )
        new_id = {token_id: kept + i for i, token_id in enumerate(special_ids)}
        special_tokens = {text: new_id[token_id] for text, token_id in self.special_tokens.items()}
        around = () if self.template is None else self.template.prefix + self.template.suffix
        if lost := [token for token in around if isinstance(token, int) and token >= kept]:
            raise ValueError(
                f"expected a vocab_size that keeps the token {lost[0]}, which is added to each text, got "
                f"{vocab_size}"
            )
        return Definition(name, self.splitting, ranks, special_tokens, self.template)


class Loaded(NamedTuple):
    """A definition as it comes from a file.

    Attributes:
        definition: The definition.
        core: Its core, if reading has built it; the ranks, if it has any, are left to the core then.
    """

    definition: Definition
    core: CoreBPE | None = None

    def with_names(self, name: str, special_tokens: Mapping[str, int]) -> Loaded:
        """Returns the same definition with another name and other special tokens."""
        definition = self.definition._replace(name=name, special_tokens=dict(special_tokens))
        core = self.core
        if core is not None and special_tokens != self.definition.special_tokens:
            core = core.with_special_tokens(definition.special_tokens)
        return Loaded(definition, core)

    @property
    def whole(self) -> Definition:
        """The definition with its ranks; takes time linear in them if a core has them."""
        definition = self.definition
        if self.core is None or definition.model is not None or definition.tokenizer is not None:
            return definition
        return definition._replace(ranks=self.core.mergeable_ranks())

    @property
    def shared_ranks(self) -> dict[bytes, int]:
        """The mergeable tokens whose IDs special tokens have too."""
        special = set(self.definition.special_tokens.values())
        if self.core is None:
            return {token: rank for token, rank in self.definition.ranks.items() if rank in special}
        mergeable = self.core.with_special_tokens({})
        shared = filter(mergeable.is_token, special)
        return {mergeable.decode_single_token_bytes(token_id): token_id for token_id in shared}


def core_of(definition: Definition) -> CoreBPE:
    """Builds the core of a definition."""
    if definition.model is not None:
        return CoreBPE.sentencepiece(SentencePieceModel(definition.model), definition.special_tokens)
    if definition.tokenizer is not None:
        return CoreBPE.tokenizer_json(definition.tokenizer, definition.special_tokens)
    return build_core(definition.ranks, definition.special_tokens, definition.splitting)


def tokens_by_id(tokens: Iterable[tuple[object, int]], source: str) -> dict[int, object]:
    """Returns the token of each ID.

    Args:
        tokens: Tokens, each with its ID.
        source: Where they come from, for messages.

    Raises:
        VocabularyError: Two tokens have the same ID, or an ID is out of range.
    """
    token_of_id: dict[int, object] = {}
    for token, token_id in tokens:
        check_id(token, token_id, source)
        if token_id in token_of_id:
            raise VocabularyError(
                f"{source}: the tokens {token_of_id[token_id]!r} and {token!r} have the same id {token_id}"
            )
        token_of_id[token_id] = token
    return token_of_id


def check_id(token: object, token_id: int, source: str) -> None:
    """Raises `VocabularyError` if an ID is out of range."""
    if not 0 <= token_id < ID_LIMIT:
        raise VocabularyError(
            f"{source}: the token {token!r} has the id {token_id}: expected one from 0 to {ID_LIMIT - 1}"
        )
