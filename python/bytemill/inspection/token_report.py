"""Describe one token of a vocabulary: its bytes, its parts, and whether it is reachable."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import regex  # type: ignore[import-untyped]  # the package ships no types

from bytemill._arguments import integer
from bytemill._messages import shortened
from bytemill._named import encoding_of
from bytemill.errors import PatternError, UnknownTokenError
from bytemill.inspection.notebook import Displayed
from bytemill.inspection.reachability import Pieces, last_merge, may_occur
from bytemill.inspection.terminal import align_columns
from bytemill.inspection.token import text_of, visible
from bytemill.reference_sentencepiece import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bytemill.core import Encoding

__all__ = ["FRAGMENTS", "Reach", "TokenList", "TokenReport", "kinds_of", "list_tokens", "report_token"]

# As in `reachability`; "whole" for a token whose own text encodes to it, "special" for a special token,
# "other" for one of a model without ranks whose own text does not encode to it. The last four are those of
# pieces of SentencePiece models of type BPE.
Reach: TypeAlias = Literal[
    "whole",
    "whole_only",
    "cut",
    "fragment",
    "unreachable",
    "special",
    "other",
    "merged",
    "changed",
    "unused",
    "fallback",
]

MEANING: dict[Reach, str] = {
    "whole": "its own text encodes to it",
    "whole_only": "its own text encodes to it as a whole piece; merges do not make it",
    "cut": "the pattern cuts its text; merges inside larger pieces may make it",
    "fragment": "its bytes are not whole characters; merges inside larger pieces may make it",
    "unreachable": "no text encodes to it",
    "special": "its own text encodes to it where special tokens are allowed",
    "other": "its own text does not encode to it; other texts may",
    "merged": "merges make it from its characters",
    "changed": "normalization changes its text; other texts may encode to it",
    "unused": "merges make it, and then it gives way to its parts",
    "fallback": "characters without a token encode to it",
}


@dataclass(frozen=True)
class TokenReport(Displayed):
    """Description of one token. Its `str` is a few lines of text.

    Attributes:
        encoding: Name of the encoding.
        id: Token id.
        value: Token bytes; of a special token, its text as UTF-8.
        kind: Script or class of its characters, see `scripts`.
        reach: How a text can encode to it.
        parts: Ids and bytes of the two tokens that the last merge joins; empty for a byte token, a special
            token, and one that merges do not make; of a SentencePiece model also where one of the two is not
            a token; always for a model that neither merges by rank nor is a SentencePiece model of type BPE.
        piece: The piece of a SentencePiece model of type BPE, with marks for spaces; `None` for other tokens.
        type: Its type: "normal", "unknown", "control", "user_defined", "unused" or "byte".
        score: Its score; the highest merges first.
    """

    encoding: str
    id: int
    value: bytes
    kind: str
    reach: Reach
    parts: tuple[tuple[int, bytes], ...]
    piece: str | None = None
    type: str | None = None
    score: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON-compatible values; bytes as hexadecimal digits."""
        return {
            "encoding": self.encoding,
            "id": self.id,
            "bytes": self.value.hex(),
            "text": text_of(self.value),
            "kind": self.kind,
            "reach": self.reach,
            "parts": [token_id for token_id, _ in self.parts],
            **({} if self.piece is None else {"piece": self.piece, "type": self.type, "score": self.score}),
        }

    def __str__(self) -> str:
        joined = " + ".join(f"{visible(value)} ({token_id})" for token_id, value in self.parts)
        facts = [
            ("id", str(self.id)),
            ("token", visible(self.value)),
            ("bytes", f"{self.value.hex(' ')} ({len(self.value)})"),
            *([] if self.piece is None else self._facts_of_piece(self.piece)),
            ("written in", self.kind),
            *([("merged from", joined)] if joined else []),
            ("reached", MEANING[self.reach]),
        ]
        return "\n".join(align_columns(facts, left=2))

    def _facts_of_piece(self, piece: str) -> list[tuple[str, str]]:
        return [
            ("piece", visible(piece.encode())),
            ("type", str(self.type).replace("_", "-")),
            ("score", f"{self.score:g}"),
        ]


def report_token(encoding: Encoding | str, token_id: int) -> TokenReport:
    """Describes a token of an encoding.

    Args:
        encoding: The encoding, or its name as in `show`.
        token_id: Token id.

    Raises:
        TypeError: An argument has the wrong type.
        UnknownTokenError: The id belongs to no token.
        PatternError: The engine of a custom pattern gives up on its text.

    Complexity:
        Quadratic in its bytes.
    """
    encoding = encoding_of(encoding)
    if not encoding._core_bpe.is_token(token_id):  # noqa: SLF001 - of this library
        raise UnknownTokenError(
            f"no token of {shortened(encoding.name)} has the id {token_id}; "
            f"IDs go from 0 to {encoding.max_token_value}"
        )
    value = encoding.decode_single_token_bytes(token_id)
    [kind] = kinds_of([value])
    contents = encoding.definition.model
    if contents is not None and encoding._core_bpe.model_kind == "merges":  # noqa: SLF001 - as above
        return report_piece(encoding, Pieces(encoding, contents), token_id, value, kind)
    if encoding.is_special_token(token_id):
        return TokenReport(encoding.name, token_id, value, kind, "special", ())
    text = text_of(value)
    whole = text is not None and is_whole(encoding, text, token_id)
    reach: Reach
    if not encoding._has_ranks:  # noqa: SLF001 - as above
        # What else becomes the token depends on the model, and on the steps before it.
        reach = "whole" if whole else "other"
        return TokenReport(encoding.name, token_id, value, kind, reach, ())
    ranks = encoding._mergeable_ranks  # noqa: SLF001 - tiktoken's name for them
    parts = last_merge(value, ranks)
    merged = parts is not None
    if not may_occur(value) or not (merged or whole):
        reach = "unreachable"
    elif text is None:
        reach = "fragment"
    elif not whole:
        reach = "cut"
    else:
        reach = "whole" if merged else "whole_only"
    return TokenReport(encoding.name, token_id, value, kind, reach, tuple((ranks[p], p) for p in parts or ()))


def is_whole(encoding: Encoding, text: str, token_id: int) -> bool:
    """Returns whether a text encodes to one token."""
    try:
        return encoding.encode_ordinary(text) == [token_id]
    except PatternError:
        raise
    except ValueError:
        # It needs an unknown token, which some models of words and of scores do not have.
        return False


def report_piece(encoding: Encoding, pieces: Pieces, token_id: int, value: bytes, kind: str) -> TokenReport:
    """Describes a token of an encoding that is a SentencePiece model of type BPE."""
    if token_id >= len(pieces.pieces):
        return TokenReport(encoding.name, token_id, value, kind, "special", ())
    piece = pieces.pieces[token_id]
    merged = pieces.last_merge(piece.text) if piece.kind in (Kind.NORMAL, Kind.UNUSED) else None
    parts = tuple((part, encoding.decode_single_token_bytes(part)) for part in pieces.tokens_of(merged or ()))
    return TokenReport(
        encoding.name,
        token_id,
        value,
        kind,
        reach_of(pieces, token_id, is_made=merged is not None),
        parts,
        piece=piece.text,
        type=piece.kind.name.lower(),
        score=piece.score,
    )


def reach_of(pieces: Pieces, token_id: int, *, is_made: bool) -> Reach:
    """Returns how a text can become a piece."""
    text, _, kind = pieces.pieces[token_id]
    reach: Reach
    if kind == Kind.CONTROL:
        reach = "special"
    elif kind == Kind.BYTE:
        reach = "unreachable" if pieces.is_idle_byte(text) else "fallback"
    elif kind == Kind.UNKNOWN:
        reach = "unreachable" if pieces.reference.byte_fallback else "fallback"
    elif pieces.is_hidden(text):
        reach = "unreachable"
    elif kind == Kind.USER_DEFINED:
        reach = "whole"
    elif not is_made:
        reach = "unreachable"
    elif kind == Kind.UNUSED:
        reach = "unused"
    else:
        reach = "changed" if pieces.is_changed(text) else "merged"
    return reach


# List the tokens of a vocabulary in the order of their ids.


@dataclass(frozen=True)
class TokenList(Displayed):
    """Tokens in the order of their ids. Its `str` has a line for each: id, token, bytes.

    Attributes:
        encoding: Name of the encoding.
        tokens: The bytes of each token by its id.
    """

    encoding: str
    tokens: dict[int, bytes]

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON-compatible values; bytes as hexadecimal digits."""
        return {
            "encoding": self.encoding,
            "tokens": [
                {"id": token_id, "bytes": value.hex(), "text": text_of(value)}
                for token_id, value in self.tokens.items()
            ],
        }

    def __str__(self) -> str:
        rows = [(str(token_id), visible(value), value.hex(" ")) for token_id, value in self.tokens.items()]
        rows = [("id", "token", "bytes"), *rows]
        width = max(len(row[0]) for row in rows)
        return "\n".join(align_columns([(f"{row[0]:>{width}}", *row[1:]) for row in rows], left=3))


def list_tokens(encoding: Encoding | str, first: int, last: int) -> TokenList:
    """Lists the tokens with IDs from `first` to `last`; IDs without a token are left out.

    Args:
        encoding: The encoding, or its name as in `show`.
        first: The first id.
        last: The last id; ids beyond the highest are left out.

    Raises:
        TypeError: An argument has the wrong type.
        UnknownTokenError: None of the ids belongs to a token.

    Complexity:
        Linear in the vocabulary.
    """
    encoding = encoding_of(encoding)
    first, last = integer("first", first), integer("last", last)
    ids = encoding._core_bpe.token_ids()  # noqa: SLF001 - of this library
    tokens = {i: encoding.decode_single_token_bytes(i) for i in ids if first <= i <= last}
    if not tokens:
        raise UnknownTokenError(
            f"no token of {shortened(encoding.name)} has an id from {first} to {last}; "
            f"IDs go from 0 to {encoding.max_token_value}"
        )
    return TokenList(encoding.name, tokens)


# Classify tokens by script: Latin, Han and so on, or numbers, signs, blanks.
#
# The script of a character is its Unicode property Script, which the `regex` package has and `unicodedata`
# lacks. Common (characters of several scripts) and Inherited (marks that take the script of their base) do
# not classify a token; tokens of such characters alone go by their general category.

FRAGMENTS = "parts of characters"

# Names in the Unicode Character Database, those most frequent in vocabularies first. A release of `regex`
# that does not know one of the newest scripts has no characters of it either.
SCRIPTS = """
Latin Han Cyrillic Arabic Hangul Hiragana Katakana Greek Hebrew Thai Devanagari Armenian Georgian
Bengali Adlam Ahom Anatolian_Hieroglyphs Avestan Balinese Bamum Bassa_Vah Batak Beria_Erfe Bhaiksuki
Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham
Cherokee Chorasmian Coptic Cuneiform Cypriot Cypro_Minoan Deseret Dives_Akuru Dogra Duployan
Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Glagolitic Gothic Grantha Gujarati Gunjala_Gondi
Gurmukhi Gurung_Khema Hanifi_Rohingya Hanunoo Hatran Imperial_Aramaic Inscriptional_Pahlavi
Inscriptional_Parthian Javanese Jurchen Kaithi Kannada Kawi Kayah_Li Kharoshthi Khitan_Small_Script
Khmer Khojki Khudawadi Kirat_Rai Lao Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar
Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui
Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari
Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian
Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur
Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Proto_Cuneiform
Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Seal Sharada Shavian Siddham Sidetic SignWriting
Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le
Tai_Tham Tai_Viet Tai_Yo Takri Tamil Tangsa Tangut Telugu Thaana Tibetan Tifinagh Tirhuta Todhri
Tolong_Siki Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square
""".split()  # noqa: SIM905 - as a list literal each takes a line


def kinds_of(tokens: Iterable[bytes]) -> list[str]:
    """Returns the kind of each token.

    Args:
        tokens: Any bytes.

    Returns:
        For each token the script of its letters, or several joined by "+"; where its characters have none,
        "numbers", "signs", "blanks" or "other"; where its bytes are not whole characters, `FRAGMENTS`.

    Complexity:
        Linear in the tokens, plus the number of scripts times the number of distinct characters.
    """
    texts = [token.decode("utf-8", "surrogateescape") for token in tokens]
    scripts = scripts_of({character for text in texts for character in text})
    return [kind_of(text, scripts) for text in texts]


def scripts_of(characters: set[str]) -> dict[str, str]:
    """Returns the script of each character that has one, other than Common and Inherited."""
    scripts: dict[str, str] = {}
    text = "".join(sorted(characters))
    for name in SCRIPTS:
        try:
            found = regex.findall(rf"\p{{Script={name}}}", text)
        except regex.error:
            continue
        scripts.update(dict.fromkeys(found, name.replace("_", " ")))
    return scripts


def kind_of(text: str, scripts: dict[str, str]) -> str:
    """Returns the kind of one token, given the scripts of all characters."""
    categories = {unicodedata.category(character) for character in text}
    if "Cs" in categories:
        return FRAGMENTS
    if own := sorted({scripts[character] for character in text if character in scripts}):
        return "+".join(own)
    if any(category.startswith("N") for category in categories):
        return "numbers"
    if any(category[0] in "PS" for category in categories):
        return "signs"
    return "blanks" if text.isspace() else "other"
