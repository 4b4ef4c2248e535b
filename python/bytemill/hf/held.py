"""`Held`: the engine of a tokenizer of `tokenizers`, made when it is needed."""

from __future__ import annotations

import copy
from threading import RLock
from typing import TYPE_CHECKING, Any

from bytemill.errors import VocabularyError
from bytemill.hf.engine import Engine
from bytemill.hf.samples import check

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ENGINE", "Held", "held_of", "hold"]

# The attribute of a tokenizer of `transformers` that has its engine.
ENGINE = "_bytemill_engine"

# Comparing engines with tokenizers changes settings of these for a moment.
LOCK = RLock()


class Held:
    """The engine of a tokenizer, which shallow copies of a tokenizer of `transformers` share like it.

    Attributes:
        backend: The `tokenizers.Tokenizer`.
        is_off: Whether it is to have no engine.
    """

    def __init__(self, backend: Any, is_off: bool = False) -> None:
        """Takes the tokenizer, and whether it is to have no engine."""
        self.backend = backend
        self.is_off = is_off
        self._engine: Engine | None = None
        self._is_refused = False

    def make(self, name: str) -> Engine:
        """Makes the engine, for a tokenizer with a name.

        Raises:
            VocabularyError: It would give other IDs or texts.
        """
        with LOCK:
            self.forget()
            engine = Engine.parse(self.backend.to_str().encode(), name, is_live=True)
            check(self.backend, engine)
            self._engine = engine
            return engine

    def engine(self) -> Engine | None:
        """Returns the engine, made if there is none; `None` if it is refused."""
        if self._engine is None and not (self._is_refused or self.is_off):
            with LOCK:
                # Another thread may have been here.
                if self._engine is None and not self._is_refused:
                    try:
                        return self.make("tokenizer")
                    except VocabularyError:
                        self._is_refused = True
                    except RuntimeError:
                        # Another thread encodes with the tokenizer, which refuses changes then: later.
                        return None
        return self._engine

    def forget(self) -> None:
        """Drops the engine: the tokenizer has changed."""
        self._engine, self._is_refused = None, False

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self)(copy.deepcopy(self.backend, memo), self.is_off)
        # A copy is the tokenizer that is written to a file and read.
        if self._engine is not None and self._engine.reread() is self._engine:
            other._engine = self._engine  # noqa: SLF001 - of this class
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.backend, self.is_off)


def hold(tokenizer: Any, *, is_off: bool = False) -> Held:
    """Sets what has the engine of a tokenizer of `transformers`, and returns it."""
    held = Held(tokenizer.backend_tokenizer, is_off)
    tokenizer.__dict__[ENGINE] = held
    return held


def held_of(tokenizer: Any) -> Held:
    """Returns what has the engine of a tokenizer, a new one if it was never used or has another backend."""
    held: Held | None = tokenizer.__dict__.get(ENGINE)
    if held is None or held.backend is not tokenizer.backend_tokenizer:
        held = hold(tokenizer, is_off=held is not None and held.is_off)
    return held
