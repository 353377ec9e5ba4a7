"""Small stand-ins for the modules that declare records and types, so the hook reads a command with the code of the full program.

Importing `typing`, `dataclasses` and `msgspec` takes longer than reading a command. The hook's own process needs none of
what they check: it makes records, compares them and reads their fields. `install` puts the stand-ins in place of modules that are
not imported yet, and loads the parser of shell commands without its package in Python. Only the script of the hook calls it, in a process
that ends after one answer. What a stand-in cannot do raises an error, and the script then asks the full program.
"""

from __future__ import annotations

import os
import sys

from orgkernel.project.hooks.engine import json_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_ABSENT = object()
_PACKAGES = (
    "decisions", "decisions.ownership", "decisions.work", "decisions.work.contracts", "diagnostics", "project.git", "runtime", "shell"
)  # fmt: skip
"""Packages that are used without their first module, because it imports more than a hook needs, or nothing."""


def install(package: str) -> None:
    """Put the stand-ins in place. `package` is the folder of orgkernel. Raises ImportError if there is no parser."""
    if isinstance(sys.meta_path[0], _ModuleFinder):
        return
    install_records(package)
    parser = _load_extension("tree_sitter._binding", package)
    names = ("Language", "Node", "Parser", "Tree")
    _add("tree_sitter", {name: getattr(parser, name) for name in names})
    grammar = _load_extension("tree_sitter_bash._binding", package)
    _add("tree_sitter_bash", {"language": grammar.language})


def install_records(package: str) -> None:
    """Put the stand-ins in place, without the parser of shell commands."""
    _add("typing", {name: _Special() for name in ("Any", "AnyStr", "Final", "Literal")}).__dict__.update(
        NamedTuple=NamedTuple, Protocol=object, TYPE_CHECKING=False, cast=lambda _, value: value
    )
    _add("dataclasses", {"dataclass": dataclass, "field": _Factory})
    _add("msgspec", {"Struct": Struct, "structs": _add("msgspec.structs", {"replace": replace})})
    _add("importlib", {"import_module": lambda name: __import__(name, fromlist=("",))})
    _add("json", {"loads": _parse_json, "dumps": json_reader.quote})
    for name in _PACKAGES:
        _add(f"orgkernel.{name}", {"__path__": [os.path.join(package, *name.split("."))]})
    sys.meta_path.insert(0, _ModuleFinder(package))


def _add(name: str, members: dict[str, Any]) -> ModuleType:
    module = sys.modules.get(name)
    if module is None:
        module = sys.modules[name] = type(sys)(name)
        module.__dict__.update(members)
    return module


def _parse_json(text: str | bytes) -> Any:
    """What `json.loads` returns. Raises LookupError for what the reader here could read in another way."""
    content = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if not content.isascii() or b"NaN" in content or b"Infinity" in content:
        raise LookupError("this JSON is not read here")
    return json_reader.parse(content)


def _load_extension(name: str, package: str) -> ModuleType:
    """A module in C, from the folder of the installed packages: the one that contains orgkernel, or the one of
    the running Python.
    """
    from _frozen_importlib import ModuleSpec
    from _frozen_importlib_external import ExtensionFileLoader
    from _imp import extension_suffixes

    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = (
        os.path.dirname(package),
        os.path.join(os.path.dirname(os.path.dirname(sys.executable)), "lib", version, "site-packages"),
    )
    for folder in folders:
        for suffix in extension_suffixes():
            path = os.path.join(folder, name.replace(".", os.sep) + suffix)
            if os.path.exists(path):
                loader = ExtensionFileLoader(name, path)
                module: ModuleType = loader.create_module(ModuleSpec(name, loader, origin=path))
                loader.exec_module(module)
                return module
    raise ImportError(f"there is no {name} for this Python")


class _ModuleFinder:
    """Finds the modules of orgkernel by their path, without listing folders."""

    def __init__(self, package: str) -> None:
        self._above = os.path.dirname(package)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith("orgkernel."):
            return None
        from _frozen_importlib import ModuleSpec
        from _frozen_importlib_external import SourceFileLoader

        file = os.path.join(self._above, *name.split(".")) + ".py"
        if not os.path.exists(file):
            return None  # a package, which is found as usual
        spec = ModuleSpec(name, SourceFileLoader(name, file), origin=file)
        spec.has_location = True
        return spec


class _Special:
    """A form of `typing` that counts only in annotations."""

    def __getitem__(self, _: object) -> _Special:
        return self

    def __or__(self, _: object) -> _Special:
        return self

    __ror__ = __or__

    def __call__(self) -> None:
        raise TypeError("this form cannot be called")


class _TupleMaker(type):
    """Makes the class of a named tuple from its annotations."""

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Any:
        if not bases:
            return type.__new__(cls, name, bases, members)
        fields = tuple(members.get("__annotations__", ()))
        defaults = {each: members[each] for each in fields if each in members}
        made = {each: value for each, value in members.items() if each not in defaults}
        made |= {each: property(_Getter(number)) for number, each in enumerate(fields)}
        made |= {"__slots__": (), "_fields": fields, "_field_defaults": defaults}
        made |= {"__new__": _make_tuple, "__repr__": _describe_tuple, "_replace": _replace_tuple}
        made |= {each: members[each] for each in ("__repr__",) if each in members}
        return type(name, (tuple,), made)


class NamedTuple(metaclass=_TupleMaker):
    """The stand-in for `typing.NamedTuple`."""


def _Getter(number: int) -> Any:
    return lambda values: values[number]


def _make_tuple(cls: Any, *values: Any, **named: Any) -> Any:
    names = cls._fields[len(values) :]
    given = [*values, *(named.pop(each) if each in named else cls._field_defaults[each] for each in names)]
    if named or len(given) > len(cls._fields):
        raise TypeError(f"{cls.__name__} has no such fields")
    return tuple.__new__(cls, given)


def _replace_tuple(values: Any, **named: Any) -> Any:
    return type(values)(*(named.pop(name, value) for name, value in zip(values._fields, values, strict=True)))


def _describe_tuple(values: Any) -> str:
    return f"{type(values).__name__}{tuple.__repr__(values)}"


class _Factory:
    """A field with a default that is made for each record."""

    def __init__(self, *, default_factory: Any) -> None:
        self.make = default_factory


def dataclass(cls: Any = None, **_: object) -> Any:
    """The stand-in for `dataclasses.dataclass`."""
    if cls is None:
        return dataclass
    cls._record_fields = tuple(cls.__annotations__)
    cls._record_defaults = {name: cls.__dict__[name] for name in cls._record_fields if name in cls.__dict__}
    cls.__init__, cls.__eq__ = _fill, _equals
    cls.__hash__ = None
    return cls


class Struct:
    """The stand-in for `msgspec.Struct`."""

    _record_fields: tuple[str, ...] = ()
    _record_defaults: dict[str, Any] = {}  # noqa: RUF012 - it is never changed

    def __init_subclass__(cls, **_: object) -> None:
        own = tuple(vars(cls).get("__annotations__", ()))
        cls._record_fields = (*cls._record_fields, *(name for name in own if name not in cls._record_fields))
        cls._record_defaults = {
            **cls._record_defaults,
            **{name: cls.__dict__[name] for name in own if name in cls.__dict__},
        }

    def __init__(self, *values: Any, **named: Any) -> None:
        _fill(self, *values, **named)

    def __eq__(self, other: object) -> bool:
        return _equals(self, other)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self._record_fields))


def replace(record: Any, **named: Any) -> Any:
    """A copy of a record with other values."""
    return type(record)(**{name: getattr(record, name) for name in record._record_fields} | named)


def _fill(record: Any, *values: Any, **named: Any) -> None:
    given = dict(zip(record._record_fields, values, strict=False))
    if len(values) > len(record._record_fields) or given.keys() & named.keys():
        raise TypeError(f"{type(record).__name__} got too many values")
    given |= named
    for name in record._record_fields:
        if name in given:
            value = given.pop(name)
        else:
            value = record._record_defaults.get(name, _ABSENT)
            if value is _ABSENT:
                raise TypeError(f"{type(record).__name__} needs a value for {name}")
            value = value.make() if isinstance(value, _Factory) else value
        setattr(record, name, value)
    if given:
        raise TypeError(f"{type(record).__name__} has no such fields")


def _equals(record: Any, other: Any) -> bool:
    if type(record) is not type(other):
        return False
    return all(getattr(record, name) == getattr(other, name) for name in type(record)._record_fields)
