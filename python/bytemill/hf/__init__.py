"""The interfaces of Hugging Face's `tokenizers` and `transformers`, for byte pair encodings.

    >>> tokenizer = bytemill.hf.accelerate(tokenizer)  # one of transformers: the same object, faster

`Tokenizer` is a `tokenizers.Tokenizer`, `DecodeStream` a `tokenizers.decoders.DecodeStream`.
"""

from bytemill.hf.accelerated import accelerate, restore
from bytemill.hf.added import AddedToken
from bytemill.hf.encoded import Encoded
from bytemill.hf.streaming import DecodeStream
from bytemill.hf.tokenizer import Tokenizer

__all__ = ["AddedToken", "DecodeStream", "Encoded", "Tokenizer", "accelerate", "restore"]
