"""Which encoding each model uses.

Both tables may be read and changed. A model in neither of them raises `KeyError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bytemill._arguments import check_type
from bytemill._messages import alternatives, closest
from bytemill.builtin import BUILTIN_ENCODINGS, MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING, family_encoding
from bytemill.registry import get_encoding

if TYPE_CHECKING:
    from bytemill.core import Encoding

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_for_model", "encoding_name_for_model"]


def encoding_name_for_model(model_name: str) -> str:
    """Returns the name of the encoding that a model uses.

    Args:
        model_name: The name of a model, such as "gpt-4o" or "gpt-4o-2024-05-13". Full names are looked up
            first, then prefixes, so a model that does not exist may be found by the prefix of its family.

    Raises:
        KeyError: The model is not known.
        TypeError: It is not a string.
    """
    check_type("model_name", model_name, str)
    name = MODEL_TO_ENCODING.get(model_name)
    if name is not None:
        return name
    family_name = family_encoding(model_name)
    if family_name is not None:
        return family_name
    raise KeyError(
        f"Could not automatically map {model_name} to a tokeniser. "
        "Please use `tiktoken.get_encoding` to explicitly get the tokeniser you expect."
        f"{hint(model_name)}"
    )


def hint(name: str) -> str:
    """Returns a hint for the message about an unknown model.

    It is on the same line, since a `KeyError` shows the `repr` of its message.
    """
    if name in BUILTIN_ENCODINGS:
        return f" {name!r} is an encoding: use get_encoding({name!r})."
    near = closest_models(name)
    return f" Did you mean {alternatives(map(repr, near))}?" if near else ""


def closest_models(name: str) -> list[str]:
    """Returns the names of models that are like an unknown one, with or without the name of a provider."""
    lower = name.strip().lower().rpartition("/")[2]
    if lower in MODEL_TO_ENCODING or family_encoding(lower) is not None:
        return [lower]
    return closest(name, MODEL_TO_ENCODING)


def encoding_for_model(model_name: str) -> Encoding:
    """Returns the encoding that a model uses; same arguments and errors as `encoding_name_for_model`."""
    return get_encoding(encoding_name_for_model(model_name))
