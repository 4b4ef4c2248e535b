"""Inspect encodings: the tokens of a text, statistics of a vocabulary, encodings side by side.

    >>> import bytemill
    >>> from bytemill import inspection
    >>> encoding = bytemill.get_encoding("o200k_base")
    >>> print(inspection.show(encoding, "hello world"))
    o200k_base: 2 tokens, 11 characters, 11 bytes, 5.50 bytes per token
    hello │ ·world
    24912 │ 2375

In a notebook, `inspection.show(encoding, text)` as the last line of a cell renders as HTML. `show_both` shows
the tokens of a text by two encodings, `show_merges` lists its merge steps, `show_training` how merges are
learned, `report` describes a vocabulary, `report_token` a single token,
`list_tokens` lists tokens by id, `lint` looks for faults of a tokenizer file, and `compare` measures bytes
per token for several encodings.
"""

from bytemill.inspection.comparison import Comparison, compare
from bytemill.inspection.lint import Finding, lint
from bytemill.inspection.token_report import TokenList, TokenReport, list_tokens, report_token
from bytemill.inspection.token_view import PairView, TokenView, show, show_both
from bytemill.inspection.traces import MergeView, TrainingView, show_merges, show_training
from bytemill.inspection.vocabulary_report import VocabularyReport, report

__all__ = [
    "Comparison",
    "Finding",
    "MergeView",
    "PairView",
    "TokenList",
    "TokenReport",
    "TokenView",
    "TrainingView",
    "VocabularyReport",
    "compare",
    "lint",
    "list_tokens",
    "report",
    "report_token",
    "show",
    "show_both",
    "show_merges",
    "show_training",
]


def __dir__() -> list[str]:
    """Returns the public names."""
    return __all__
