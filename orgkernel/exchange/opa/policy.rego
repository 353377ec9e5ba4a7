# Ask for `data.orgkernel.access.answer`. The input has `subject`, `action` and `resource`, as texts of orgkernel, and a
# `context`: `now` (seconds since 1970-01-01 UTC), and if they are known `utc_offset`, `channel`, `peer_kind`, `account`,
# `guild`, `hook_id`, `event_type`, `alert`, `watch`, `holds_lock`, `in_file_scope` and `within_limits`. An empty text says that there is none;
# what is left out is not known.
package orgkernel.access

import rego.v1

default allow := false

allow if outcome == "allow"

answer := {
	"allow": allow,
	"outcome": outcome,
	"codes": sort([code | some code in reasons]),
	"state": sort([missing | some missing in open_circumstances]),
	"not_understood": sort([part | some part in not_understood]),
}

# What this policy does not understand it does not decide.
default outcome := "undecided"

outcome := "conditional" if {
	count(not_understood) == 0
	stated_outcome == "allow"
	count(open_circumstances) > 0
} else := stated_outcome if {
	count(not_understood) == 0
}

reasons := set() if {
	outcome == "undecided"
} else := {"CONTEXT_MISSING"} if {
	outcome == "conditional"
} else := giving if {
	outcome == "allow"
} else := (stopping | asking) | lacking

# The outcome for the circumstances that are stated.
stated_outcome := "deny" if {
	count(stopping) > 0
} else := "deny" if {
	count(giving) == 0
} else := "ask" if {
	count(asking) > 0
} else := "allow"

# -- what is asked

organization := data.organization

question := input if {
	is_object(input)
} else := {}

context := question.context if {
	is_object(question.context)
} else := {}

subject := organization.subjects[question.subject] if is_string(question.subject)

subject_kind := split(question.subject, ":")[0] if is_string(question.subject)

parts := split(question.resource, ":") if is_string(question.resource)

resource_kind := parts[0]

resource_name := parts[1]

resource := organization.tools[resource_name] if {
	resource_kind == "tool"
} else := organization.credentials[resource_name] if {
	resource_kind == "credential"
} else := organization.data[resource_name] if {
	resource_kind == "data"
}

tool_action := resource.actions[question.action] if resource_kind == "tool"

# An action that the tool does not have is denied. The other reasons are those of an action of the highest level.
required := tool_action if {
	tool_action
} else := resource.undeclared_action if resource_kind == "tool"

# Who has it: of a tool by the action, of the rest by the resource.
holders := required.holders if {
	resource_kind == "tool"
} else := resource.holders if {
	resource_kind == "credential"
} else := resource.holders if {
	question.action == "read"
}

is_essential if {
	resource_kind == "tool"
	some group in resource.essential_for
	subject.groups[group]
}

circumstances := {key: value |
	some key, value in context
	value != null
}

# -- what is not understood

texts := {"channel", "peer_kind", "account", "guild", "hook_id", "event_type", "alert", "watch"}

not_understood contains key if {
	some key, _ in question
	not key in {"subject", "action", "resource", "context"}
}

not_understood contains key if {
	some key in {"subject", "action", "resource"}
	not is_string(question[key])
}

not_understood contains "context" if not is_object(question.context)

not_understood contains concat(".", ["context", key]) if {
	some key, _ in context
	not key in texts
	not key in {"now", "utc_offset", "holds_lock", "in_file_scope", "within_limits"}
}

not_understood contains concat(".", ["context", key]) if {
	some key, value in circumstances
	key in texts
	not is_string(value)
}

not_understood contains concat(".", ["context", key]) if {
	some key in {"holds_lock", "in_file_scope", "within_limits"}
	value := circumstances[key]
	not is_boolean(value)
}

not_understood contains "context.now" if not is_number(context.now)

not_understood contains "context.utc_offset" if {
	value := circumstances.utc_offset
	not is_number(value)
}

# Senders have to be resolved, and paths compared, before this policy is asked. Handing work down is not exported.
not_understood contains "subject" if {
	not subject_kind in {"role", "agent", "person", "system", "webhook"}
}

not_understood contains "resource" if not resource_kind in {"tool", "credential", "data"}

not_understood contains "resource" if count(parts) != 2

# -- what gives

giving contains "BOUND_TO_ROLE" if {
	subject.groups[holders]
	not is_essential
}

giving contains "ESSENTIAL_TOOL" if is_essential

giving contains "POLICY_ALLOW" if {
	subject.groups["Group:outside"]
	some id in holding
	policy := organization.policies[id]
	policy.effect == "allow"
	not is_silenced(policy)
	policy.covers[resource_kind][resource_name]
	is_readable
}

# Data has one action, whose level is the tier. Another one would need more than any tier.
is_readable if resource_kind != "data"

is_readable if question.action == "read"

# -- what is lacking if nothing gives

lacking contains "NOT_BOUND_TO_ROLE" if {
	subject.crew
	resource
	count(giving) == 0
}

lacking contains "NO_POLICY_MATCH" if {
	subject.crew == false
	resource
	count(giving) == 0
}

# -- what stops

stopping contains "UNKNOWN_PRINCIPAL" if not subject

stopping contains concat("_", [upper(resource_kind), "UNKNOWN"]) if not resource

stopping contains "ACTION_UNKNOWN" if {
	resource_kind == "tool"
	resource
	not tool_action
}

stopping contains "ACTION_UNKNOWN" if {
	resource_kind == "credential"
	resource
	question.action != "use"
}

stopping contains "ACTION_UNKNOWN" if {
	resource_kind == "data"
	resource
	question.action != "read"
}

stopping contains "TOOL_DISABLED" if {
	subject
	resource_kind == "tool"
	resource.enabled == false
}

stopping contains "NOT_VISIBLE" if {
	resource_kind == "tool"
	subject.crew
	resource.departments
	not is_in_department
	not is_essential
}

is_in_department if {
	some department in resource.departments
	subject.groups[department]
}

stopping contains "NOT_IN_RESTRICTED_TO" if {
	subject
	resource_kind == "tool"
	resource.restricted_to
	not is_named
	not is_essential
}

is_named if {
	some each in resource.restricted_to
	subject.names[each]
}

stopping contains "RANK_TOO_LOW" if {
	subject.crew
	required.ranks
	not required.ranks[subject.rank]
	not is_essential
}

# Test results are state, which no document has, so nobody has passed any.
stopping contains "QUALIFICATION_MISSING" if {
	subject
	resource_kind == "tool"
	count(resource.qualifications) > 0
	not is_essential
}

stopping contains "POSITION_CAP" if {
	resource_kind == "tool"
	resource.delegating
	subject.worker
}

stopping contains "WRITE_OUT_OF_FILE_SCOPE" if {
	subject.scoped[required.word]
	not circumstances.in_file_scope
}

stopping contains "LIMIT_REACHED" if {
	subject
	required.limited
	not circumstances.within_limits
}

stopping contains "LOCKED" if {
	subject
	required.needs_lock
	not circumstances.holds_lock
}

stopping contains "POLICY_DENY" if {
	some id in taking
	policy := organization.policies[id]
	policy.denies[resource_kind][resource_name]
	not policy.has_parts
}

# The question states no paths, commands or arguments, or it would be undecided.
stopping contains "PART_NOT_STATED" if {
	some id in taking
	policy := organization.policies[id]
	policy.denies[resource_kind][resource_name]
	policy.has_parts
}

# A policy can be about names that no document declares, by a star.
stopping contains "POLICY_DENY" if {
	not resource
	some id in taking
	matches(organization.policies[id].undeclared[resource_kind].denied)
}

stopping contains "POLICY_DENY" if {
	not resource
	some id in taking
	policy := organization.policies[id]
	policy.effect == "deny"
	covers_undeclared(policy)
}

stopping contains "POLICY_CEILING" if {
	not resource
	some id in taking
	policy := organization.policies[id]
	policy.leaves_out[resource_kind]
	not covers_undeclared(policy)
}

stopping contains "POLICY_CEILING" if {
	resource_kind == "data"
	question.action != "read"
	some id in taking
	organization.policies[id].leaves_out.data
}

stopping contains "POLICY_CEILING" if {
	some id in taking
	organization.policies[id].leaves_out[resource_kind][resource_name]
	not is_essential
}

asking contains "ASK_APPROVAL" if {
	some id in taking
	policy := organization.policies[id]
	policy.effect == "ask"
	policy.covers[resource_kind][resource_name]
}

asking contains "ASK_APPROVAL" if {
	not resource
	some id in taking
	policy := organization.policies[id]
	policy.effect == "ask"
	covers_undeclared(policy)
}

covers_undeclared(policy) if {
	words := policy.undeclared[resource_kind]
	matches(words.named)
	not matches(words.spared)
}

matches(words) if resource_name in words

matches(words) if {
	some word in words
	endswith(word, "*")
	startswith(resource_name, trim_suffix(word, "*"))
}

# -- policies

holding contains id if {
	subject
	some id, policy in organization.policies
	is_about(policy)
	applies_now(policy)
}

# A fallback gives only where no other policy applies, and takes away only where no other policy that allows applies.
is_silenced(policy) if {
	policy.fallback
	some id in holding
	other := organization.policies[id]
	not other.fallback
	other.effect in {"allow", "deny", "ask"}
}

taking contains id if {
	some id in holding
	not organization.policies[id].fallback
}

taking contains id if {
	some id in holding
	organization.policies[id].fallback
	not some_other_allows
}

some_other_allows if {
	some id in holding
	other := organization.policies[id]
	not other.fallback
	other.effect == "allow"
}

is_about(policy) if {
	every clause in policy.principal {
		fits(clause)
	}
}

fits(clause) if {
	not clause.unless
	belongs(clause)
}

fits(clause) if {
	clause.unless
	not belongs(clause)
}

belongs(clause) if {
	some group in clause.groups
	subject.groups[group]
}

applies_now(policy) if count(policy["when"]) == 0

applies_now(policy) if {
	some alternative in policy["when"]
	every key, value in alternative.states {
		circumstances[key] == value
	}
	is_time(alternative)
}

# -- time: the beginning of a window belongs to it, its end does not

local_seconds := floor(context.now + object.get(circumstances, "utc_offset", 0)) if {
	is_number(context.now)
	is_number(object.get(circumstances, "utc_offset", 0))
}

minute := ((floor(local_seconds / 60) % 1440) + 1440) % 1440

# 1970-01-01 was a Thursday; weeks are counted from Monday.
is_weekend if (((floor(local_seconds / 86400) + 3) % 7) + 7) % 7 >= 5

is_time(alternative) if {
	not alternative.weekend
	not has_window(alternative)
}

is_time(alternative) if {
	alternative.weekend
	is_weekend
}

is_time(alternative) if {
	alternative["from"] < alternative.to
	minute >= alternative["from"]
	minute < alternative.to
}

is_time(alternative) if {
	alternative["from"] >= alternative.to
	minute >= alternative["from"]
}

is_time(alternative) if {
	alternative["from"] >= alternative.to
	minute < alternative.to
}

has_window(alternative) if is_number(alternative["from"])

# -- what is not stated, and would change an allowance

open_circumstances contains missing if {
	stated_outcome == "allow"
	some policy in organization.policies
	is_about(policy)
	some alternative in policy["when"]
	is_time(alternative)
	needed := {key: value |
		some key, value in alternative.states
		not is_stated(key)
	}
	count(needed) > 0
	every key, value in alternative.states {
		object.get(circumstances, key, value) == value
	}
	stated := object.union(input, {"context": object.union(input.context, needed)})
	supposed := stated_outcome with input as stated
	supposed != "allow"
	some missing, _ in needed
}

is_stated(key) if is_string(circumstances[key])
