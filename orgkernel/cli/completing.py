"""Shell completion of ids: organizations, roles, subjects, actions, resources and domains of the documents here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from orgkernel.errors import OrgkernelError

if TYPE_CHECKING:
    import click

    from orgkernel.graph.org_index import OrgIndex
    from orgkernel.kernel.kernel import Kernel

Complete = Callable[["click.Context", "click.Parameter", str], list[str]]


def complete_organizations(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Ids of the organizations here."""
    kernel = _open_kernel(ctx)
    return [] if kernel is None else _list_matches(kernel.state.latest.organizations, incomplete)


def _build_completion(words: Callable[[OrgIndex, click.Context], Iterable[str]]) -> Complete:
    """A completion from the organization that is meant."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        kernel = _open_kernel(ctx)
        try:
            return (
                []
                if kernel is None
                else _list_matches(words(kernel.latest(_get_organization(ctx)).index, ctx), incomplete)
            )
        except OrgkernelError:
            return []

    return complete


def _get_organization(ctx: click.Context) -> str:
    from orgkernel.kernel.names import ACTIVE

    return ctx.params.get("org") or ctx.params.get("org_id") or ACTIVE


def _list_subjects(view: OrgIndex, _: click.Context) -> Iterable[str]:
    records = view.records
    yield from (f"role:{each}" for each in view.roles)
    yield from (f"agent:{each}" for each in records.agents)
    yield from (f"person:{each}" for each in records.people)
    yield from (f"system:{each}" for each in records.system_origins)
    yield from (f"webhook:{each}" for each in records.webhooks)


def _list_resources(view: OrgIndex, _: click.Context) -> Iterable[str]:
    yield from (f"tool:{each}" for each in view.records.tools)
    yield from (f"role:{each}" for each in view.roles)


def _list_actions(view: OrgIndex, _: click.Context) -> Iterable[str]:
    declared_actions = {action for tool in view.records.tools.values() for action in tool.record.actions}
    return sorted({"use", "handoff", "escalate", *declared_actions})


def _list_intents(view: OrgIndex, _: click.Context) -> Iterable[str]:
    from orgkernel.graph.schema import EdgeKind

    of_tools = (intent for tool in view.records.tools.values() for intent in tool.record.intents)
    return sorted({*view.list_targets_of_kind(EdgeKind.SERVES_INTENT), *of_tools})


roles = _build_completion(lambda view, _: view.roles)
domains = _build_completion(lambda view, _: (*view.records.domains, *view.records.aliases))
tools = _build_completion(lambda view, _: view.records.tools)
bills = _build_completion(lambda view, _: view.records.bills)
policies = _build_completion(lambda view, _: view.records.policies)
agents = _build_completion(lambda view, _: view.records.agents)
subjects = _build_completion(_list_subjects)
intents = _build_completion(_list_intents)
skills = _build_completion(lambda view, _: view.records.cognitive_skills)
resources = _build_completion(_list_resources)
actions = _build_completion(_list_actions)


def complete_templates(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Names of the templates."""
    from orgkernel.loading.shipped import list_templates

    return _list_matches(list_templates(), incomplete)


def complete_rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Codes of the rules."""
    from orgkernel.rules.pages import build_all_pages

    return _list_matches(build_all_pages(), incomplete)


def _list_matches(words: Iterable[Any], incomplete: str) -> list[str]:
    return [word for word in map(str, words) if word.startswith(incomplete)]


def _open_kernel(ctx: click.Context) -> Kernel | None:
    """The kernel for the command line so far. None if there is nothing to read: a completion prints no errors."""
    from orgkernel.cli.here import find_organization_here, find_request
    from orgkernel.kernel.cache_folder import open_cache
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.settings import find_project

    try:
        project = find_project(os.getcwd())
        request = find_request(
            (*(ctx.params.get("folders") or ()), *(ctx.params.get("paths") or ())), project
        )
        cache = open_cache(project, os.environ)[0]
        kernel = Kernel(request, active=project.active, severities=project.severities, cache=cache)
        kernel.save()
        kernel.prefer(find_organization_here(kernel))
    except (OrgkernelError, OSError):
        return None
    return kernel
