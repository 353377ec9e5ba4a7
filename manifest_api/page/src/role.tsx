// The manifest of a role: everything it has and may do, each with the lines that decide it.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { linkTo } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { get } from "./client";
import type { Schemas } from "./client";
import { RoleGraph } from "./graph";
import { Facts, FindingNotes, Rows, ToolTable, toLinks } from "./manifest";
import type { Row } from "./manifest";
import { Loading, plural, ProblemView, Section, Sentence, Text, WhyNote, words } from "./parts";
import { Place } from "./place";
import type { ViewProps } from "./parts";

export function RoleView({ org, address }: ViewProps): JSX.Element {
  const role = address.path[3] ?? "";
  const { answer: manifest, problem } = useAnswer(`role ${org}/${role}`, () => get("/v1/orgs/{org}/roles/{role}", { org, role }));
  if (problem) return <ProblemView of={problem} />;
  if (!manifest) return <Loading />;
  return <RoleManifest org={org} of={manifest} address={address} />;
}

function RoleManifest({ org, of, address }: { org: string; of: Schemas["RoleManifest"]; address: Address }): JSX.Element {
  const isGraph = address.query.show === "graph";
  return (
    <article>
      <header>
        <p class="kind">Role · {of.role_type}{of.department && <> · <Text of={of.department.name} most={80} /></>}</p>
        <h1 tabIndex={-1}><Text of={of.role_name || of.role_id} most={200} /></h1>
        <p class="muted"><code>{of.role_id}</code> <WhyNote why={of.why} about={of.role_id} /></p>
        {of.description && <p class="lead"><Text of={of.description} /></p>}
        <p class="actions">
          <a href={linkTo(["orgs", org, "organization"], { at: of.role_id })}>Show in the chart</a>
          {!IS_COPY && <a href={linkTo(["orgs", org, "access"], { subject: `role:${of.role_id}` })}>Ask what it may do</a>}
          <a href={linkTo(address.path, { show: isGraph ? "" : "graph" })}>{isGraph ? "Show its manifest" : "Show its graph"}</a>
        </p>
      </header>
      {isGraph ? <RoleGraph org={org} of={of} address={address} /> : <RoleSections org={org} of={of} />}
    </article>
  );
}

function RoleSections({ org, of }: { org: string; of: Schemas["RoleManifest"] }): JSX.Element {
  const roleLink = (id: string, external = false): string => (external ? "" : linkTo(["orgs", org, "roles", id]));
  const members = (list: readonly (Schemas["Member"] | Schemas["EscalationItem"] | Schemas["Peer"])[]): Row[] =>
    list.map((each) => ({
      id: each.id,
      name: each.name,
      link: roleLink(each.id, each.external),
      note: [each.role_type, "tier" in each && `in PACE tier ${each.tier}`, "channel" in each && `on channel ${each.channel}`, each.external && "outside this organization"].filter(Boolean).join(", "),
      why: each.why,
    }));
  return (
    <>
      <Findings org={org} of={of} />
      <div class="columns">
        <Section title="Chain of command" count={of.chain_of_command.length}>
          <Rows rows={members(of.chain_of_command)} empty="This role has no superior." />
        </Section>
        <Section title="Subordinates" count={of.subordinates.length}>
          <Rows rows={members(of.subordinates)} empty="No role reports to this one." />
        </Section>
        <Section title="Agents" count={of.agents.length}>
          <Rows rows={of.agents.map((each) => ({ id: each.id, link: linkTo(["orgs", org, "agents", each.id]), why: each.why }))} empty="No agent fills this role." />
        </Section>
        <Section title="Task domains" count={of.domains.length}>
          <Rows
            rows={of.domains.map((each) => ({
              id: each.id,
              link: linkTo(["orgs", org, "routing"], { domain: each.id }),
              note: each.chosen ? "dispatch chooses this role" : "dispatch chooses another role",
              description: each.description,
              why: each.why,
            }))}
            empty="It takes only work that another role hands to it."
          />
        </Section>
      </div>
      <Section title="Tools" count={of.tools.length}>
        <ToolTable org={org} subject={`role:${of.role_id}`} tools={of.tools} />
      </Section>
      <Section title="Essential tools" count={of.essential_tools.length}>
        <ToolTable org={org} subject={`role:${of.role_id}`} tools={of.essential_tools} />
      </Section>
      <div class="columns">
        <Section title="What it could ask for" count={of.requestable_tools.length}>
          <Rows
            rows={of.requestable_tools.map((each) => ({
              id: each.id,
              link: linkTo(["orgs", org, "access"], { subject: `role:${of.role_id}`, action: "use", resource: `tool:${each.id}` }),
              note: `at level ${each.level}${each.waives.length ? `, with a waiver of ${each.waives.join(", ")}` : ""}`,
              why: each.why,
            }))}
            empty="It has every tool that its plans and skills need."
          />
        </Section>
        <Section title="What it does not have" count={of.does_not_have.length}>
          <Rows rows={of.does_not_have.map((each) => ({ id: each.id, why: each.why }))} empty="The profile names nothing." />
        </Section>
        <Section title="Plans" count={of.plans.length}>
          <Rows
            rows={of.plans.map((each) => ({
              id: each.id,
              name: each.name,
              note: each.runnable ? "can run" : `cannot run: lacks ${each.missing_tools.join(", ")}`,
              bad: !each.runnable,
              description: each.description,
              why: each.why,
            }))}
            empty="It follows no plan."
          />
        </Section>
        <Section title="Skills" count={of.skills.length}>
          <Rows
            rows={of.skills.map((each) => ({
              id: each.id,
              name: each.name,
              note: `level ${each.min_proficiency}${each.proficiency_name ? ` (${each.proficiency_name})` : ""}${each.optional ? ", optional" : ""}`,
              description: each.description,
              why: each.why,
            }))}
            empty="It requires no skill."
          />
        </Section>
        <Section title="Hands work to" count={of.handoff_targets.length}>
          <Rows rows={members(of.handoff_targets)} empty="It may not hand work to another role." />
        </Section>
        <Section title="Gets work from" count={of.handoff_sources.length}>
          <Rows rows={members(of.handoff_sources)} empty="No role may hand work to it." />
        </Section>
        <OptionalList title="Instructions (SKILL.md)" items={of.cognitive_skills.map((each) => ({ id: each.id, name: each.name, description: each.description, why: each.why }))} />
        <OptionalList title="Intents" items={toLinks(of.intents)} />
        <OptionalList title="Qualifications" items={toLinks(of.qualifications)} />
        <OptionalList title="Credentials" items={toLinks(of.credentials)} />
        <OptionalList title="Data" items={toLinks(of.data)} />
        <OptionalList title="Files" items={toLinks(of.file_scope)} />
        <OptionalList title="May grant" items={of.may_grant.map((each) => ({ id: each.id, note: `up to level ${each.level}`, why: each.why }))} />
        <OptionalList title="May speak with" items={members(of.peers)} />
        <OptionalList title="Standing orders" items={toLinks(of.standing_orders)} />
        <OptionalList title="Examples of its work" items={toLinks(of.examples)} />
        <OptionalList title="Not its work" items={toLinks(of.not_examples)} />
        <OptionalList title="Claimed files" items={of.file_claims.map((each) => ({ id: each.id, name: each.paths.join(", "), note: `held by ${each.holder}`, why: each.why }))} />
        <OptionalList title="Open blockers" items={of.open_blockers.map((each) => ({ id: each.id, name: each.question, note: `asked by ${each.agent}`, why: each.why }))} />
      </div>
      <Section title="When it fails (PACE plan)" count={of.pace.tiers.length}>
        {of.pace.current && <p>Current PACE tier: <strong>{of.pace.current}</strong></p>}
        {of.pace.tiers.length ? (
          <div class="scroll" tabIndex={0} role="group" aria-label="PACE plan">
            <table>
              <thead><tr><th scope="col">PACE tier</th><th scope="col">Trigger</th><th scope="col">What it does</th><th scope="col">Escalates to</th><th scope="col">Why</th></tr></thead>
              <tbody>
                {of.pace.tiers.map((tier) => (
                  <tr key={tier.id}>
                    <th scope="row">{tier.id}</th>
                    <td>{tier.trigger ? <code><bdi>{tier.trigger}</bdi></code> : <span class="muted">none</span>}</td>
                    <td><Text of={tier.description || words(tier.action)} /></td>
                    <td>{tier.escalate_to ?? of.escalation.find((each) => each.tier === tier.id)?.name ?? <span class="muted">no role</span>}</td>
                    <td><WhyNote why={tier.why} about={`PACE tier ${tier.id}`} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : <p class="muted">The profile declares no PACE plan.</p>}
      </Section>
      <Section title="Settings">
        <Facts facts={[...of.identity, ...of.doctrine, ...of.requirements, ...(of.depth_left ? [of.depth_left] : [])]} />
      </Section>
    </>
  );
}

/** The findings, with the text of the agent beside them: what its file tells the model. */
function Findings({ org, of }: { org: string; of: Schemas["RoleManifest"] }): JSX.Element | null {
  // Without an answer there is no text to show: a copy has it only for roles that have one.
  const { answer } = useAnswer(`orders ${org}/${of.role_id}`, () => get("/v1/orgs/{org}/roles/{role}/standing-orders", { org, role: of.role_id }));
  const sections = answer?.sections ?? [];
  if (!sections.length) return <FindingNotes findings={of.findings} />;
  return (
    <div class="beside">
      <Section title="What its model is told" count={sections.length}>
        {sections.map((each, number) => (
          <details key={number} open={sections.length === 1}>
            <summary>{each.source === "role" ? "For this role" : `From the ${each.source} ${each.target}`}</summary>
            <OrderText of={each} />
          </details>
        ))}
      </Section>
      <FindingNotes findings={of.findings} />
    </div>
  );
}

const MOST_TEXT = 4_000;

function OrderText({ of }: { of: Schemas["OrderSection"] }): JSX.Element {
  const [all, setAll] = useState(false);
  return (
    <>
      <pre class="prose" tabIndex={0} dir="auto">{all ? of.text : of.text.slice(0, MOST_TEXT)}</pre>
      {of.text.length > MOST_TEXT && !all && <button type="button" onClick={() => setAll(true)}>Show all {of.text.length.toLocaleString("en-US")} characters</button>}
      <p class="small"><Place file={of.file} line={of.line} /></p>
    </>
  );
}

/** A list that most roles do not have. It is left out if it is empty. */
function OptionalList({ title, items }: { title: string; items: readonly Row[] }): JSX.Element | null {
  return items.length ? <Section title={title} count={items.length}><Rows rows={items} empty="" /></Section> : null;
}

/** An agent: the same in the current state, and how it could rise. */
export function AgentView({ org, address }: ViewProps): JSX.Element {
  const agent = address.path[3] ?? "";
  const { answer: of, problem } = useAnswer(`agent ${org}/${agent}`, () => get("/v1/orgs/{org}/agents/{agent}", { org, agent }));
  if (problem) return <ProblemView of={problem} />;
  if (!of) return <Loading />;
  const gaps = of.skill_profile.gaps;
  return (
    <article>
      <header>
        <p class="kind">Agent · {of.lifecycle}{of.rank && <> · <Text of={of.rank.name || of.rank.id} most={80} /></>}</p>
        <h1 tabIndex={-1}><Text of={of.callsign || of.agent_id} most={200} /></h1>
        <p class="muted"><code>{of.agent_id}</code> <WhyNote why={of.why} about={of.agent_id} /></p>
        {of.description && <p class="lead"><Text of={of.description} /></p>}
        <p class="actions"><a href={linkTo(["orgs", org, "access"], { subject: `agent:${of.agent_id}` })}>Ask what it may do</a></p>
      </header>
      <FindingNotes findings={of.findings} />
      <div class="columns">
        <Section title="Roles" count={of.roles.length}>
          <Rows
            rows={of.roles.map((each) => ({ id: each.id, name: each.name, link: linkTo(["orgs", org, "roles", each.id]), note: each.watches.length ? `in watch ${each.watches.join(", ")}` : "", why: each.why }))}
            empty="It fills no role, so it may use nothing."
          />
        </Section>
        <Section title="Trust">
          <p>
            {of.trust === null ? "No rank ladder applies, so there is no figure of trust." : <><strong class="figure">{of.trust.toFixed(2)}</strong> from {plural(of.trust_distribution.successes, "success", "successes")} and {plural(of.trust_distribution.failures, "failure")}</>}
          </p>
        </Section>
      </div>
      {of.next_rank && (
        <Section title="How it could rise">
          <p>The next rank is <strong><Text of={of.next_rank.name || of.next_rank.id} most={80} /></strong>. {of.next_rank.eligible ? "All requirements are met." : "Not all requirements are met."}</p>
          <ul class="plain">
            {of.next_rank.checks.map((check, number) => (
              <li key={number}>
                <span class={`outcome ${check.met ? "allow" : "deny"}`}><span aria-hidden="true">{check.met ? "✓" : "✕"}</span> {check.met ? "met" : "not met"}</span> <Sentence of={check.text} />
                <WhyNote why={check.why} about={check.text} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Tools" count={of.tools.length}>
        <ToolTable org={org} subject={`agent:${of.agent_id}`} tools={of.tools} />
      </Section>
      <div class="columns">
        <Section title="What it could ask for" count={of.requestable_tools.length}>
          <Rows
            rows={of.requestable_tools.map((each) => ({
              id: each.id,
              link: linkTo(["orgs", org, "access"], { subject: `agent:${of.agent_id}`, action: "use", resource: `tool:${each.id}` }),
              note: `at level ${each.level}${each.waives.length ? `, with a waiver of ${each.waives.join(", ")}` : ""}`,
              why: each.why,
            }))}
            empty="It has every tool that its roles need."
          />
        </Section>
        <Section title="Skills it lacks" count={gaps.length}>
          <Rows rows={gaps.map((each) => ({ id: each.skill, name: each.name, note: `level ${each.required} is required, it has ${each.level ?? "none"}`, why: each.why }))} empty="It has every skill that its roles require." />
        </Section>
        <OptionalList title="Intents" items={of.handled_intents.map((each) => ({ id: each.id, note: each.text, why: each.why }))} />
        <OptionalList title="Standing orders" items={of.standing_orders.map((each) => ({ id: each.id, note: each.file, why: each.why }))} />
        <OptionalList title="Restrictions" items={toLinks(of.restrictions)} />
        <OptionalList title="Claimed files" items={of.file_claims.map((each) => ({ id: each.id, name: each.paths.join(", "), why: each.why }))} />
        <OptionalList title="Open blockers" items={of.open_blockers.map((each) => ({ id: each.id, name: each.question, why: each.why }))} />
      </div>
    </article>
  );
}
