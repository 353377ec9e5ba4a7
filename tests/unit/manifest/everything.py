"""One small organization that uses every field a manifest can show."""

from __future__ import annotations

EVERYTHING = {
    "org.yaml": """\
_schema: orgkernel:organization
_version: "1.0"
org_id: whole
org_name: The Whole
description: Everything at once.
mission:
  objective: To be complete.
  success_criteria:
    - Nothing is missing.
  constraints: [Stay small., Stay valid.]
hierarchy:
  chief:
    role_name: Chief
    subordinates: [maker, keeper]
  maker: {}
  keeper: {}
communication_channels:
  command: {description: Up and down, direction: bidirectional_hierarchical, protocol: salute_reports}
  lateral:
    direction: bidirectional_peer
    protocol: direct_message
    allowed_pairs:
      - [maker, keeper]
mode: macrocosm
macrocosm_config:
  network:
    heartbeat_interval_seconds: 7
domain_routing:
  build: [maker]
domains: [build, keep]
external: [board]
departments:
  works: {name: Works, description: Where things are made}
layers: [top, bottom]
dispatch_edges:
  - from: top
    to: bottom
limits:
  max_children: 4
overrides:
  maker:
    doctrine:
      salute_interval_turns: 3
    requirements: {preferred_model: small}
    pace_plan:
      contingent:
        description: Ask the chief
        action: escalate
        trigger: consecutive_tool_failures >= 2
        escalate_to: chief
    layer: bottom
---
_schema: orgkernel:domain_catalog
domains:
  build: {description: Making things}
  keep: {description: Keeping things}
---
_schema: orgkernel:plan_catalog
plans:
  make:
    name: Make it
    description: From nothing
    domains: [build]
    steps:
      - measure
      - step: cut
        tools: [saw]
    tools: [bench]
    stale_after_turns: 4
  store:
    domains: [keep]
---
_schema: orgkernel:tool_catalog
tools:
  saw:
    type: deterministic_function
    name: Saw
    description: Cuts
    provider: workshop
    side_effects: destructive
    actions: {look: observe, cut: {level: full, description: in two}}
    falls_back_to: [bench]
    names: {agent_zero: saw_tool}
    input_schema: {type: object}
    path_arguments: []
  bench:
    type: deterministic_function
    side_effects: write
    path_arguments: []
  bell: {type: communication, essential: true}
  whistle:
    type: communication
    essential:
      delegating: true
  guard:
    type: communication
    essential: {with_tools: [saw]}
---
_schema: orgkernel:skill_catalog
proficiency_scale: [one, two, three, four, five, six, seven]
categories: {craft: {name: Craft}}
skills:
  sawing: {name: Sawing, description: By hand, category: craft}
---
_schema: orgkernel:rank_ladder
ranks: [{id: apprentice}]
""",
    "roles/chief.yaml": """\
_schema: orgkernel:role_profile
role_id: chief
role_name: Chief
role_type: commander
description: Leads.
chain_of_command: {reports_to: board}
department: works
layer: top
capabilities:
  tools_secondary: [bell]
""",
    "roles/maker.yaml": """\
_schema: orgkernel:role_profile
role_id: maker
description: Makes.
department: works
crew_tier: utility
position: worker
clearance: basic
entry_rank: apprentice
open_to_probation: true
lmc_mode: direct
deputy: keeper
chain_of_command:
  reports_to: chief
capabilities:
  bst_domains:
    - build
  htn_plans: [make]
  tools_primary:
    - saw
  tools:
    - tool: bench
      level: write
  skills:
    - sawing
  intents: [make_something]
requirements:
  min_context_tokens: 4096
  required_extensions:
    - working_memory
pace_plan:
  primary: {description: Work, action: normal_execution}
  contingent:
    description: Replaced by the organization
    action: escalate
    trigger: consecutive_tool_failures >= 9
    escalate_to: keeper
  emergency:
    description: Stop
    action: abort_and_report
    trigger: unrecoverable_error
    escalate_to: chief
doctrine:
  salute_interval_turns: 6
  autonomous_retry_limit: 1
handoff:
  may_from: [keeper]
credentials: [workshop_key]
data: [drawings]
file_scope: ["src/**"]
standing_orders:
  - Wear goggles.
does_not_have:
  - A forklift.
""",
    "roles/keeper.yaml": """\
_schema: orgkernel:role_profile
role_id: keeper
role_type: executive
description: Keeps.
capabilities:
  bst_domains: [keep]
  htn_plans: [store]
  skills:
    - {skill: sawing, min_proficiency: 6, optional: true}
""",
}
