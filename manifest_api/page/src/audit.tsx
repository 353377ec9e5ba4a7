// The audit with filters, and the state of its chain.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { goTo, linkTo } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { get } from "./client";
import type { Schemas } from "./client";
import { Loading, plural, ProblemNote, Section, Sentence, SubjectLink, Text, words } from "./parts";
import type { ViewProps } from "./parts";
import { exact, When } from "./times";

const KINDS = ["agent", "audit", "claim", "contract", "decision", "dispatch", "episode", "grant", "handoff", "key", "lock", "report", "request", "restriction", "result", "skill", "status", "usage"];
const FILTERS = ["kind", "subject", "activity", "channel", "record"] as const;
const TITLES: Readonly<Record<string, string>> = { subject: "Subject", activity: "Activity", channel: "Channel", record: "Record" };
const SINCE: readonly (readonly [string, string])[] = [["", "All times"], ["3600", "The last hour"], ["86400", "The last day"], ["604800", "The last week"]];

export function AuditView({ org, address }: ViewProps): JSX.Element {
  const { query } = address;
  const filters: Record<string, string> = {};
  for (const name of FILTERS) if (query[name]) filters[name] = query[name];
  const { since = "", cursor = "" } = query;
  const asked = JSON.stringify([filters, since, cursor]);
  const { answer, problem } = useAnswer(`audit ${asked}`, () => get("/v1/audit", {}, {
    limit: "100", ...filters, ...(cursor && { cursor }), ...(since && { since: String(Math.floor(Date.now() / 1_000) - Number(since)) }),
  }));
  return (
    <>
      <h1 tabIndex={-1}>Audit</h1>
      <Chain />
      <Filters key={JSON.stringify(query)} address={address} />
      {problem ? <ProblemNote of={problem} /> : !answer ? <Loading /> : (
        <>
          {answer.rows.length ? <AuditTable org={org} rows={answer.rows} /> : (
            <p class="note">{Object.keys(filters).length || since ? "No row fits these filters." : "Nothing has been recorded. A server with a store records every decision, report and change."}</p>
          )}
          <p class="actions">
            {cursor && <a href={linkTo(address.path, { ...query, cursor: "" })}>Newest rows</a>}
            {answer.next && <a href={linkTo(address.path, { ...query, cursor: answer.next })}>Older rows</a>}
          </p>
        </>
      )}
    </>
  );
}

/** Verifying reads every row, so a person starts it. */
function Chain(): JSX.Element {
  const [wanted, setWanted] = useState(false);
  return (
    <Section title="State of the chain">
      {wanted ? <Verification /> : (
        <p class="tools">
          <button type="button" onClick={() => setWanted(true)}>Verify the chain</button>
          <span class="muted">Reads every row, and reports rows that are missing, moved or changed.</span>
        </p>
      )}
    </Section>
  );
}

const VERDICTS: Readonly<Record<string, readonly [string, string, string]>> = {
  whole: ["allow", "✓", "No row is missing, moved or changed."],
  unproven: ["ask", "?", "No change is visible, but not everything can be proven."],
  changed: ["deny", "✕", "Rows are missing, moved or changed."],
};

function Verification(): JSX.Element {
  const { answer, problem } = useAnswer("verification", () => get("/v1/audit/verification"));
  if (problem) return <ProblemNote of={problem} />;
  if (!answer) return <Loading />;
  const [tone, sign, text] = VERDICTS[answer.verdict] ?? ["", "", answer.verdict];
  return (
    <div class={`verdict ${tone}`} role="status">
      <p class="big"><span aria-hidden="true">{sign}</span> {text}</p>
      <p class="small">{plural(answer.rows, "row")} in {plural(answer.chains, "chain")}{answer.dropped > 0 && `; ${plural(answer.dropped, "older row")} removed by retention, with ${answer.dropped === 1 ? "its" : "their"} checkpoints kept`}</p>
      {answer.findings.length > 0 && (
        <ul class="plain">
          {answer.findings.map((each, number) => <li key={number}><span class="outcome deny">{words(each.problem)}</span> <code>{each.row}</code> <Sentence of={each.message} /></li>)}
        </ul>
      )}
      {answer.more_findings > 0 && <p>and {plural(answer.more_findings, "more finding")}</p>}
      {answer.accepted.map((each, number) => <p class="small" key={number}>Accepted by {each.actor} <When at={each.at} />: {words(each.problem)} at <code>{each.row}</code>. <Text of={each.reason} /></p>)}
    </div>
  );
}

function Filters({ address }: { address: Address }): JSX.Element {
  const [values, setValues] = useState<Record<string, string>>({ ...address.query });
  const apply = (event: Event): void => {
    event.preventDefault();
    goTo(linkTo(address.path, { ...values, cursor: "" }));
  };
  const choose = (name: string, title: string, options: readonly (readonly [string, string])[]): JSX.Element => (
    <label class="field">
      <span>{title}</span>
      <select name={name} value={values[name] ?? ""} onChange={(event) => setValues({ ...values, [name]: event.currentTarget.value })}>
        {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </label>
  );
  return (
    <form class="question" onSubmit={apply}>
      <div class="tools">
        {choose("kind", "Kind", [["", "All kinds"], ...KINDS.map((each) => [each, each] as const)])}
        {choose("since", "Since", SINCE)}
        {FILTERS.slice(1).map((name) => (
          <label class="field grow" key={name}>
            <span>{TITLES[name]}</span>
            <input name={name} value={values[name] ?? ""} maxLength={200} autocomplete="off" spellcheck={false} placeholder={name === "subject" ? "role:… or agent:…" : ""} onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })} />
          </label>
        ))}
        <button type="submit" class="primary">Filter</button>
      </div>
    </form>
  );
}

function AuditTable({ org, rows }: { org: string; rows: readonly Schemas["AuditLine"][] }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Audit rows">
      <table>
        <thead><tr><th scope="col">When</th><th scope="col">Kind</th><th scope="col">Subject</th><th scope="col">What</th><th scope="col">By</th><th scope="col">Row</th></tr></thead>
        <tbody>{rows.map((row) => <AuditRow key={row.row} org={org} of={row} />)}</tbody>
      </table>
    </div>
  );
}

function AuditRow({ org, of }: { org: string; of: Schemas["AuditLine"] }): JSX.Element {
  const { entry } = of;
  const rest = Object.entries(entry).filter(([name, value]) => !["kind", "at", "activity", "subject", "actor", "action", "resource", "code", "reason"].includes(name) && value !== null && value !== "" && (!Array.isArray(value) || value.length));
  return (
    <tr>
      <td class="nowrap"><When at={entry.at} /><p class="small muted">{exact(entry.at)}</p></td>
      <td class="nowrap">{entry.kind}</td>
      <td>{entry.subject ? <SubjectLink org={entry.org_id || org} subject={entry.subject} /> : <span class="muted">none</span>}</td>
      <td>
        {entry.activity && <>{words(entry.activity)} </>}
        {entry.action && <>{entry.action} <code><bdi>{(entry.resource ?? "").slice(0, 120)}</bdi></code> </>}
        {entry.code && <code class="small">{entry.code}</code>}
        {entry.reason && <p class="small"><Text of={entry.reason} most={200} /></p>}
      </td>
      <td>{entry.actor ? <Text of={entry.actor} most={60} /> : <span class="muted">itself</span>}</td>
      <td>
        <details>
          <summary>row</summary>
          <dl class="small">
            {[["row", of.row], ["digest", of.digest], ...rest.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])].map(([name, value]) => (
              <div key={name}><dt class="muted">{words(name ?? "")}</dt><dd><code><bdi>{(value ?? "").slice(0, 400)}</bdi></code></dd></div>
            ))}
          </dl>
        </details>
      </td>
    </tr>
  );
}
