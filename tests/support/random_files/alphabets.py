"""The few characters that a random file is about, which its tokens and the texts for it are made of."""

from __future__ import annotations

import random
from typing import NamedTuple

from bytemill.formats.data_gym import CHARACTER_OF_BYTE

__all__ = ["BYTE_NAMES", "MARK", "Alphabet", "chance", "random_alphabet"]

MARK = "\u2581"
BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]

# Plain letters, and characters that some step changes, cuts at, drops or mistakes for its own.
PLAIN = "abcdexyz"
PECULIAR = [
    *"AZ19.,'-_#@<?!\n\t",
    *["é", "É", "ß", "İ", "ı", "ſ", "ﬁ", "½", "²", "٣", "Å", "Ω", "ς", "ǅ", "①"],  # noqa: RUF001
    *["\u0301", "\u0327", "\u00ad", "\u200b", "\u200d", "\ufeff", "\ufffd", "\x00", "\x7f", "\x85"],
    *["\u00a0", "\u2009", "\u2028", "\u3000", "\uac00", "\u1100", "\u1161", "\u0bbf", "\U000e0001"],
    *["中", "日", "ー", "、", "а", "م", "😀", "\U00010400", "Ġ", "Ċ", "Ã", MARK],  # noqa: RUF001
]  # fmt: skip


def chance(dice: random.Random, share: float) -> bool:
    """Returns true for a share of the calls."""
    return dice.random() < share


class Alphabet(NamedTuple):
    """Characters, and whether the model sees their bytes.

    Attributes:
        letters: The characters.
        is_of_bytes: Whether tokens are made of the characters that stand for bytes.
    """

    letters: list[str]
    is_of_bytes: bool

    def spelled(self, text: str) -> str:
        """Returns a text as tokens spell it."""
        return "".join(CHARACTER_OF_BYTE[byte] for byte in text.encode()) if self.is_of_bytes else text

    def symbols(self) -> list[str]:
        """Returns the characters that tokens are made of."""
        return list(dict.fromkeys("".join(map(self.spelled, self.letters))))

    def word(self, dice: random.Random, longest: int) -> str:
        """Returns letters, as tokens spell them."""
        return self.spelled("".join(dice.choices(self.letters, k=dice.randint(1, longest))))


def random_alphabet(dice: random.Random, *, is_of_bytes: bool, has_marks: bool) -> Alphabet:
    """Returns some plain letters, some that are peculiar, and what the file puts between words."""
    letters = dice.sample(PLAIN, dice.randint(2, 4)) + dice.sample(PECULIAR, dice.choice([0, 1, 2, 4]))
    letters += [MARK] * has_marks + [" "] * (is_of_bytes or not has_marks)
    return Alphabet(list(dict.fromkeys(letters)), is_of_bytes)
