// What was decided about calls, through the gateway and elsewhere: by reason, and by subject and tool.

import type { JSX } from "preact";
import { changeQuery, linkTo } from "./address";
import { useAnswer } from "./answers";
import { get } from "./client";
import type { Schemas } from "./client";
import { Choice, Loading, Outcome, plural, ProblemNote, ProblemView, Section, Sentence, SubjectLink, Copy } from "./parts";
import { Place } from "./place";
import type { ViewProps } from "./parts";
import { When } from "./times";

type Entry = Schemas["AuditEntry"];
const PERIODS: readonly (readonly [string, string])[] = [["3600", "the last hour"], ["86400", "the last day"], ["604800", "the last week"], ["2592000", "the last month"]];
const MOST_ROWS = 5_000;

interface Count {
  readonly subject: string;
  readonly resource: string;
  readonly action: string;
  allow: number;
  ask: number;
  deny: number;
  last: Entry;
}

export function CallsView({ org, address }: ViewProps): JSX.Element {
  const { since = "86400", q = "" } = address.query;
  const { answer, problem } = useAnswer(`calls ${since}`, () => listDecisions(since));
  const { answer: report, problem: noReport } = useAnswer(`gateway ${org} ${since}`, () => get("/v1/orgs/{org}/gateway-report", { org }, { days: String(Number(since) / 86_400), at_least: "0" }));
  if (problem) return <ProblemView of={problem} />;
  if (!answer) return <Loading />;
  const wanted = q.toLowerCase();
  const entries = answer.entries.filter((each) => each.org_id === org && `${each.subject} ${each.resource} ${each.code}`.toLowerCase().includes(wanted));
  const refused = entries.filter((each) => each.activity === "deny");
  const asked = entries.filter((each) => each.activity === "ask").length;
  return (
    <>
      <h1 tabIndex={-1}>Calls</h1>
      <div class="tools">
        <label class="field grow"><span>Search</span><input type="search" value={q} placeholder="subject, tool or reason code" onInput={(event) => changeQuery(address, { q: event.currentTarget.value })} /></label>
        <Choice label="Period" value={since} options={PERIODS} onChange={(value) => changeQuery(address, { since: value === "86400" ? "" : value })} />
      </div>
      <ul class="figures">
        <li><strong class="figure">{(entries.length - refused.length - asked).toLocaleString("en-US")}</strong> allowed</li>
        <li class={asked ? "warn" : ""}><strong class="figure">{asked.toLocaleString("en-US")}</strong> needed an approval</li>
        <li class={refused.length ? "warn" : ""}><strong class="figure">{refused.length.toLocaleString("en-US")}</strong> refused</li>
      </ul>
      {answer.isCut && <p class="note warn">Only the newest {MOST_ROWS.toLocaleString("en-US")} decisions are counted. Choose a shorter period.</p>}
      {entries.length ? (
        <>
          <Reasons org={org} refused={refused} />
          <Subjects org={org} counts={countCalls(entries)} />
        </>
      ) : (
        <p class="note">No decision in this period. A gateway (<code>orgkernel gateway</code>), a hook or a runtime that asks for decisions leaves one for each call.</p>
      )}
      {report ? (
        <>
          <SparedTokens org={org} of={report.spared} />
          <Proposals org={org} of={report} />
        </>
      ) : noReport ? (
        <Section title="Tokens spared, and proposals">
          {noReport.status === 403 ? <ProblemNote of={noReport} /> : <p class="note">Not known here: <Sentence of={noReport.detail} />. {noReport.help && <> To see them, <Sentence of={noReport.help} />.</>}</p>}
        </Section>
      ) : <Loading />}
    </>
  );
}

async function listDecisions(since: string): Promise<{ entries: Entry[]; isCut: boolean }> {
  const entries: Entry[] = [];
  const first = String(Math.floor(Date.now() / 1_000) - Number(since));
  let cursor: string | null = "";
  while (cursor !== null && entries.length < MOST_ROWS) {
    const page: Schemas["AuditPage"] = await get("/v1/audit", {}, { kind: "decision", limit: "1000", since: first, ...(cursor && { cursor }) });
    entries.push(...page.rows.map((row) => row.entry));
    cursor = page.next;
  }
  return { entries, isCut: cursor !== null };
}

/** The calls of each subject of each action of a tool, the most refused first. */
function countCalls(entries: readonly Entry[]): Count[] {
  const counts = new Map<string, Count>();
  for (const entry of entries) {
    const { subject = "", resource = "", action = "" } = entry;
    const key = `${subject}\n${resource}\n${action}`;
    // The rows are newest first.
    const count = counts.get(key) ?? { subject, resource, action, allow: 0, ask: 0, deny: 0, last: entry };
    if (entry.activity === "deny" || entry.activity === "ask") count[entry.activity] += 1;
    else count.allow += 1;
    counts.set(key, count);
  }
  return [...counts.values()].sort((one, other) => other.deny - one.deny || other.ask - one.ask || other.allow - one.allow);
}

function Reasons({ org, refused }: { org: string; refused: readonly Entry[] }): JSX.Element {
  const codes = new Map<string, Entry[]>();
  for (const each of refused) codes.set(each.code ?? "", [...(codes.get(each.code ?? "") ?? []), each]);
  const rows = [...codes].sort(([, one], [, other]) => other.length - one.length);
  return (
    <Section title="Refused, by reason" count={refused.length}>
      {rows.length ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Refused, by reason">
          <table>
            <thead><tr><th scope="col">Reason</th><th scope="col" class="number">Calls</th><th scope="col">Subjects</th><th scope="col">Resources</th><th scope="col">Last</th></tr></thead>
            <tbody>
              {rows.map(([code, entries]) => (
                <tr key={code}>
                  <th scope="row"><code>{code}</code></th>
                  <td class="number">{entries.length.toLocaleString("en-US")}</td>
                  <td>{[...new Set(entries.map((each) => each.subject ?? ""))].slice(0, 5).map((subject) => <p key={subject}><SubjectLink org={org} subject={subject} /></p>)}</td>
                  <td>{[...new Set(entries.map((each) => each.resource ?? ""))].slice(0, 5).map((resource) => <p key={resource}><code><bdi>{resource.slice(0, 120)}</bdi></code></p>)}</td>
                  <td>{entries[0] && <When at={entries[0].at} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : <p class="muted">Nothing was refused.</p>}
    </Section>
  );
}

function Subjects({ org, counts }: { org: string; counts: readonly Count[] }): JSX.Element {
  const shown = counts.slice(0, 200);
  return (
    <Section title="By subject and resource" count={counts.length}>
      <div class="scroll" tabIndex={0} role="group" aria-label="By subject and resource">
        <table>
          <thead><tr><th scope="col">Subject</th><th scope="col">Action</th><th scope="col">Resource</th><th scope="col" class="number">Allowed</th><th scope="col" class="number">Approval</th><th scope="col" class="number">Refused</th><th scope="col">Last</th></tr></thead>
          <tbody>
            {shown.map((each, number) => (
              <tr key={number}>
                <th scope="row"><SubjectLink org={org} subject={each.subject} /></th>
                <td>{each.action}</td>
                <td><a href={linkTo(["orgs", org, "access"], { subject: each.subject, action: each.action, resource: each.resource })}><bdi>{each.resource.slice(0, 120)}</bdi></a></td>
                <td class="number">{each.allow.toLocaleString("en-US")}</td>
                <td class="number">{each.ask.toLocaleString("en-US")}</td>
                <td class={`number ${each.deny ? "warn" : ""}`}>{each.deny.toLocaleString("en-US")}</td>
                <td><Outcome of={each.last.activity ?? ""} /> <span class="muted"><When at={each.last.at} /></span></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {counts.length > shown.length && <p class="muted">{plural(counts.length - shown.length, "more row")}: search to see them.</p>}
    </Section>
  );
}

/** What a prompt of each role has of the tools, compared with a host that lists all of them. */
function SparedTokens({ org, of }: { org: string; of: Schemas["Spared"] }): JSX.Element {
  return (
    <Section title="Tokens spared" count={of.roles.length}>
      <p>{plural(of.tools, "tool")} of {plural(of.servers.length, "server")} would take about <strong>{of.size.toLocaleString("en-US")}</strong> tokens of every prompt. The gateway lists only those of the role.</p>
      {of.roles.length ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Tokens spared">
          <table>
            <thead><tr><th scope="col">Role</th><th scope="col" class="number">Tools</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Spared</th><th scope="col" class="number">Share</th></tr></thead>
            <tbody>
              {of.roles.slice(0, 500).map((each) => (
                <tr key={each.role}>
                  <th scope="row"><SubjectLink org={org} subject={`role:${each.role}`} /></th>
                  <td class="number">{each.tools.toLocaleString("en-US")}</td>
                  <td class="number">{each.size.toLocaleString("en-US")}</td>
                  <td class="number">{each.spared.toLocaleString("en-US")}</td>
                  <td class="number">{of.size ? `${Math.floor((each.spared * 100) / of.size)} %` : ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : <p class="muted">No role has a tool of these servers.</p>}
      <p class="small muted">Tokens are estimated as four bytes each.</p>
    </Section>
  );
}

/** Edits that would narrow roles to what they used, or that ask for what was refused. Nothing is changed here. */
function Proposals({ org, of }: { org: string; of: Schemas["UseSummary"] }): JSX.Element {
  return (
    <Section title="Proposals" count={of.proposals.length}>
      {of.proposals.length ? (
        <ul class="plain">
          {of.proposals.map((each, number) => (
            <li key={number}>
              <p><Sentence of={each.text} />: <Sentence of={each.because} /> {each.file && <Place file={each.file} line={each.line} />}</p>
              {each.by_hand && <p class="small muted">Not in the diff of <code>orgkernel gateway report</code>: <Sentence of={each.by_hand} /></p>}
              {each.commands.map((command) => <p class="command" key={command}><code>{command}</code> <Copy text={command} /></p>)}
            </li>
          ))}
        </ul>
      ) : <p class="muted">Every role uses what it has, as far as the calls show.</p>}
      {of.notes.map((note) => <p class="small muted" key={note}><Sentence of={note} /></p>)}
      <p class="small muted">The audit covers {of.days.toLocaleString("en-US")} days of calls. <code>orgkernel gateway report --org {org} --format diff</code> writes the edits.</p>
    </Section>
  );
}
