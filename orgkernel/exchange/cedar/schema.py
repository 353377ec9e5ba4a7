"""The Cedar schema: the same for every organization."""

SCHEMA = """\
namespace OrgKernel {
  // The circumstances of a request. Every attribute is optional; one that is missing does not hold.
  type Circumstances = {
    channel?: String,
    peer_kind?: String,
    account?: String,
    guild?: String,
    hook_id?: String,
    event_type?: String,
    // Minute of the local day, and whether it is Saturday or Sunday.
    minute?: Long,
    weekend?: Bool,
    // Whether the request is approved; whether the subject holds the lock of an exclusive tool.
    approved?: Bool,
    holds_lock?: Bool,
  };

  // Roles that get a resource (`tool:ID/LEVEL`, `credential:ID`, `data:ID`), `crew`, `delegating`, `outside`, `owner`, `unknown`.
  entity Group in [Group];
  entity Department;
  entity Relationship;
  entity Tag;

  entity Role in [Group, Department] = {
    names: Set<String>,
    rank?: String,
    passed: Set<String>,
    worker: Bool,
  };
  entity Agent in [Role] = {
    names: Set<String>,
    rank?: String,
    // Qualifications. Test results are state, so an export contains none.
    passed: Set<String>,
    worker: Bool,
  };
  entity Person in [Group, Relationship, Tag];
  entity System in [Group];
  entity Webhook in [Group];

  entity Tool = {
    id: String,
    enabled: Bool,
    delegating: Bool,
    departments?: Set<Department>,
    restricted_to?: Set<String>,
    qualifications: Set<String>,
    essential_for: Set<Group>,
  };
  // An action of a tool, `TOOL/ACTION`: `use` and `run` mean all of them, `lock` takes an exclusive tool.
  entity ToolAction = {
    tool: Tool,
    level: String,
    holders: Group,
    ranks?: Set<String>,
    needs_lock: Bool,
  };
  entity Credential = {
    id: String,
    holders: Group,
  };
  entity Data = {
    tier: Long,
    level: Long,
    holders: Group,
  };

  action use appliesTo {
    principal: [Role, Agent, Person, System, Webhook],
    resource: [ToolAction, Credential],
    context: Circumstances,
  };
  action read appliesTo {
    principal: [Role, Agent, Person, System, Webhook],
    resource: [Data],
    context: Circumstances,
  };
}
"""
