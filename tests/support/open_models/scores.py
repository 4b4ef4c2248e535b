"""Models whose tokens have scores, Unigram: the components of their files."""

from __future__ import annotations

import base64
import functools
import io
import math
from collections import Counter
from typing import Any

import sentencepiece

from bytemill._backend import SentencePieceModel
from support.open_models.components import MARKS_DECODER, Row, added, template
from support.open_models.speech import corpus
from support.open_models.vocabularies import MARK, Model

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
AROUND_XLMR = template("<s>", after=("</s>",))

# Words of the vocabulary, the most frequent, and the most characters of the ends of words.
WORDS = 400
END = 3


@functools.cache
def charsmap() -> str:
    """Returns the map of characters that most models have, as in a file."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a"]),
        model_writer=written,
        vocab_size=5,
        hard_vocab_limit=False,
        model_type="char",
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
    )
    charsmap: bytes = SentencePieceModel(written.getvalue()).normalizer_spec["precompiled_charsmap"]
    return base64.b64encode(charsmap).decode()


@functools.cache
def scored(
    first: tuple[str, ...], unknown: int, *, byte_fallback: bool = False, lower: bool = False
) -> Model:
    """Returns a model with tokens at the first ids: words, their ends, and most characters."""
    texts = [text.lower() if lower else text for text in corpus()]
    counts = Counter(MARK + word for text in texts for word in text.split())
    words = sorted(counts, key=lambda word: (-counts[word], word))
    letters = Counter(letter for text in texts for letter in text if not letter.isspace())
    # What is left out is unknown.
    known = [letter for number, letter in enumerate(sorted(letters)) if number % 7]
    ends = Counter(
        {word[-size:]: counts[word] for word in words for size in range(2, END + 1) if len(word) > size}
    )
    tokens = letters | ends | counts
    listed = dict.fromkeys([*first, MARK, *known, *ends, *words[:WORDS], "--", "---", "00", "000"])
    vocab = [[token, 0.0 if token in first else -14 + math.log(1 + tokens[token])] for token in listed]
    if byte_fallback:
        vocab += [[f"<0x{byte:02X}>", -20.0] for byte in range(256)]
    return {"type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": byte_fallback}


def replace(regex: str, content: str) -> dict[str, Any]:
    """Returns a step of a normalizer that replaces what a regular expression finds."""
    return {"type": "Replace", "pattern": {"Regex": regex}, "content": content}


def quotes(string: str) -> dict[str, Any]:
    """Returns the step that makes a quotation mark of two characters."""
    return {"type": "Replace", "pattern": {"String": string}, "content": '"'}


def steps(*normalizers: dict[str, Any]) -> dict[str, Any]:
    """Returns the sequence of normalizers."""
    return {"type": "Sequence", "normalizers": list(normalizers)}


def metaspace(scheme: str = "always", *, split: bool = True) -> dict[str, Any]:
    """Returns the component that puts marks in front of words."""
    return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split}


BY_WORDS = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace()]}
DECODER = metaspace()
PRECOMPILED = {"type": "Precompiled", "precompiled_charsmap": charsmap()}
# The start of a text, in a syntax in which `^` is that of a line.
START = r"(?<!\n)^"
ONE_SPACE = replace(" {2,}", " ")
LOWERCASE = {"type": "Lowercase"}
STRIP_END = {"type": "Strip", "strip_left": False, "strip_right": True}


def score_row(  # noqa: PLR0913 - those of a file
    models: str,
    normalizer: Any,
    chain: Any,
    first: tuple[str, ...] = SPECIAL,
    unknown: int = 3,
    *,
    byte_fallback: bool = False,
    lower: bool = False,
    **options: Any,
) -> Row:
    """Returns a row of a model with scores."""
    options["tokens"] = tuple(options.get("tokens", added(*first)))
    usual: dict[str, Any] = {"post_processor": AROUND_XLMR, "decoder": DECODER}
    return Row(
        models,
        chain,
        lambda _chain, _normalizer: scored(first, unknown, byte_fallback=byte_fallback, lower=lower),
        normalizer=normalizer,
        **(usual | options),
    )


SCORE_MODELS: dict[str, Row] = {
    "xlm-roberta": score_row(
        "XLM-R, multilingual E5 base and large, paraphrase-multilingual, Jina v3",
        PRECOMPILED,
        BY_WORDS,
        tokens=(*added(*SPECIAL), *added("<mask>", lstrip=True)),
    ),
    "bge-m3": score_row(
        "BGE-M3, multilingual E5 small, arctic-embed-l v2",
        steps(PRECOMPILED, ONE_SPACE),
        metaspace(),
        tokens=(*added(*SPECIAL), *added("<mask>", lstrip=True)),
    ),
    "bge-reranker": score_row(
        "BGE reranker large",
        steps(PRECOMPILED, ONE_SPACE),
        metaspace(),
        tokens=(*added(*SPECIAL), *added("<mask>", lstrip=True, normalized=True)),
    ),
    "t5": score_row(
        "T5, FLAN, UL2, mT5",
        PRECOMPILED,
        BY_WORDS,
        ("<pad>", "</s>", "<unk>"),
        2,
        tokens=(
            *added("<pad>", "</s>", "<unk>"),
            *added("<extra_id_1>", "<extra_id_0>", lstrip=True, rstrip=True),
        ),
        post_processor=template(after=("</s>",)),
    ),
    "deberta-v3": score_row(
        "DeBERTa v2 and v3, mxbai-rerank",
        steps({"type": "Strip", "strip_left": True, "strip_right": True}, PRECOMPILED, ONE_SPACE),
        metaspace(),
        ("[PAD]", "[CLS]", "[SEP]", "[UNK]"),
        tokens=(*added("[PAD]", "[CLS]", "[SEP]"), *added("[UNK]", normalized=True), *added("[MASK]")),
        post_processor=template("[CLS]", after=("[SEP]",)),
    ),
    "albert": score_row(
        "ALBERT, XLNet",
        steps(quotes("``"), quotes("''"), {"type": "NFKD"}, {"type": "StripAccents"}, LOWERCASE, PRECOMPILED),
        BY_WORDS,
        ("<pad>", "<unk>", "[CLS]", "[SEP]"),
        1,
        lower=True,
        post_processor=template("[CLS]", after=("[SEP]",)),
        options=(("type", "absent"),),
    ),
    "camembert": score_row(
        "CamemBERT, BigBird, XGLM, Barthez",
        steps(PRECOMPILED, STRIP_END, replace(" {2,}", MARK)),
        metaspace(),
        ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>"),
        tokens=added("<s>", "</s>", "<pad>", "<unk>"),
    ),
    "mbart": score_row("mBART", None, metaspace()),
    "ruri": score_row(
        "ruri v3",
        None,
        metaspace("never", split=False),
        ("<unk>", "<s>", "</s>"),
        0,
        byte_fallback=True,
        decoder=MARKS_DECODER,
    ),
    "llm-jp": score_row(
        "llm-jp 3 and 4",
        steps(replace(START, MARK), replace(" ", MARK)),
        None,
        ("<unk>", "<s>", "</s>"),
        0,
        byte_fallback=True,
        decoder=MARKS_DECODER | {"decoders": [*MARKS_DECODER["decoders"][:3], replace(f"{START} ", "")]},
    ),
}
