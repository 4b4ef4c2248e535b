"""Sentences of many scripts, code, and short texts at which tokenizers differ from one another."""

# ruff: noqa: E501, RUF001 - texts of all scripts, a line each

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator

from support.texts import FRAGMENTS

__all__ = ["CODE", "SENTENCES", "TRICKY", "corpus", "neighbourhoods", "patchworks"]

SENTENCES = [
    "The quick brown fox isn't lazy; it's merely waiting, and we'll see what they've got by 10:45 on 3/14/2025.",
    "I'd say 1,234,567.89 dollars (about 30 %) is too much for her brother's house, don't you think?",
    "THE HTTPServer RETURNED 404 ERRORS, WHICH WASN'T WHAT JSONParser or camelCase names EXPECTED.",
    "Der Fußgänger überquerte die Straße, während größere Züge über die Brücke fuhren.",
    "Où est passée la forêt où l'été dernier nous avons mangé des crêpes à la crème brûlée ?",
    "¿Cuántos años tiene el niño pequeño? ¡Mañana cumplirá cinco años, según su abuela!",
    "Příliš žluťoučký kůň úpěl ďábelské ódy, zatímco łódź płynęła przez jezioro.",
    "Hôm nay trời đẹp quá, chúng ta hãy đi dạo trên những con đường của thành phố.",
    "İstanbul'da ılık bir sabah; çocuklar okula gidiyor, ığdır ve şehir uyanıyor.",
    "Сегодня хорошая погода, и мы пойдём гулять по набережной реки со всеми друзьями.",
    "Сьогодні ми їдемо до Києва, щоб побачити їхній новий будинок біля річки.",
    "Ο ήλιος λάμπει σήμερα και οι άνθρωποι περπατούν στους δρόμους της πόλης.",
    "השמש זורחת היום והילדים משחקים בחוץ ליד הבית הגדול של סבא.",
    "الطقس جميل اليوم والأطفال يلعبون في الحديقة الكبيرة قرب البيت، ١٢٣٤٥ كتابًا.",
    "امروز هوا خوب است و ما می‌خواهیم به پارک برویم، ۶۷۸۹ نفر آنجا هستند.",
    "आज मौसम बहुत अच्छा है और हम सब नदी के किनारे घूमने जा रहे हैं। १२३४",
    "আজ আবহাওয়া খুব সুন্দর এবং আমরা সবাই নদীর ধারে হাঁটতে যাচ্ছি।",
    "இன்று வானிலை மிகவும் நன்றாக இருக்கிறது, நாம் ஆற்றங்கரைக்கு செல்வோம்.",
    "ఈరోజు వాతావరణం చాలా బాగుంది, మనం నది ఒడ్డుకు వెళ్దాం.",
    "วันนี้อากาศดีมาก เราจะไปเดินเล่นที่ริมแม่น้ำกับเพื่อนๆ ทุกคน",
    "ຍິນດີຕ້ອນຮັບ ສະບາຍດີ ຂອບໃຈຫຼາຍໆ",
    "ဒီနေ့ ရာသီဥတု ကောင်းတယ်၊ ကျွန်တော်တို့ မြစ်ကမ်းကို သွားမယ်။",
    "ថ្ងៃនេះអាកាសធាតុល្អណាស់ យើងនឹងទៅដើរលេងនៅមាត់ទន្លេ។",
    "བོད་སྐད་ནི་བོད་མིའི་སྐད་ཡིག་ཡིན།",
    "დღეს კარგი ამინდია და ჩვენ მდინარის პირას ვისეირნებთ.",
    "Այսօր եղանակը լավ է, և մենք կզբոսնենք գետի ափին։",
    "ዛሬ አየሩ ጥሩ ነው፤ ሁላችንም ወደ ወንዙ ዳር እንሄዳለን።",
    "今天天气很好，我们一起去河边散步，然后在图书馆里看了三个小时的书。二〇二五年〇月",
    "今天天氣很好，我們一起去圖書館學習繁體中文，電腦和網路都很方便。",
    "今日はとても天気が良いので、友達と一緒に川辺を散歩しました。カタカナのテストー、２０２５年々々〆",
    "오늘은 날씨가 아주 좋아서 친구들과 함께 강가를 산책했습니다. ㅋㅋㅋ ㅎㅎ",
    "👩‍💻 writes code 👨‍👩‍👧‍👦 with family 🏳️‍🌈 flags 🇩🇪🇯🇵 thumbs 👍🏽👍🏿 hearts ❤️‍🔥 faces 😀😃😄 keys 1️⃣2️⃣",
    "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β), 2H₂ + O₂ ⇌ 2H₂O, x² + y³ ≤ ½·√z ± 5 µm ∑∫",
    "user@example.org visited https://www.example.org/a/b_c?d=e&f=%20g#top at 127.0.0.1:8080 -- see §4.2(b).",
]

CODE = textwrap.dedent(
    '''
    def fibonacci(n: int, *, cache: dict[int, int] | None = None) -> int:
        """Returns the n-th number."""
        if cache is None:
            cache = {}
        for index in range(0, n + 1):
            cache[index] = index if index < 2 else cache[index - 1] + cache[index - 2]
        return cache[n]  # 0x1F + 1e-10


    #include <vector>
    template <typename T>\r
    static inline T sum(const std::vector<T>& values) {\r
    \tT total{};\r
    \tfor (const auto& value : values) { total += value; }\r
    \treturn total;\r
    }\r

    <div class="row" id='a1'>\t<a href="/x?y=1&amp;z=2">Link</a>   </div>
    SELECT COUNT(*) FROM users WHERE age >= 18 AND name LIKE '%o''Neil%';
    {"key": [1, 22, 333, 4444, 55555, null, true], "text": "a\\nb\\u00e9"}
    '''
)

# Each for something that a splitter, a normalizer or a search for added tokens may take for something else.
TRICKY = [
    "",
    " ",
    "  ",
    "   \t\t\n\n  \r\n\r\n \r",
    "\n",
    "\n\n\n \n\n \n",
    "\r\n\r\n\r",
    "a\r\nb\rc\nd",
    "x \n y  \n  z   \n\n   w",
    "a    b     c      d" + " " * 40 + "e",
    "\ttabs\t\tand \t mixed\xa0blanks\u3000of\u2003all\u2028kinds\u2029here\x85now",
    "trailing ",
    "trailing  ",
    "trailing\n",
    "trailing \n ",
    " leading",
    "  leading",
    "\u2581mark",
    " \u2581 mark\u2581\u2581marks \u2581\u2581 ",
    "\u2581",
    "1",
    "12",
    "123",
    "1234",
    "12345 123456 1234567 12345678 123456789",
    "1 2 3  4   5\t6\n7",
    "1234px 1234_5 1234\u0301 1,234,567.0001e-5 0xdeadBEEF 1st 2nd v1.2.3",
    "\u0967\u0968\u0969\u096a\u0967\u0968 \u0661\u0662\u0663\u0664\u0665 \uff11\uff12\uff13\uff14 \U0001d7d8\U0001d7d9\U0001d7da\U0001d7db",
    "x\xb2\xb3\xb9 \xbc\xbd\xbe \u2460\u2461\u2462 \u2160\u2161\u2162\u2177 \u3007\u4e00\u4e8c\u3007 \U00011de0\U00016ff4",
    "don't DON'T Don'T we'll WE'LL he'd I'M they'VE it\u2019s 's 'S '\u017f '\u212a ''s '",
    "'tis o'clock rock'n'roll '90s l'\xe9t\xe9 d\u2019accord",
    "!!hello ??what ...and... ---dashes--- ***bold*** __init__ $$x$$ #tag @me &amp; ~~~",
    "(a)[b]{c}<d>'e'\"f\"`g`\xabh\xbb\u201ci\u201d\u300cj\u300d\uff08k\uff09",
    "path/to/file.txt C:\\dir\\x //comment /* y */ a/b/\n/c\r\n//",
    "!\n?\r\n.\n\n;/\n  !\n",
    "camelCaseWordHTTPServer XMLHttpRequest iPhone eBay McDonald aB Ab AB ABc abC \u01c5a A\u0301B\u0301c\u0301",
    "\xe9 e\u0301 \u1e69 s\u0323\u0307 s\u0307\u0323 \u212b \xc5 A\u030a \ufb01 \u2126 \uac00 \u1100\u1161 \u1100\u1161\u11a8",
    "\u0301start \u0301\u0308 a\u0301\u0308\u0323b q\u0307\u0323 \u0344 \u0958 \u0f73 \u2adc \U0001d15e \u0374",
    "\U00011935\U00011930 \U000110a5\U000110ba \u0b47\u0b56 \u0dd9\u0dcf\u0dca \u08d3\u0301\u08d3 \u1dfa\u0323 \U0001e2ae\u0323",
    "\u0915\u094d\u0937\u093f \u0b95\u0bcd\u0bb7\u0bbf \u0e01\u0e33 \u0e33\u0e31 \u0eb3 \u17d2\u178f \u1039\u1000",
    "\u4f60\u597d\uff0c\u4e16\u754c\uff01Hello\u4e16\u754c123\u4e2d\u6587 \u4e2d\u3042\u30ab\uac00a\u3005\u3006\u3007\u3400\u9fa5\u9fa6\u3231!\u3231",
    "a \u4e2d  \u4e2d \u30ab\n\u4e2d \u3042A\u4e2dB'S \u30fc\uff70\u3000\u3002",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd\U0001f44d \U0001f1e9\U0001f1ea\U0001f1ef \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 \u263a\ufe0f",
    "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0d\x0e\x13\x14\x16\x1b\x1c\x1d\x1e\x1f\x7f\x80\x9f",
    "a\x00b \x0bc\x04d\x16\x1d e\u200bf\u200cg\u200dh\u2060i\ufeffj\xadk\u180el",
    "\U000e0041\U000e0042 \U0010ffff \ue000\ue001 \U000f0000 \u0378\u0379 \ufffd\ufffe \U00020000\U0002a6d6 \U00040000x \U00080001",
    "\u0130 I\u0131 \xdf \u1e9e \u03a3\u03c3\u03c2 \u1f88\u1f80 \u01c4\u01c5\u01c6 \u10d0\u1c90 \uab70\u13a0 \U00010400\U00010428",
    "\ufdfa \ufb03 \u33c2 \u00bd \u2122 \u2469 \uff76\uff9e \u32ff \u1e9b\u0323 \u3000\u2003",
    "\u05e9\u05dc\u05d5\u05dd\u200f \u0645\u0631\u062d\u0628\u0627\u200e \u202eabc\u202c \u0640\u0640 \u064b\u0650",
    "<0x41><0x0A> <unk> <0xZZ> \u0120hello \u010a\u0109 \xc4\xa0 \xc3\xa9 \xc2\xa0",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa===============-------------------______________",
    "ab" * 60 + " " + "the" * 30,
    "<|endoftext|><|im_start|>user\nHi<|im_end|>\n<|endoftext",
]


def corpus() -> list[str]:
    """Returns texts to train on, in which words return."""
    source = random.Random(5)  # noqa: S311 - it can be repeated
    lines = [*SENTENCES * 2, *CODE.splitlines(keepends=True), *CODE.splitlines(keepends=True)]
    for sentence in SENTENCES:
        words = sentence.split(" ")
        for _ in range(3):
            start = source.randrange(len(words))
            lines.append(" ".join(words[start : start + source.randint(1, 6)]))
    return [*lines, CODE, "\n\n\n\n    \n        x\n" * 3]


def neighbourhoods(tokens: list[str]) -> Iterator[str]:
    """Yields texts with added tokens beside all that may change how they are found."""
    sides = [
        "",
        " ",
        "  ",
        "\n",
        "\t ",
        "x",
        "\xe9",
        "e\u0301",
        "\u0301",
        "\u2581",
        "1",
        "_",
        ".",
        "\u4e2d",
        "\xa0",
    ]
    for token in tokens:
        for side in sides:
            yield f"{side}{token}"
            yield f"{token}{side}"
            yield f"a{side}{token}{side}b"
            yield f"{side}{token}{side}{token}{side}"
        yield f"{token[:-1]}{token}{token[1:]}"
        yield f"{token[:-1]} {token[1:]} {token.upper()} {token.lower()}"
    for first in tokens[:6]:
        for second in tokens[:6]:
            yield f"{first}{second}"
            yield f"{first} {second} "
            yield f"x {first}  {second}\n{first}y"
            yield f"{first[: len(first) // 2 + 1]}{second}{first}"


def patchworks(seed: int, number: int, extra: list[str]) -> Iterator[str]:
    """Yields short random texts of fragments, words and further strings such as added tokens."""
    source = random.Random(seed)  # noqa: S311 - it can be repeated
    words = [word for sentence in SENTENCES for word in sentence.split(" ")]
    for _ in range(number):
        kind = source.randrange(4)
        if kind == 0:
            choice = [*source.choices(FRAGMENTS, k=6), " "]
        elif kind == 1:
            choice = [*source.choices(words, k=5), " ", "  ", "\n"]
        elif kind == 2:
            choice = source.choices([*FRAGMENTS, *"".join(source.choices(words, k=20))], k=30)
        else:
            choice = [*source.choices(extra or [" "], k=3), *source.choices(FRAGMENTS, k=4), " ", "a"]
        yield "".join(source.choices(choice, k=source.randint(1, 24)))
