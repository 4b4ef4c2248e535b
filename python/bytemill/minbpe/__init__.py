"""minbpe's tokenizers on the fast core: modules, classes, functions and files of the teaching project.

    >>> from bytemill.minbpe import BasicTokenizer
    >>> tokenizer = BasicTokenizer()
    >>> tokenizer.train("aaabdaaabac", 256 + 3)
    >>> tokenizer.encode("aaabdaaabac")
    [258, 100, 258, 97, 99]

Tokens 0 to 255 are the bytes, and merge i makes token 256 + i. Of the pairs that occur equally often, the one
whose first occurrence in the current text comes first is merged.

minbpe's files can be loaded here, and the files that are written here can be loaded there. Programs that were
written for minbpe need only another import: its modules `base`, `basic`, `regex` and `gpt4` are here, too.
"""

from __future__ import annotations

from bytemill.minbpe.base import Tokenizer
from bytemill.minbpe.basic import BasicTokenizer
from bytemill.minbpe.gpt4 import GPT4Tokenizer
from bytemill.minbpe.regex import RegexTokenizer

__all__ = ["BasicTokenizer", "GPT4Tokenizer", "RegexTokenizer", "Tokenizer"]
