"""The whole interface of tiktoken is here: every name, parameter and default; importing it is cheap."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
from collections.abc import Mapping
from importlib import resources
from types import ModuleType

import pytest
import tiktoken

import bytemill
from support.offline_tiktoken import NAMES
from support.subprocesses import run

MODULES = [
    "tiktoken",
    "tiktoken.core",
    "tiktoken.model",
    "tiktoken.registry",
    "tiktoken.load",
    "tiktoken._educational",
]

# Private names of tiktoken's modules that programs use.
USED_PRIVATE_NAMES = {"_find_constructors", "_available_plugin_modules", "_special_token_regex"}

# Names that tiktoken has and we do not, each with what to use instead.
NOT_OFFERED = {
    "_core_bpe.encode_to_tiktoken_buffer": "`encode_to_numpy`, whose array needs no second step",
}


def ours_of(module_name: str) -> ModuleType:
    return importlib.import_module(module_name.replace("tiktoken", "bytemill", 1))


def own_names(module: ModuleType) -> list[str]:
    """The names that a module defines, and not those that it only imports; all public ones of a package."""
    names = []
    for name, value in vars(module).items():
        if inspect.ismodule(value) or (name.startswith("_") and name not in USED_PRIVATE_NAMES):
            continue
        home = getattr(value, "__module__", module.__name__)
        if home == module.__name__ or (module is tiktoken and home.startswith("tiktoken.")):
            names.append(name)
    return names


OWN_NAMES = [(module, name) for module in MODULES for name in own_names(importlib.import_module(module))]


def test_the_walk_finds_what_is_known_to_be_there() -> None:
    assert {
        ("tiktoken", "Encoding"),
        ("tiktoken", "encoding_for_model"),
        ("tiktoken.core", "Encoding"),
        ("tiktoken.model", "MODEL_TO_ENCODING"),
        ("tiktoken.registry", "ENCODINGS"),
        ("tiktoken.registry", "_find_constructors"),
        ("tiktoken.load", "read_file_cached"),
        ("tiktoken._educational", "SimpleBytePairEncoding"),
    } <= set(OWN_NAMES)


@pytest.mark.parametrize(("module", "name"), OWN_NAMES)
def test_every_name_is_here(module: str, name: str) -> None:
    theirs = getattr(importlib.import_module(module), name)
    assert hasattr(ours_of(module), name)
    ours = getattr(ours_of(module), name)
    assert callable(ours) == callable(theirs)
    assert inspect.isclass(ours) == inspect.isclass(theirs)
    if not inspect.isclass(theirs) and callable(theirs):
        assert_same_parameters(ours, theirs)


def assert_same_parameters(ours: object, theirs: object) -> None:
    """Compares names, order, kinds and defaults; ours may have more keywords, if they need not be given."""
    assert callable(ours)
    assert callable(theirs)
    expected = inspect.signature(theirs).parameters
    parameters = inspect.signature(ours).parameters
    more = [parameter for name, parameter in parameters.items() if name not in expected]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in more)
    assert all(parameter.default is not parameter.empty for parameter in more)
    assert [name for name in parameters if name in expected] == list(expected)
    for name, parameter in expected.items():
        assert parameters[name].kind is parameter.kind, name
        # An immutable default may stand for a mutable one: `frozenset() == set()`.
        assert parameters[name].default == parameter.default, name


def members(kind: type) -> list[str]:
    return [name for name, value in vars(kind).items() if callable(value) or is_property(value)]


def is_property(value: object) -> bool:
    return isinstance(value, (property, functools.cached_property, staticmethod, classmethod))


@pytest.mark.parametrize("name", members(tiktoken.Encoding))
def test_every_method_has_the_same_parameters(name: str) -> None:
    theirs = inspect.getattr_static(tiktoken.Encoding, name)
    ours = inspect.getattr_static(bytemill.Encoding, name)
    assert is_property(ours) == is_property(theirs)
    if not is_property(theirs):
        if name.startswith("__") and name != "__init__":
            return  # Python calls these, with no names
        assert_same_parameters(ours, theirs)


def test_every_method_of_the_teaching_class_has_the_same_parameters() -> None:
    educational = importlib.import_module("tiktoken._educational")
    theirs, ours = educational.SimpleBytePairEncoding, ours_of("tiktoken._educational").SimpleBytePairEncoding
    for name in members(theirs):
        assert_same_parameters(getattr(ours, name), getattr(theirs, name))


def test_every_attribute_of_an_encoding(tiktoken_encodings: Mapping[str, tiktoken.Encoding]) -> None:
    ours, theirs = bytemill.get_encoding("gpt2"), tiktoken_encodings["gpt2"]
    for name in dir(theirs):
        assert hasattr(ours, name), name
        assert callable(getattr(ours, name)) == callable(getattr(theirs, name)), name


def test_every_attribute_of_the_core(tiktoken_encodings: Mapping[str, tiktoken.Encoding]) -> None:
    ours, theirs = bytemill.get_encoding("gpt2")._core_bpe, tiktoken_encodings["gpt2"]._core_bpe
    missing = {f"_core_bpe.{name}" for name in dir(theirs) if not hasattr(ours, name)}
    assert missing == set(NOT_OFFERED)


def test_all_is_what_the_package_offers() -> None:
    assert {
        "Encoding",
        "get_encoding",
        "list_encoding_names",
        "encoding_for_model",
        "encoding_name_for_model",
    } <= set(bytemill.__all__)
    for name in bytemill.__all__:
        assert hasattr(bytemill, name)


def test_the_version_is_that_of_the_distribution() -> None:
    assert bytemill.__version__ == importlib.metadata.version("bytemill")


def test_the_core_is_built_for_release() -> None:
    assert importlib.import_module("bytemill._core").BUILD_PROFILE == "release"


def test_the_package_is_typed() -> None:
    assert resources.files("bytemill").joinpath("py.typed").is_file()
    assert resources.files("bytemill").joinpath("_core.pyi").is_file()


# --- What importing costs, each in a process of its own -----------------------------------------------------


def test_importing_is_light() -> None:
    heavy = {
        "numpy",
        "regex",
        "tiktoken",
        "requests",
        "hypothesis",
        "socket",
        "ssl",
        "urllib.request",
        "asyncio",
    }
    printed = run("import sys, bytemill; print(*sys.modules)")
    assert "bytemill.core" in printed.split()
    assert not heavy & set(printed.split())


def test_using_a_builtin_encoding_is_light() -> None:
    printed = run(
        """
        import sys, bytemill
        encoding = bytemill.get_encoding("cl100k_base")
        assert encoding.decode(encoding.encode("hello world")) == "hello world"
        print(*sys.modules)
        """
    )
    assert not {"numpy", "regex", "tiktoken", "tiktoken_ext", "requests", "socket"} & set(printed.split())


def test_importing_is_quick() -> None:
    script = """
        import time
        start = time.process_time()
        import bytemill
        print(time.process_time() - start)
        """
    # A twentieth of that, measured.
    assert min(float(run(script)) for _ in range(3)) < 0.6


def test_submodules_are_reached_as_in_tiktoken() -> None:
    printed = run(
        """
        import bytemill as tiktoken
        print(tiktoken.core.Encoding is tiktoken.Encoding)
        print(tiktoken.registry.get_encoding is tiktoken.get_encoding)
        print(tiktoken.model.encoding_for_model is tiktoken.encoding_for_model)
        """
    )
    assert printed.split() == ["True"] * 3


def test_other_libraries_get_it_in_the_place_of_tiktoken() -> None:
    """As docs/guides/from-tiktoken.md does it: for libraries that import tiktoken themselves."""
    printed = run(
        """
        import sys, bytemill
        sys.modules["tiktoken"] = bytemill
        import tiktoken
        import tiktoken.core, tiktoken.load
        from tiktoken import Encoding, encoding_for_model
        from tiktoken.model import encoding_name_for_model
        from tiktoken.registry import get_encoding
        print(*encoding_for_model("gpt-4o").encode("hello world"), encoding_name_for_model("gpt-4"))
        print(Encoding is bytemill.Encoding, tiktoken.load.__file__ == bytemill.load.__file__)
        """
    )
    assert printed.split() == ["24912", "2375", "cl100k_base", "True", "True"]


def test_the_reference_does_without_the_compiled_core() -> None:
    folder = resources.files("bytemill")
    printed = run(
        f"""
        import sys, types
        # The package without its `__init__`, which imports the core.
        package = types.ModuleType("bytemill")
        package.__path__ = [{str(folder)!r}]
        sys.modules["bytemill"] = package
        sys.modules["bytemill._core"] = None  # importing it fails
        import bytemill.reference
        print(bytemill.reference.__name__, "bytemill.core" in sys.modules)
        """
    )
    assert printed.split() == ["bytemill.reference", "False"]


def test_no_builtin_encoding_opens_a_socket() -> None:
    printed = run(
        f"""
        import os, socket, urllib.request

        def refuse(*arguments, **keywords):
            raise AssertionError("a socket")

        socket.socket = socket.create_connection = socket.getaddrinfo = urllib.request.urlopen = refuse
        os.environ["TIKTOKEN_CACHE_DIR"] = os.environ["DATA_GYM_CACHE_DIR"] = "/nowhere"
        import bytemill
        for name in {NAMES!r}:
            encoding = bytemill.get_encoding(name)
            assert encoding.decode(encoding.encode("hello world")) == "hello world"
            print(encoding.name)
        print(*bytemill.list_encoding_names())
        """
    )
    assert printed.split() == [*NAMES, *NAMES]


def test_the_regular_expression_of_special_tokens() -> None:
    tokens = frozenset({"<|a|>", "b"})
    ours, theirs = (
        module._special_token_regex(tokens) for module in (ours_of("tiktoken.core"), tiktoken.core)
    )
    assert type(ours) is type(theirs)
    assert ours.findall("b<|a|>c") == theirs.findall("b<|a|>c") == ["b", "<|a|>"]
