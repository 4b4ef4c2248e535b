"""What a token is written in: Latin, Han and so on, or numbers, signs, blanks.

The script of a character is its Unicode property Script, as the `regex` package has it: `unicodedata` does
not. A character that several scripts use is Common, a mark that takes on the script of its letter Inherited;
neither says anything about a token. Tokens of such characters alone go by their general category.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import regex  # type: ignore[import-untyped]  # the package ships no types

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FRAGMENTS", "kinds_of"]

FRAGMENTS = "parts of characters"

# The names in the Unicode Character Database, those of most characters in vocabularies first. A release of
# `regex` that does not know one of the youngest has no character in it either.
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
""".split()  # noqa: SIM905 - a list literal takes a line for each


def kinds_of(tokens: Iterable[bytes]) -> list[str]:
    """Tells what each token is written in.

    Args:
        tokens: Any bytes.

    Returns:
        For each token the script of its letters, or several joined by "+"; where its characters have none,
        "numbers", "signs", "blanks" or "other"; where its bytes are not whole characters, `FRAGMENTS`.

    Complexity:
        Linear in the tokens, and for each script in the different characters.
    """
    texts = [token.decode("utf-8", "surrogateescape") for token in tokens]
    scripts = scripts_of({character for text in texts for character in text})
    return [kind_of(text, scripts) for text in texts]


def scripts_of(characters: set[str]) -> dict[str, str]:
    """Gives the script of each character that has one of its own."""
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
    """Tells what one token is written in, given the scripts of all characters."""
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
