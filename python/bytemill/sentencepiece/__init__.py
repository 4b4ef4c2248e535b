"""The API of the Python package sentencepiece, version 0.2.3, for BPE models.

    >>> import bytemill.sentencepiece as spm
    >>> import io
    >>> model = io.BytesIO()
    >>> spm.SentencePieceTrainer.train(
    ...     sentence_iterator=iter(["low lower lowest", "slow slower"]), model_writer=model,
    ...     model_type="bpe", vocab_size=20,
    ... )
    >>> sp = spm.SentencePieceProcessor(model_proto=model.getvalue())
    >>> sp.encode("lower", out_type=str)
    ['▁', 'lower']
    >>> sp.decode(sp.encode("lower"))
    'lower'

| module | responsibility |
|---|---|
| `processor` | the class that encodes and decodes; its constructor |
| `encoding`, `decoding`, `vocabulary` | its methods |
| `normalizer` | normalizing without a vocabulary |
| `trainer`, `options` | training, and its options |
| `engine` | a loaded model: text to IDs and parts, and back |
| `messages` | the forms in which parts are returned |
| `loading`, `arguments`, `threads` | files, checks of arguments, functions of the module |
"""

from bytemill.sentencepiece.arguments import (
    ThreadPool,
    convert_to_flatbuffer,
    set_data_dir,
    set_min_log_level,
    set_nbest_timeout,
    set_random_generator_seed,
)
from bytemill.sentencepiece.normalizer import SentencePieceNormalizer
from bytemill.sentencepiece.processor import SentencePieceProcessor
from bytemill.sentencepiece.trainer import SentencePieceTrainer

# The version of SentencePiece whose names and results these are.
__version__ = "0.2.3"

ConvertToFlatbuffer = convert_to_flatbuffer
SetDataDir = set_data_dir
SetMinLogLevel = set_min_log_level
SetNBestTimeout = set_nbest_timeout
SetRandomGeneratorSeed = set_random_generator_seed

__all__ = [
    "ConvertToFlatbuffer",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceTrainer",
    "SetDataDir",
    "SetMinLogLevel",
    "SetNBestTimeout",
    "SetRandomGeneratorSeed",
    "ThreadPool",
    "convert_to_flatbuffer",
    "set_data_dir",
    "set_min_log_level",
    "set_nbest_timeout",
    "set_random_generator_seed",
]
