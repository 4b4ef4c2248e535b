"""The APIs of Hugging Face's `tokenizers` and `transformers`.

    >>> tokenizer = bytemill.hf.accelerate(tokenizer)  # of transformers: the same object, now faster

`Tokenizer` has the API of `tokenizers.Tokenizer`, `DecodeStream` that of `tokenizers.decoders.DecodeStream`.
"""

from bytemill.hf.accelerated import accelerate, is_accelerated, restore
from bytemill.hf.added import AddedToken
from bytemill.hf.encoded import Encoded
from bytemill.hf.tokenizer import DecodeStream, Tokenizer

__all__ = ["AddedToken", "DecodeStream", "Encoded", "Tokenizer", "accelerate", "is_accelerated", "restore"]


def __dir__() -> list[str]:
    """Returns the public names."""
    return __all__
