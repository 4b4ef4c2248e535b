"""The encodings that a page can choose from: those of the registry, and files that its reader opened."""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from bytemill.builtin import BUILTIN_ENCODINGS
from bytemill.core import Encoding
from bytemill.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING
from bytemill.registry import get_encoding, list_encoding_names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from bytemill.sessions import Session

__all__ = ["MOST_FILES", "MOST_TEXTS", "Loaded", "rule_of"]

# The oldest is forgotten when one more is opened.
MOST_FILES = 8

# Sessions with the last text of a page by an encoding and a rule; two encodings may be compared.
MOST_TEXTS = 4


class Loaded:
    """Encodings by the name that the page knows them by. Threads may share it."""

    def __init__(self) -> None:
        """Starts with the encodings of the registry."""
        self._opened: dict[str, Encoding] = {}
        self._lengths: dict[str, tuple[Encoding, npt.NDArray[np.int32]]] = {}
        # With the last texts, the latest last.
        self._sessions: dict[tuple[str, str], Session] = {}
        self._lock = Lock()

    def add(self, encoding: Encoding) -> str:
        """Adds an encoding, and returns the name that it has here."""
        name = encoding.name
        if name in BUILTIN_ENCODINGS:
            builtin = get_encoding(name)
            # A fingerprint takes 0.1 s.
            if encoding is builtin or encoding.sha256 == builtin.sha256:
                return name
        with self._lock:
            taken = {*list_encoding_names(), *self._opened}
            number = 2
            while name in taken:
                name, number = f"{encoding.name} ({number})", number + 1
            self._opened[name] = encoding
            if len(self._opened) > MOST_FILES:
                oldest = next(iter(self._opened))
                del self._opened[oldest]
                self._lengths.pop(oldest, None)
        return name

    def open(self, filename: str, contents: bytes, pattern: str | None) -> str:
        """Reads an encoding from the contents of a file, and returns the name that it has here.

        Args:
            filename: The name of the file; only its last part and its suffix matter.
            contents: Its bytes.
            pattern: The name of a pattern, for formats without one.

        Raises:
            ValueError: It holds no encoding that is supported; the message has the name of the file.

        Warns:
            UserWarning: As `Encoding.from_file`.
        """
        base = Path(filename.replace("\\", "/")).name or "file"
        with tempfile.TemporaryDirectory(prefix="bytemill-") as folder:
            path = Path(folder) / base.replace("\0", "")
            try:
                path.write_bytes(contents)
                encoding = Encoding.from_file(path, pattern=pattern)
            except OSError:
                raise ValueError(f"{base}: cannot be stored under this name") from None
            except ValueError as error:
                # The page shall not learn where the folder is.
                raise type(error)(str(error).replace(folder, "").replace(f"/{base}", base)) from None
        return self.add(encoding)

    def __getitem__(self, name: str) -> Encoding:
        """Returns an encoding; `KeyError` if there is none of that name."""
        found = self._opened.get(name)
        if found is not None:
            return found
        if name in list_encoding_names():
            return get_encoding(name)
        raise KeyError(f"there is no encoding {name!r}")

    def encode(self, name: str, text: str, special: str) -> npt.NDArray[np.uint32]:
        """Returns the token IDs of a text, of which only what differs from the last one is encoded.

        Args:
            name: The name of an encoding.
            text: The text.
            special: The rule for special tokens.

        Raises:
            KeyError: There is no encoding of that name.
            ValueError: The rule is unknown.
            DisallowedSpecialTokenError, PatternError: As `Encoding.encode`.
        """
        encoding, key = self[name], (name, special)
        with self._lock:
            # Nobody else has it meanwhile.
            session = self._sessions.pop(key, None)
        if session is None or session.encoding is not encoding:
            session = encoding.session(**rule_of(special))
        try:
            session.update(text)
            return session.ids
        finally:
            with self._lock:
                self._sessions[key] = session
                while len(self._sessions) > MOST_TEXTS:
                    del self._sessions[next(iter(self._sessions))]

    def lengths(self, name: str) -> npt.NDArray[np.int32]:
        """Returns the number of bytes of each token by id, special tokens included.

        Complexity:
            Linear in the vocabulary the first time.
        """
        encoding = self[name]
        found = self._lengths.get(name)
        if found is None or found[0] is not encoding:
            table = encoding.token_lengths()
            for text, token in encoding._special_tokens.items():  # noqa: SLF001 - of this library
                table[token] = len(text.encode())
            found = self._lengths[name] = (encoding, table)
        return found[1]

    def described(self) -> list[dict[str, Any]]:
        """Returns what the page lists: name, size and models of each encoding.

        Encodings are built when they are chosen, so the size of a plugin's is unknown before.
        """
        families = {f"{prefix}*": name for prefix, name in MODEL_PREFIX_TO_ENCODING.items()}
        models: dict[str, list[str]] = {}
        for model, name in {**MODEL_TO_ENCODING, **families}.items():
            models.setdefault(name, []).append(model)
        with self._lock:
            # Another request may open a file meanwhile.
            opened = {**self._opened}
        sizes = {name: each.max_id + 1 for name, each in BUILTIN_ENCODINGS.items()}
        sizes |= {name: each.n_vocab for name, each in opened.items()}
        return [
            {
                "name": name,
                "tokens": sizes.get(name),
                "models": models.get(name, []),
                "file": name in opened,
                "ranks": name not in opened or opened[name]._has_ranks,  # noqa: SLF001 - of this library
            }
            for name in [*list_encoding_names(), *opened]
        ]

    def details(self, name: str) -> dict[str, Any]:
        """Returns what an encoding is: its size, its special tokens, its fingerprint.

        Complexity:
            Linear in the vocabulary the first time, for the fingerprint.
        """
        encoding = self[name]
        return {
            "name": name,
            "tokens": encoding.n_vocab,
            "special": dict(sorted(encoding._special_tokens.items(), key=lambda item: item[1])),  # noqa: SLF001
            "sha256": encoding.sha256,
            "pattern": encoding._pattern,  # noqa: SLF001 - of this library
        }


def rule_of(special: str) -> dict[str, Any]:
    """Returns the arguments of `Encoding.encode` for a rule: "text", "allow" or "error".

    Raises:
        ValueError: It is none of these.
    """
    if special not in ("text", "allow", "error"):
        raise ValueError(f"expected text, allow or error as the rule for special tokens, got {special!r}")
    return {
        "allowed_special": "all" if special == "allow" else frozenset(),
        "disallowed_special": "all" if special == "error" else (),
    }
