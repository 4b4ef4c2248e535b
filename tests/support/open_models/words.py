"""Models of words and their parts, as BERT: the components of their files."""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import Any

from tokenizers import Tokenizer

from support.open_models.components import Row, added, roberta, template
from support.open_models.speech import corpus
from support.open_models.vocabularies import Model

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MPNET_TOKENS = ("<s>", "<pad>", "</s>", "[UNK]", "<unk>", "<mask>")
CHAIN = {"type": "BertPreTokenizer"}
DECODER = {"type": "WordPiece", "prefix": "##", "cleanup": True}
AROUND = template("[CLS]", after=("[SEP]",))

# Words of the vocabulary, the most frequent, and the most characters of the ends of words.
WORDS = 400
END = 3


def normalizer(*, lowercase: bool) -> dict[str, Any]:
    """Returns BERT's normalizer."""
    options = {
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": lowercase,
    }
    return {"type": "BertNormalizer", **options}


UNCASED, CASED = normalizer(lowercase=True), normalizer(lowercase=False)


@functools.cache
def counted(component: str) -> dict[str, int]:
    """Returns how often each word occurs in the corpus, by a normalizer that is given as in a file."""
    contents = {"version": "1.0", "normalizer": json.loads(component), "pre_tokenizer": CHAIN}
    model = {"type": "WordLevel", "unk_token": "", "vocab": {"": 0}}
    tokenizer = Tokenizer.from_str(json.dumps(contents | {"added_tokens": [], "model": model}))
    chain, splitter = tokenizer.normalizer, tokenizer.pre_tokenizer
    assert chain is not None
    assert splitter is not None
    texts = (chain.normalize_str(text) for text in corpus())
    return Counter(word for text in texts for word, _ in splitter.pre_tokenize_str(text))


def pieces(first: tuple[str, ...], component: Any, *, kind: str = "WordPiece") -> Model:
    """Returns a model with tokens at the first ids: words, their ends, and most characters."""
    counts = counted(json.dumps(component))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    letters = sorted({letter for word in words for letter in word})
    # What is left out is unknown.
    known = [letter for number, letter in enumerate(letters) if number % 7]
    sizes = range(2, END + 1)
    ends = sorted({word[-size:] for word in words[: 2 * WORDS] for size in sizes if len(word) > size})
    parts = [f"##{part}" for part in (*known, *ends)]
    tokens = [*first, *known, *parts, *words[:WORDS]]
    model = {
        "type": kind,
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {token: number for number, token in enumerate(dict.fromkeys(tokens))},
    }
    if kind == "WordLevel":
        del model["continuing_subword_prefix"], model["max_input_chars_per_word"]
    return model


def word_row(models: str, first: tuple[str, ...] = BERT_TOKENS, **options: Any) -> Row:
    """Returns a row of a model of words and their parts."""
    options["tokens"] = tuple(options.get("tokens", added(*first)))
    chain = options.pop("chain", CHAIN)
    usual: dict[str, Any] = {"normalizer": UNCASED, "post_processor": AROUND, "decoder": DECODER}
    return Row(models, chain, lambda _chain, component: pieces(first, component), **(usual | options))


WORD_MODELS: dict[str, Row] = {
    "bert-uncased": word_row(
        "BERT uncased, DistilBERT, ELECTRA, ColBERT, BGE, E5, GTE, nomic-embed, mxbai-embed, arctic-embed"
    ),
    "minilm": word_row(
        "all-MiniLM-L6 and L12, ms-marco-MiniLM",
        top=(
            (
                "truncation",
                {"direction": "Right", "max_length": 128, "strategy": "LongestFirst", "stride": 0},
            ),
            (
                "padding",
                {
                    "strategy": {"Fixed": 128},
                    "direction": "Right",
                    "pad_to_multiple_of": None,
                    "pad_id": 0,
                    "pad_type_id": 0,
                    "pad_token": "[PAD]",
                },
            ),
        ),
    ),
    "bert-cased": word_row("BERT cased and multilingual, BGE zh, distiluse", normalizer=CASED),
    "bert-old": word_row("files of 2019 without a type", options=(("type", "absent"),)),
    "mpnet": word_row(
        "all-mpnet-base, multi-qa-mpnet, paraphrase-mpnet",
        MPNET_TOKENS,
        tokens=(
            *added("<s>", "<pad>", "</s>", "[UNK]"),
            *added("<unk>", normalized=True),
            *added("<mask>", lstrip=True),
        ),
        post_processor=roberta("<s>", "</s>"),
    ),
    "labse": word_row("LaBSE", normalizer=CASED, tokens=(), post_processor=None),
    "word-level": Row(
        "surya-ocr-2, models of molecules and graphs",
        {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False},
        lambda _chain, _normalizer: pieces(BERT_TOKENS, UNCASED, kind="WordLevel"),
        tokens=tuple(added(*BERT_TOKENS)),
        decoder={"type": "Fuse"},
    ),
}
