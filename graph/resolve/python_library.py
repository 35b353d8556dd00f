"""What Python's built-ins and standard library offer: names whose meaning lies outside every repository."""

from __future__ import annotations

import json
from importlib import resources

_NAMES: dict[str, list[str]] = json.loads(
    resources.files(__package__).joinpath("python_names.json").read_text(encoding="utf-8")
)
BUILTINS = frozenset(_NAMES["builtins"])  # of Python 2 and 3
LIBRARY_METHODS = frozenset(_NAMES["methods"])  # of the classes of the standard library
SELF_ENTERING = frozenset(_NAMES["self_entering"])  # its classes whose `__enter__` or `__aenter__` gives the instance

# Library functions whose result comes from their arguments, and how.
PASS_THROUGH = {
    "iter": "same",
    "aiter": "same",
    "reversed": "items",
    "sorted": "items",
    "list": "items",
    "set": "items",
    "frozenset": "items",
    "tuple": "items",
    "deque": "items",
    "next": "next",
    "anext": "next",
    "min": "next",
    "max": "next",
    "enumerate": "enumerate",
    "zip": "zip",
    "map": "map",
    "filter": "filter",
    "getattr": "attribute",
    "type": "class",
    "cast": "cast",
    "partial": "same",
    "partialmethod": "same",
    "copy": "same",
    "deepcopy": "same",
    "ensure_future": "same",
    "create_task": "same",
    "wait_for": "same",
    "shield": "same",
    "run": "same",
    "sync_to_async": "same",
    "async_to_sync": "same",
    "staticmethod": "same",
    "classmethod": "same",
    "lru_cache": "same",
    "cache": "same",
    "update_wrapper": "same",
    "ref": "same",
    "proxy": "same",
    "closing": "context",
    "aclosing": "context",
    "nullcontext": "context",
}

# Methods of a stack of contexts that enter what they are given.
ENTERING = frozenset({"enter_context", "enter_async_context"})

# Built-ins that call what they are given: any argument, or only `key=`.
CALLERS = {"map": "any", "filter": "any", "reduce": "any", "sorted": "key", "sort": "key", "min": "key", "max": "key"}

# Classes whose instances are filled by statements after they were made.
CONTAINERS = {
    "list": "items",
    "set": "items",
    "deque": "items",
    "dict": "mapping",
    "OrderedDict": "mapping",
    "defaultdict": "mapping",
    "WeakValueDictionary": "mapping",
    "WeakSet": "items",
}

# Methods that put their last argument, or all that it contains, into their container.
ADDERS = {"append": "one", "appendleft": "one", "add": "one", "insert": "one", "extend": "all", "setdefault": "one"}
# Functions and methods that give the same items again.
COPIES = frozenset({"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "copy", "values"})

# Annotations that say nothing about which method runs.
TRANSPARENT_TYPES = frozenset(
    {
        "Any",
        "object",
        "AnyStr",
        "Callable",
        "Incomplete",
        "NoReturn",
        "Never",
        "Unpack",
        "TypeAlias",
        "Final",
        "ClassVar",
    }
)
# Container types whose items are whatever the code puts in: the type alone says nothing of them.
HOLDERS = frozenset(
    {
        "list",
        "dict",
        "set",
        "frozenset",
        "tuple",
        "deque",
        "defaultdict",
        "ordereddict",
        "iterable",
        "iterator",
        "generator",
        "collection",
        "sequence",
        "mutablesequence",
        "mapping",
        "mutablemapping",
        "mappingproxytype",
        "weakvaluedictionary",
        "weakset",
        "asyncgenerator",
        "asynciterator",
        "asynciterable",
        "queue",
    }
)
