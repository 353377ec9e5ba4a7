"""The list of all rules, found by the names of their modules."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from orgkernel import rules
from orgkernel.rules.rule import Rule, RuleTarget

_PREFIX = "org"


@cache
def list_rules() -> tuple[Rule, ...]:
    """All rules, sorted by code."""
    names = [
        f"{family}.{name}"
        for _, family, is_package in pkgutil.iter_modules(rules.__path__)
        if is_package
        for _, name, _ in pkgutil.iter_modules([f"{rules.__path__[0]}/{family}"])
        if name[:6].removeprefix(_PREFIX).isdigit()
    ]
    names.sort(key=lambda name: name.partition(".")[2])
    modules = [import_module(f"{rules.__name__}.{name}") for name in names]
    return tuple(module.RULE for module in modules)


@cache
def select_rules(target: RuleTarget) -> tuple[Rule, ...]:
    """The rules with one target, sorted by code."""
    return tuple(rule for rule in list_rules() if rule.target is target)


def get_page(rule: Rule) -> str:
    """The page of a rule, which is the docstring of its module."""
    module = import_module(rule.check.__module__)
    return (module.__doc__ or "").strip() + "\n"
