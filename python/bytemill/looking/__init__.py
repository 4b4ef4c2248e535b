"""Looking at encodings: a text as its tokens, a vocabulary in figures, encodings side by side.

    >>> import bytemill
    >>> from bytemill import looking
    >>> encoding = bytemill.get_encoding("o200k_base")
    >>> print(looking.show(encoding, "hello world"))
    o200k_base: 2 tokens, 11 characters, 11 bytes, 5.50 bytes per token
    hello │ ·world
    24912 │ 2375

The last line of a notebook's cell may be `looking.show(encoding, text)`: it shows itself. `show_merges`
shows how tokens come about, `report` what a vocabulary holds, `report_token` what one token is, and `compare`
how many bytes a token of several encodings stands for.
"""

from bytemill.looking.comparison import Comparison, compare
from bytemill.looking.merging import MergeView, show_merges
from bytemill.looking.report import VocabularyReport, report
from bytemill.looking.token_report import TokenReport, report_token
from bytemill.looking.view import TokenView, show

__all__ = [
    "Comparison",
    "MergeView",
    "TokenReport",
    "TokenView",
    "VocabularyReport",
    "compare",
    "report",
    "report_token",
    "show",
    "show_merges",
]
