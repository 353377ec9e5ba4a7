// Parts of a manifest that roles and agents share.

import type { JSX } from "preact";
import { linkTo } from "./address";
import type { Schemas } from "./client";
import { Sentence, Name, Text, WhyNote, plural, show, words } from "./parts";
import { Place, RuleLink } from "./place";

export interface Row {
  readonly id: string;
  readonly name?: string;
  readonly link?: string;
  readonly note?: string;
  readonly description?: string;
  readonly bad?: boolean;
  readonly why: readonly Schemas["Why"][];
}

export function toLinks(items: readonly Schemas["Item"][]): Row[] {
  return items.map(({ id, why }) => ({ id, why }));
}

/** A list of named things, each with its reason. */
export function Rows({ rows, empty }: { rows: readonly Row[]; empty: string }): JSX.Element {
  if (!rows.length) return <p class="muted">{empty}</p>;
  return (
    <ul class="plain">
      {rows.map((row, number) => (
        <li key={`${row.id} ${number}`}>
          {row.link ? <a href={row.link}><Name of={row.name || row.id} most={120} /></a> : <Text of={row.name || row.id} />}
          {row.note && <span class={row.bad ? "warn" : "muted"}> <Sentence of={row.note} /></span>}
          <WhyNote why={row.why} about={row.name || row.id} />
          {row.description && <p class="small muted"><Text of={row.description} /></p>}
        </li>
      ))}
    </ul>
  );
}

/** Settings. Those that are not set are folded away. */
export function Facts({ facts }: { facts: readonly Schemas["Fact"][] }): JSX.Element {
  const defaults = facts.filter((fact) => fact.why.every((why) => why.text.endsWith("is not set; the default applies")));
  const set = facts.filter((fact) => !defaults.includes(fact));
  const list = (some: readonly Schemas["Fact"][]): JSX.Element => (
    <dl class="facts">
      {some.map((fact) => (
        <div key={fact.id}>
          <dt>{words(fact.id)}</dt>
          <dd><Text of={show(fact.value)} /> <WhyNote why={fact.why} about={fact.id} /></dd>
        </div>
      ))}
    </dl>
  );
  return (
    <>
      {set.length ? list(set) : <p class="muted">Nothing is set.</p>}
      {defaults.length > 0 && (
        <details><summary>{plural(defaults.length, "setting")} not set: the default applies</summary>{list(defaults)}</details>
      )}
    </>
  );
}

/** The tools of a subject with their levels, and which access layer decided. */
export function ToolTable({ org, subject, tools }: { org: string; subject: string; tools: readonly Schemas["ToolItem"][] }): JSX.Element {
  if (!tools.length) return <p class="muted">It has no tool.</p>;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Tools">
      <table>
        <thead>
          <tr><th scope="col">Tool</th><th scope="col">Level</th><th scope="col">Actions</th><th scope="col">Decided by</th><th scope="col">Notes</th><th scope="col">Why</th></tr>
        </thead>
        <tbody>
          {tools.map((tool) => (
            <tr key={tool.id}>
              <th scope="row">
                <a href={linkTo(["orgs", org, "access"], { subject, action: tool.allowed_actions[0] ?? Object.keys(tool.actions)[0] ?? "use", resource: `tool:${tool.id}` })}><Name of={tool.name || tool.id} most={80} /></a>
                <p class="small muted"><Text of={tool.description} most={160} /></p>
              </th>
              <td class="nowrap">{tool.level} <code>{tool.letters}</code></td>
              <td>{tool.allowed_actions.join(", ") || <span class="muted">none</span>}</td>
              <td>{tool.decided_by}{tool.capped_by.length > 0 && <span class="warn">, capped by {tool.capped_by.join(", ")}</span>}</td>
              <td>
                {[
                  tool.ask_actions.length > 0 && `needs an approval for ${tool.ask_actions.join(", ")}`,
                  tool.conditional && `depends on ${tool.conditional}`,
                  ...tool.grants.map((grant) => `grant ${grant.id}${grant.expires_at ? ` until ${grant.expires_at}` : ""}`),
                  tool.preference === "secondary" && "secondary",
                ].filter(Boolean).join("; ")}
              </td>
              <td><WhyNote why={tool.why} about={tool.name || tool.id} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The findings about a role or an agent. */
export function FindingNotes({ findings }: { findings: readonly Schemas["FindingItem"][] }): JSX.Element | null {
  if (!findings.length) return null;
  return (
    <section aria-label="Findings">
      {findings.map((each, number) => (
        <div class={`note ${each.severity}`} key={number}>
          <p><strong>{each.severity}</strong> <RuleLink code={each.id} /> <Sentence of={each.message} /></p>
          {each.help && <p class="small">To fix it: <Sentence of={each.help} /></p>}
          {each.file && <p class="small"><Place file={each.file} line={each.line} /></p>}
        </div>
      ))}
    </section>
  );
}
