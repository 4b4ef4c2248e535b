"""`SentencePieceNormalizer`: normalizes without a vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bytemill._backend import (
    Normalizer,
    charsmap_rules,
    charsmap_with_name,
    compile_charsmap,
    compile_charsmap_tsv,
    read_normalizer_spec,
    write_normalizer_spec,
)
from bytemill.sentencepiece.arguments import model_bytes, path_of, read_file
from bytemill.sentencepiece.processor import normalized

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

__all__ = ["SentencePieceNormalizer", "named_rules", "rules_of_file"]


class SentencePieceNormalizer:
    """Normalizes texts as a model does before it encodes them, or by rules."""

    def __init__(
        self,
        model_file: str | bytes | os.PathLike[str] | None = None,
        model_proto: Any = None,
        normalizer_spec: Any = None,
        rule_tsv: str | bytes | os.PathLike[str] | None = None,
        rule_name: str | None = None,
        norm_map: Sequence[tuple[str, str]] | None = None,
        add_dummy_prefix: bool | None = None,
        escape_whitespaces: bool | None = None,
        remove_extra_whitespaces: bool | None = None,
    ) -> None:
        """Takes the normalizer of a model, or rules. If several arguments are given, the first is used.

        Args:
            model_file: The path of a model file, of any type of model.
            model_proto: The bytes of a model file, or a message that has them.
            normalizer_spec: The bytes of a message `NormalizerSpec`, or the message.
            rule_tsv: The path of a file of rules.
            rule_name: `"identity"`, `"nfkc"`, `"nmt_nfkc"`, `"nfkc_cf"` or `"nmt_nfkc_cf"`.
            norm_map: Pairs of a string and its replacement.
            add_dummy_prefix: Whether to put a space before a text; by default same as in the model, and true
                for rules.
            escape_whitespaces: Whether spaces become U+2581; the default is as above.
            remove_extra_whitespaces: Whether spaces are removed at the ends and after spaces; likewise.

        Raises:
            ValueError: Nothing is given, or a pair in `norm_map` is invalid.
            RuntimeError: The argument cannot be read.
        """
        if model_file:
            spec = checked_spec(read_file(model_file), in_model=True)
        elif model_proto:
            spec = checked_spec(model_bytes(model_proto), in_model=True)
        elif normalizer_spec:
            spec = checked_spec(model_bytes(normalizer_spec), in_model=False)
        elif rule_tsv:
            spec = rules_of_file(rule_tsv)
        elif rule_name:
            spec = named_rules(rule_name)
        elif norm_map:
            spec = {"precompiled_charsmap": compiled(norm_map)}
        else:
            raise ValueError("no model is specified")
        flags = {
            "add_dummy_prefix": add_dummy_prefix,
            "escape_whitespaces": escape_whitespaces,
            "remove_extra_whitespaces": remove_extra_whitespaces,
        }
        self._take({**spec, **{name: bool(flag) for name, flag in flags.items() if flag is not None}})

    def _take(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        try:
            self._normalizer = Normalizer(
                spec.get("precompiled_charsmap", b""),
                add_dummy_prefix=spec.get("add_dummy_prefix", True),
                remove_extra_whitespaces=spec.get("remove_extra_whitespaces", True),
                escape_whitespaces=spec.get("escape_whitespaces", True),
            )
        except ValueError as error:
            raise RuntimeError(f"INTERNAL: {error}") from error

    @property
    def spec(self) -> dict[str, Any]:
        """The options of the message `NormalizerSpec` that are set."""
        return dict(self._spec)

    def normalize(self, input: Any, with_offsets: bool | None = None) -> Any:
        """Normalizes a text, or each of a list of texts.

        Args:
            input: A text as `str` or `bytes`, or a list of texts.
            with_offsets: Whether to return the offset in the text of each character, or byte, as well.
        """
        return normalized(self._normalizer, input, with_offsets=bool(with_offsets))

    def decompile(self) -> list[tuple[str, str]]:
        """Returns the map of characters: each string and its replacement."""
        charsmap = self._spec.get("precompiled_charsmap", b"")
        return charsmap_rules(charsmap) if charsmap else []

    def serialized_normalizer_spec(self) -> bytes:
        """Returns the bytes of a message `NormalizerSpec`."""
        return write_normalizer_spec(self._spec, in_model=False)

    def serialized_model_proto(self) -> bytes:
        """Returns the bytes of a model that has nothing but the normalizer."""
        return write_normalizer_spec(self._spec, in_model=True)

    def __getstate__(self) -> bytes:
        """Returns the bytes of a model that has nothing but the normalizer."""
        return self.serialized_model_proto()

    def __setstate__(self, state: bytes) -> None:
        """Takes the bytes of a model."""
        self._take(checked_spec(state, in_model=True))

    Normalize = normalize
    Decompile = decompile


def checked_spec(data: bytes, *, in_model: bool) -> dict[str, Any]:
    """Returns the options that are set; `RuntimeError` if there are none to be read."""
    try:
        return read_normalizer_spec(data, in_model=in_model)
    except ValueError as error:
        raise RuntimeError(f"INTERNAL: {error}") from error


def compiled(rules: Sequence[tuple[str, str]]) -> bytes:
    """Returns the map of characters of rules.

    Raises:
        TypeError: The rules are not pairs of strings.
        ValueError: A rule is invalid.
    """
    try:
        pairs = [(key, value) for key, value in rules if isinstance(key, str) and isinstance(value, str)]
    except (TypeError, ValueError):
        pairs = []
    if len(pairs) != len(rules) or any(isinstance(rule, str) for rule in rules):
        raise TypeError(f"expected norm_map as pairs of strings, not {rules!r:.40}")
    try:
        return compile_charsmap(pairs)
    except ValueError as error:
        raise ValueError(f"INVALID_ARGUMENT: {error}") from error


def named_rules(name: str) -> dict[str, Any]:
    """Returns the options of rules with a name; `RuntimeError` if there is no such name."""
    charsmap = charsmap_with_name(name)
    if charsmap is None:
        raise RuntimeError(
            f"NOT_FOUND: No precompiled charsmap is found: {name}; expected identity, nfkc, nmt_nfkc, "
            "nfkc_cf or nmt_nfkc_cf"
        )
    return {"name": name, "precompiled_charsmap": charsmap}


def rules_of_file(path: str | bytes | os.PathLike[str]) -> dict[str, Any]:
    """Returns the options of rules in a file; `RuntimeError` if it cannot be read."""
    try:
        charsmap = compile_charsmap_tsv(read_file(path).decode())
    except ValueError as error:
        raise RuntimeError(f"INTERNAL: {path_of(path)}: {error}") from error
    return {
        "name": "user_defined",
        "precompiled_charsmap": charsmap,
        "normalization_rule_tsv": path_of(path),
    }
