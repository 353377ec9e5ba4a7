"""Policies about a part of a tool, such as some paths or commands: whether a request matches that part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.access.arguments import ArgumentTests, describe_tests
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.policies import AccessPolicy
from orgkernel.decisions.access.stated import StatedPaths
from orgkernel.decisions.refusals import UNREADABLE_PATH
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.runtime.paths import read_path


def does_match_part(evaluation: Evaluation, policy: AccessPolicy) -> bool:
    """Whether a policy applies to the whole resource, or to the requested part of it."""
    resource = evaluation.resource
    return not policy.has_part_of(resource.kind, resource.id) or policy.touches(evaluation.stated)


def name_resource_or_part(evaluation: Evaluation, policies: Iterable[AccessPolicy]) -> str:
    """The resource, or if the policies are only about parts of it, the part and why the request matches it."""
    resource, stated = evaluation.resource, evaluation.stated
    policies = tuple(policies)
    if not policies or not all(policy.has_part_of(resource.kind, resource.id) for policy in policies):
        return evaluation.what
    globs = tuple(dict.fromkeys(glob for policy in policies for glob in policy.paths))
    beginnings = tuple(dict.fromkeys(text for policy in policies for text in policy.commands))
    parts = []
    if globs:
        where = f"{evaluation.what} in {listing(globs)}"
        reasons = (
            ("the request states no path",) if stated.paths is None else _say_touching(stated.paths, globs)
        )
        parts.append(", and ".join((where, *dict.fromkeys(reasons))))
    if beginnings:
        where = f"{evaluation.what} for commands that begin with {listing(beginnings)}"
        parts.append(f"{where}, and {_say_beginning(evaluation)}")
    tests = [policy.input for policy in policies if policy.input]
    if tests:
        where = " or ".join(dict.fromkeys(map(describe_tests, tests)))
        parts.append(f"{evaluation.what} for calls in which {where}, and {_say_passing(evaluation, tests)}")
    return "; and ".join(parts)


def _say_passing(evaluation: Evaluation, tests: Iterable[ArgumentTests]) -> str:
    """Why the call passes the tests, or could."""
    given = evaluation.stated.input
    if given is None:
        return "the request states no input"
    unknown = dict.fromkeys(name for each in tests for name in given.list_unknown(each))
    missing = [name for name in unknown if given.is_missing(name)]
    if missing:
        return f"the input does not state {listing(missing)}"
    return f"{listing(unknown)} cannot be compared" if unknown else "this call is one"


def _say_beginning(evaluation: Evaluation) -> str:
    commands = evaluation.stated.commands
    if commands is not None:
        if None not in commands.read:
            return "a command in it could begin with these words"
        return (
            commands.unread[0]
            if commands.unread
            else "the command cannot be read, because it is not a string"
        )
    if evaluation.resource.command_arguments:
        return "the request states no command"
    return "the tool declares no `command_arguments`"


def _say_touching(stated_paths: StatedPaths, globs: Iterable[str]) -> Iterator[str]:
    for path in stated_paths.texts:
        one = stated_paths._replace(texts=(path,))
        if path is None:
            yield UNREADABLE_PATH
        elif any(map(one.may_touch, globs)):
            if one.are_inside(globs):
                yield f"{quote(path)} matches"
            elif read_path(path, stated_paths.root) is None:
                yield f"{quote(path)} cannot be compared with it"
            else:
                yield f"{quote(path)} could match"


def is_open(evaluation: Evaluation, policy: AccessPolicy) -> bool:
    """Whether a policy is about a part of the resource and the request does not state enough to compare."""
    resource = evaluation.resource
    return policy.has_part_of(resource.kind, resource.id) and policy.is_open(evaluation.stated)


def is_unread(evaluation: Evaluation, policy: AccessPolicy) -> bool:
    """Whether a policy is about a part of the resource, and the request matches it only because it cannot be read."""
    resource = evaluation.resource
    return policy.has_part_of(resource.kind, resource.id) and policy.is_unread(evaluation.stated)


def list_named_paths(evaluation: Evaluation) -> tuple[str, ...]:
    """The paths in policies about the subject that concern a part of the resource."""
    return tuple(
        dict.fromkeys(glob for policy in _find_dividing_policies(evaluation) for glob in policy.paths)
    )


def list_named_commands(evaluation: Evaluation) -> tuple[str, ...]:
    """The beginnings of commands in these policies."""
    return tuple(
        dict.fromkeys(text for policy in _find_dividing_policies(evaluation) for text in policy.commands)
    )


def list_named_tests(evaluation: Evaluation) -> tuple[str, ...]:
    """The tests of arguments in these policies, in words."""
    tests = (describe_tests(policy.input) for policy in _find_dividing_policies(evaluation) if policy.input)
    return tuple(dict.fromkeys(tests))


def _find_dividing_policies(evaluation: Evaluation) -> Iterator[AccessPolicy]:
    resource = evaluation.resource
    for policy in evaluation.subject.policies if resource.is_divided else ():
        if policy.decisive and policy.has_part_of(resource.kind, resource.id):
            yield policy


def list_part_words(evaluation: Evaluation) -> Iterator[str]:
    """The paths, commands and arguments that a call has to state, as words for lists."""
    yield from (f"input:{text}" for text in list_named_tests(evaluation))
    if evaluation.has_open_path:
        yield from (f"path:{glob}" for glob in list_named_paths(evaluation))
    if evaluation.resource.command_arguments:
        yield from (f"command:{text}" for text in list_named_commands(evaluation))
