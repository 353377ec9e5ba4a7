"""The layers of every organization as Cedar policies. The entities hold what an organization declares for them.

The `@id` of a policy is the code of the same reason in orgkernel's decision.
"""

# True if the tool is essential for the principal. Used in `unless`.
ESSENTIAL = "resource is OrgKernel::ToolAction && principal in resource.tool.essential_for"

LAYERS = f"""\
// Roles and agents get what roles list, at the listed level.
@id("BOUND_TO_ROLE")
permit (principal, action, resource)
when {{ principal in resource.holders }};

@id("ESSENTIAL_TOOL")
permit (principal, action, resource is OrgKernel::ToolAction)
when {{ principal in resource.tool.essential_for }};

// Cedar accepts any action in requests that are not checked against the schema.
@id("ACTION_UNKNOWN")
forbid (principal, action, resource)
unless {{ if resource is OrgKernel::Data then action == OrgKernel::Action::"read" else action == OrgKernel::Action::"use" }};

@id("TOOL_DISABLED")
forbid (principal, action, resource is OrgKernel::ToolAction)
unless {{ resource.tool.enabled }};

@id("NOT_VISIBLE")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ principal has names && resource.tool has departments && !(principal in resource.tool.departments) }}
unless {{ {ESSENTIAL} }};

@id("NOT_IN_RESTRICTED_TO")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ principal has names && resource.tool has restricted_to && !resource.tool.restricted_to.containsAny(principal.names) }}
unless {{ {ESSENTIAL} }};

@id("RANK_TOO_LOW")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ principal has names && resource has ranks && !(principal has rank && resource.ranks.contains(principal.rank)) }}
unless {{ {ESSENTIAL} }};

@id("QUALIFICATION_MISSING")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ principal has passed && !principal.passed.containsAll(resource.tool.qualifications) }}
unless {{ {ESSENTIAL} }};

@id("POSITION_CAP")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ resource.tool.delegating && principal has worker && principal.worker }};

@id("LOCKED")
forbid (principal, action, resource is OrgKernel::ToolAction)
when {{ resource.needs_lock }}
unless {{ context has holds_lock && context.holds_lock }};
"""
