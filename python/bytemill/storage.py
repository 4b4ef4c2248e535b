"""The part of an encoding that reads and writes files, of this library and of others."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from bytemill.errors import PatternError, VocabularyError
from bytemill.patterns import WHOLE_TEXT_PATTERN

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    import tiktoken
    from typing_extensions import Self

    from bytemill.core import Encoding

__all__ = ["Storage"]


class Storage:
    """What `Encoding` inherits.

    Every writer reads its files back and encodes sample texts before the files get their names: readers see
    the old files or the new ones, whole. What a format cannot hold exactly is refused with the reason.
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            *,
            pat_str: str,
            mergeable_ranks: dict[bytes, int],
            special_tokens: dict[str, int],
        ) -> None:
            """Is that of `Encoding`."""

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> Self:
        """Reads an encoding that gives the same ids as the library that the file comes from.

        What format a file has is told by what is in it: `.tiktoken` (also Llama 3's and Qwen's
        `tiktoken.model`), Hugging Face's `tokenizer.json`, GPT-2's `encoder.json` and `vocab.bpe` (or
        `vocab.json` and `merges.txt`), minbpe's `.model`, Mistral's `tekken.json`, and `.bytemill`, which
        `save` writes.

        Args:
            path: The file, or a directory with one of these under its usual name; of GPT-2's two, either.
            name: The name of the encoding; if not given, that in the file, or else that of the file.
            pattern: For files without a pattern, `.tiktoken` and GPT-2's, what cuts text into pieces: a name
                of `bytemill.patterns.PATTERNS` such as "llama3", or a regular expression. GPT-2's own is what
                its files get otherwise.
            special_tokens: Each special token's id, instead of those in the file.

        Raises:
            VocabularyError: The file is of no known format, malformed, or no encoding gives the ids that its
                own library gives; the message names file, place and reason.
            ValueError: The file needs a pattern and none is given, or has one and another is given.
            PatternError: The pattern that is given does not compile or can match the empty string.
            OSError: The file cannot be read.

        Warns:
            UserWarning: The file says that tokens are added to each text, which an encoding does not do; or
                as the constructor.

        Complexity:
            Linear in the file.
        """
        from bytemill.formats.recognition import read_parts, usual_name

        parts = read_parts(path)
        if parts.warning is not None:
            warnings.warn(parts.warning, UserWarning, stacklevel=2)
        chosen = resolve(pattern, parts.pattern, parts.usual_pattern, path)
        try:
            return cls(
                name or parts.name or usual_name(path),
                pat_str=chosen,
                mergeable_ranks=parts.ranks,
                special_tokens=dict(parts.special_tokens if special_tokens is None else special_tokens),
            )
        except (PatternError, VocabularyError) as error:
            if pattern is not None and isinstance(error, PatternError):
                raise
            message = f"{path}: {error}"
            raise VocabularyError(message) from error

    @classmethod
    def from_tiktoken(cls, encoding: tiktoken.Encoding) -> Self:
        """Makes the same encoding as one of tiktoken.

        Raises:
            TypeError: It is no encoding of tiktoken.

        Warns:
            UserWarning: As the constructor.
        """
        try:
            return cls(
                encoding.name,
                pat_str=encoding._pat_str,  # noqa: SLF001 - there is no public name
                mergeable_ranks=dict(encoding._mergeable_ranks),  # noqa: SLF001 - as above
                special_tokens=dict(encoding._special_tokens),  # noqa: SLF001 - as above
            )
        except AttributeError as error:
            message = f"expected an encoding of tiktoken, got {type(encoding).__name__}"
            raise TypeError(message) from error

    def to_tiktoken(self) -> tiktoken.Encoding:
        """Makes the same encoding in tiktoken, checked with sample texts.

        Raises:
            ImportError: `tiktoken` is not installed.
            VocabularyError: tiktoken would give other ids.
        """
        from bytemill._optional import import_optional
        from bytemill.formats.verification import check_ids

        library = import_optional("tiktoken", "encodings of tiktoken")
        source = whole(self)
        check_prefixes(source)
        encoding: tiktoken.Encoding = library.Encoding(
            source.name,
            pat_str=source._pat_str,  # noqa: SLF001 - tiktoken's names
            mergeable_ranks=dict(source._mergeable_ranks),  # noqa: SLF001 - as above
            special_tokens=dict(source._special_tokens),  # noqa: SLF001 - as above
        )
        check_ids(source, lambda text: encoding.encode(text, allowed_special="all"), "tiktoken")
        return encoding

    def save(self, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None) -> None:
        """Writes everything to one file, `.bytemill` by custom; see `bytemill.formats.native`.

        Args:
            path: The file, replaced if it exists.
            provenance: What else is to be known, such as where the vocabulary comes from; any JSON. The
                version of this library is added.

        Raises:
            TypeError, ValueError: JSON cannot hold the provenance.
            OSError: The file cannot be written.
        """
        from bytemill.core import __version__
        from bytemill.formats.json_file import parse_json
        from bytemill.formats.native import format_native, parse_native
        from bytemill.formats.verification import check_parts, write_verified

        contents = format_native(whole(self), {"bytemill": __version__, **(provenance or {})})
        write_verified(
            {path: contents}, lambda read: check_parts(whole(self), parse_native(parse_json(read, str(path))))
        )

    def save_tiktoken(self, path: str | os.PathLike[str]) -> None:
        """Writes the mergeable tokens as a `.tiktoken` file, which holds neither pattern nor special tokens.

        For a built-in encoding that is the published file, byte for byte; gpt2 was published in another
        format, see `save_gpt2`.

        Raises:
            OSError: The file cannot be written.
        """
        from bytemill.formats.parts import Parts
        from bytemill.formats.tiktoken_ranks import format_ranks, parse_ranks
        from bytemill.formats.verification import check_parts, write_verified

        encoding = whole(self)
        ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name

        def check(read: bytes) -> None:
            special_tokens = encoding._special_tokens  # noqa: SLF001 - tiktoken's name
            check_parts(encoding, Parts(None, parse_ranks(read, str(path)), special_tokens))

        write_verified({path: format_ranks(ranks)}, check)

    def save_huggingface(self, directory: str | os.PathLike[str]) -> None:
        """Writes `tokenizer.json` and `tokenizer_config.json` for Hugging Face's libraries.

        There special tokens are always found in text: the ids are those of
        `encode(text, allowed_special="all")`. Where `tokenizers` is installed, it checks the file too.

        Args:
            directory: Made if it does not exist; files of these names are replaced.

        Raises:
            VocabularyError: The library would give other ids.
            PatternError: The pattern may mean something else to the library's regular expressions.
            OSError: A file cannot be written.
        """
        from bytemill.formats import huggingface
        from bytemill.formats.json_file import parse_json
        from bytemill.formats.verification import check_parts, check_with_tokenizers, write_verified

        encoding = whole(self)
        tokenizer = huggingface.format_tokenizer(encoding)
        config = huggingface.format_tokenizer_config(encoding)
        folder = made_directory(directory)
        path = folder / "tokenizer.json"

        def check(read: bytes, _: bytes) -> None:
            check_parts(encoding, huggingface.parse_tokenizer(parse_json(read, str(path))))
            check_with_tokenizers(encoding, read)

        write_verified({path: tokenizer, folder / "tokenizer_config.json": config}, check)

    def save_gpt2(
        self,
        directory: str | os.PathLike[str],
        *,
        file_names: tuple[str, str] = ("vocab.bpe", "encoder.json"),
    ) -> None:
        """Writes GPT-2's two files, which hold no pattern: it must be GPT-2's.

        For gpt2 those are the published files, byte for byte.

        Args:
            directory: Made if it does not exist; files of these names are replaced.
            file_names: What to call the merges and the ids; transformers wants
                `("merges.txt", "vocab.json")`.

        Raises:
            VocabularyError: A reader of the format would give other ids.
            OSError: A file cannot be written.
        """
        from bytemill.formats.data_gym import format_encoder, format_merges, parse_pair
        from bytemill.formats.verification import check_parts, write_verified

        merges, encoder = format_merges(whole(self)), format_encoder(whole(self))
        folder = made_directory(directory)
        merges_name, encoder_name = file_names

        def check(*read: bytes) -> None:
            check_parts(
                whole(self), parse_pair(*read, vocab_bpe_file=merges_name, encoder_json_file=encoder_name)
            )

        write_verified({folder / merges_name: merges, folder / encoder_name: encoder}, check)

    def save_minbpe(self, prefix: str | os.PathLike[str]) -> None:
        """Writes `prefix`.model and `prefix`.vocab for minbpe.

        Raises:
            ValueError: The format cannot hold the pattern or a special token.
            VocabularyError: minbpe would give other ids.
            PatternError: The pattern may mean something else to minbpe's regular expressions.
            OSError: A file cannot be written.
        """
        from pathlib import Path

        from bytemill.formats import minbpe_model
        from bytemill.formats.verification import check_parts, write_verified

        model = minbpe_model.model_of(whole(self))
        path = Path(f"{Path(prefix)}.model")

        def check(read: bytes, _: bytes) -> None:
            check_parts(
                whole(self), minbpe_model.parts_of(minbpe_model.parse_model(read, str(path)), str(path))
            )

        vocabulary = minbpe_model.format_vocab(whole(self).vocab(), model.merges)
        write_verified(
            {path: minbpe_model.format_model(model), Path(f"{Path(prefix)}.vocab"): vocabulary}, check
        )


def whole(part: Storage) -> Encoding:
    """Gives the encoding that inherits these methods: itself."""
    return cast("Encoding", part)


def resolve(given: str | None, own: str | None, usual: str | None, path: str | os.PathLike[str]) -> str:
    """Decides on the pattern of a file; errors as `from_file`."""
    if given is None:
        if own is None and usual is None:
            message = (
                f"{path} has no pattern: expected pattern=, a name such as 'cl100k', 'o200k', 'llama3' "
                "or 'qwen2', or a regular expression"
            )
            raise ValueError(message)
        return own or str(usual)
    from bytemill.patterns import resolve_pattern

    pattern = resolve_pattern(given) or WHOLE_TEXT_PATTERN
    if own not in {None, pattern}:
        message = f"{path} has the pattern {own!r}, and another was given: pattern= is for files without one"
        raise ValueError(message)
    return pattern


def check_prefixes(encoding: Encoding) -> None:
    """Checks that no special token begins with another: which of them tiktoken finds is left to chance."""
    in_order = sorted(encoding.special_tokens_set)
    for token, successor in pairwise(in_order):
        if successor.startswith(token):
            message = (
                f"{encoding!r} cannot be converted exactly: where the special token {successor!r} is in a "
                f"text, tiktoken may find {token!r}"
            )
            raise VocabularyError(message)


def made_directory(directory: str | os.PathLike[str]) -> Path:
    """Makes a directory if it does not exist."""
    from pathlib import Path

    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
