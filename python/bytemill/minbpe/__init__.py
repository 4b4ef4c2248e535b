"""minbpe's tokenizers, compiled: the modules, classes, functions and files of the teaching project.

    >>> from bytemill.minbpe import BasicTokenizer
    >>> tokenizer = BasicTokenizer()
    >>> tokenizer.train("aaabdaaabac", 256 + 3)
    >>> tokenizer.encode("aaabdaaabac")
    [258, 100, 258, 97, 99]

Tokens 0 to 255 are the bytes, and merge i makes token 256 + i. If several pairs are equally frequent, the one
that occurs first in the current text is merged.

bytemill reads minbpe's files, and minbpe reads files written by bytemill. Programs for minbpe only change the
import: the modules `base`, `basic`, `regex` and `gpt4` exist here too.
"""

from __future__ import annotations

from bytemill.minbpe.base import Tokenizer
from bytemill.minbpe.basic import BasicTokenizer
from bytemill.minbpe.gpt4 import GPT4Tokenizer
from bytemill.minbpe.regex import RegexTokenizer

__all__ = ["BasicTokenizer", "GPT4Tokenizer", "RegexTokenizer", "Tokenizer"]
