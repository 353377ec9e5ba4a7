"""The formats that an organization is exported to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from orgkernel.exchange.a2a.export import export_a2a
from orgkernel.exchange.agents import agent_framework, agent_spec, claude_code, copilot, crewai, skills
from orgkernel.exchange.ai_catalog import export_ai_catalog
from orgkernel.exchange.backstage import export_backstage
from orgkernel.exchange.cedar.export import export_cedar
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.mcp_registry import PLACES as REGISTRY_PLACES
from orgkernel.exchange.mcp_registry import export_mcp_registry
from orgkernel.exchange.opa.export import export_opa
from orgkernel.graph.questions import OrgView


@dataclass(frozen=True, slots=True)
class Exporter:
    """How an organization gets to one format."""

    export: Callable[[OrgView], ConvertedFiles]
    """Export the organization to this format. A pure function that always returns the same bytes."""
    places: tuple[str, ...] = ()
    """Locations of files of this format in the folder, as `fnmatch` patterns by segment (`.claude/agents/*.md`).

    Files there that have the mark of orgkernel and are no longer exported are removed. If empty, only the exported
    names are checked.
    """


EXPORTS: Mapping[str, Exporter] = MappingProxyType(
    {
        claude_code.TARGET: Exporter(claude_code.export_claude_code, claude_code.PLACES),
        copilot.TARGET: Exporter(copilot.export_copilot, copilot.PLACES),
        crewai.TARGET: Exporter(crewai.export_crewai, crewai.PLACES),
        agent_spec.TARGET: Exporter(agent_spec.export_agent_spec, agent_spec.PLACES),
        agent_framework.TARGET: Exporter(agent_framework.export_agent_framework, agent_framework.PLACES),
        skills.TARGET: Exporter(skills.export_skills, skills.PLACES),
        "a2a": Exporter(export_a2a),
        "ai-catalog": Exporter(export_ai_catalog),
        "mcp-registry": Exporter(export_mcp_registry, REGISTRY_PLACES),
        "backstage": Exporter(export_backstage),
        "cedar": Exporter(export_cedar),
        "opa": Exporter(export_opa),
    }
)
"""Exporters, keyed by the name on the command line, in the order of the help."""
