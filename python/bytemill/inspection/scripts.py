"""Classify tokens by script: Latin, Han and so on, or numbers, signs, blanks.

The script of a character is its Unicode property Script, which the `regex` package has and `unicodedata`
lacks. Common (characters of several scripts) and Inherited (marks that take the script of their base) do not
classify a token; tokens of such characters alone go by their general category.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import regex  # type: ignore[import-untyped]  # the package ships no types

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FRAGMENTS", "kinds_of"]

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
