// Governance at work: hand-offs, claims by file, open blockers, briefs that are not done, and the decision log.

import type { JSX } from "preact";
import { changeQuery, linkTo } from "./address";
import { useState } from "preact/hooks";
import { useAnswer } from "./answers";
import { get, getAll, post } from "./client";
import type { Schemas } from "./client";
import { Loading, ProblemNote, Section, Sentence, show, SubjectLink, Text, words } from "./parts";
import type { ViewProps } from "./parts";
import { RuleLink } from "./place";
import { useNow, When } from "./times";

type Contract = Schemas["ContractRecord"];

export function WorkView({ org, address }: ViewProps): JSX.Element {
  const { q = "" } = address.query;
  return (
    <>
      <h1 tabIndex={-1}>Work</h1>
      <label class="field"><span>Search</span><input type="search" value={q} placeholder="role, agent, file, session or mission" onInput={(event) => changeQuery(address, { q: event.currentTarget.value })} /></label>
      <Blockers org={org} q={q.toLowerCase()} />
      <Handoffs org={org} q={q.toLowerCase()} />
      <Claims org={org} q={q.toLowerCase()} />
      <OpenBriefs org={org} q={q.toLowerCase()} />
      <Batches org={org} />
      <DecisionLog org={org} q={q.toLowerCase()} />
    </>
  );
}

interface ListProps {
  readonly org: string;
  readonly q: string;
}

function fits(of: unknown, q: string): boolean {
  return !q || JSON.stringify(of).toLowerCase().includes(q);
}

function field(of: Contract, name: string): string {
  const value = of.body[name as keyof typeof of.body] as unknown;
  return value === undefined || value === null || value === "" ? "" : show(value);
}

function Blockers({ org, q }: ListProps): JSX.Element {
  const { answer, problem } = useAnswer(`contracts ${org}`, () => getAll("/v1/orgs/{org}/contracts", { org }, (page) => page.contracts));
  if (problem) return <Section title="Open blockers"><ProblemNote of={problem} /></Section>;
  if (!answer) return <Section title="Open blockers"><Loading /></Section>;
  const closed = new Set(answer.filter((each) => each.kind === "result").map((each) => each.session));
  const blockers = answer.filter((each) => each.kind === "blocker" && !closed.has(each.session) && fits(each, q)).reverse();
  return (
    <Section title="Open blockers" count={blockers.length}>
      {blockers.length ? (
        <ul class="cards wide">
          {blockers.map((each) => (
            <li key={each.record_id}>
              <p><strong><Text of={field(each, "question")} most={300} /></strong></p>
              <dl class="facts">
                {["best_guess", "fallback_action", "human_required_for", "can_resume_without_answer"].filter((name) => field(each, name)).map((name) => <div key={name}><dt>{words(name)}</dt><dd><Text of={field(each, name)} most={300} /></dd></div>)}
              </dl>
              <p class="small muted">{each.session && <>session <code><bdi>{each.session}</bdi></code> · </>}<When at={each.at} /> · by <Text of={each.actor} most={60} /></p>
            </li>
          ))}
        </ul>
      ) : <p class="muted">No worker waits for an answer.</p>}
    </Section>
  );
}

function Handoffs({ org, q }: ListProps): JSX.Element {
  const { answer, problem } = useAnswer(`handoffs ${org}`, () => getAll("/v1/orgs/{org}/handoffs", { org }, (page) => page.handoffs));
  const now = useNow(10);
  if (problem) return <Section title="Hand-offs"><ProblemNote of={problem} /></Section>;
  if (!answer) return <Section title="Hand-offs"><Loading /></Section>;
  const shown = answer.filter((each) => fits(each, q)).reverse().slice(0, 200);
  return (
    <Section title="Hand-offs" count={shown.length}>
      {shown.length ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Hand-offs">
          <table>
            <thead><tr><th scope="col" class="number">No.</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Done by</th><th scope="col">Session</th><th scope="col" class="number">Depth</th><th scope="col">Why permitted</th><th scope="col">When</th><th scope="col">State</th></tr></thead>
            <tbody>
              {shown.map((each) => (
                <tr key={each.handoff_id}>
                  <td class="number">{each.number}</td>
                  <th scope="row"><SubjectLink org={org} subject={each.sender} /></th>
                  <td><SubjectLink org={org} subject={each.receiver} />{each.on_behalf_of && <p class="small muted">for <SubjectLink org={org} subject={each.on_behalf_of} /></p>}</td>
                  <td><SubjectLink org={org} subject={each.holder} /></td>
                  <td><code><bdi>{each.session.slice(0, 80)}</bdi></code>{each.mission && <p class="small"><Text of={each.mission} most={120} /></p>}</td>
                  <td class="number">{each.depth ?? <span class="muted">unknown</span>}</td>
                  <td><code>{each.code}</code></td>
                  <td><When at={each.at} /></td>
                  <td>{each.expires_at > now ? <><span class="outcome allow">runs</span>, ends <When at={each.expires_at} /></> : <span class="muted">ended <When at={each.expires_at} /></span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : <p class="note">No work has been handed on. <code>orgkernel handoff record</code> logs a hand-off and claims the files of its brief.</p>}
    </Section>
  );
}

function Claims({ org, q }: ListProps): JSX.Element {
  const { answer, problem } = useAnswer(`claims ${org}`, () => getAll("/v1/orgs/{org}/claims", { org }, (page) => page.claims));
  if (problem) return <Section title="Claimed files"><ProblemNote of={problem} /></Section>;
  if (!answer) return <Section title="Claimed files"><Loading /></Section>;
  const rows = answer.filter((each) => fits(each, q)).flatMap((claim) => claim.paths.map((path) => ({ path, claim }))).sort((one, other) => (one.path < other.path ? -1 : 1));
  return (
    <Section title="Claimed files" count={rows.length}>
      {rows.length ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Claimed files">
          <table>
            <thead><tr><th scope="col">File</th><th scope="col">Holder</th><th scope="col">Session</th><th scope="col" class="number">Token</th><th scope="col">Since</th><th scope="col">Ends</th><th scope="col">Reason</th></tr></thead>
            <tbody>
              {rows.map(({ path, claim }) => (
                <tr key={`${claim.token} ${path}`}>
                  <th scope="row"><code><bdi>{path.slice(0, 200)}</bdi></code></th>
                  <td><SubjectLink org={org} subject={claim.holder} /></td>
                  <td>{claim.session ? <code><bdi>{claim.session.slice(0, 80)}</bdi></code> : <span class="muted">none</span>}</td>
                  <td class="number">{claim.token}</td>
                  <td><When at={claim.claimed_at} /></td>
                  <td><When at={claim.expires_at} /></td>
                  <td><Text of={claim.reason} most={120} />{claim.mission && <p class="small muted"><Text of={claim.mission} most={120} /></p>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : <p class="muted">No file is claimed.</p>}
    </Section>
  );
}

function OpenBriefs({ org, q }: ListProps): JSX.Element {
  const { answer } = useAnswer(`contracts ${org}`, () => getAll("/v1/orgs/{org}/contracts", { org }, (page) => page.contracts));
  const done = new Set((answer ?? []).filter((each) => each.kind === "result").map((each) => each.brief_id));
  const briefs = (answer ?? []).filter((each) => each.kind === "brief" && !done.has(each.record_id) && fits(each, q)).reverse().slice(0, 100);
  return (
    <Section title="Briefs without a result" count={briefs.length}>
      {briefs.length ? (
        <ul class="plain">
          {briefs.map((each) => (
            <li key={each.record_id}>
              <strong><Text of={field(each, "mission") || each.record_id} most={160} /></strong>{field(each, "current_task") && <>: <Text of={field(each, "current_task")} most={160} /></>}
              <p class="small muted">{field(each, "done_criteria") && <>done if: <Text of={field(each, "done_criteria")} most={160} /> · </>}checked by <code><bdi>{field(each, "verify_command").slice(0, 160)}</bdi></code> · <When at={each.at} /></p>
            </li>
          ))}
        </ul>
      ) : <p class="muted">Every brief has a result.</p>}
    </Section>
  );
}

function DecisionLog({ org, q }: ListProps): JSX.Element {
  const { answer, problem } = useAnswer(`decisions ${org}`, () => get("/v1/orgs/{org}/decisions", { org }));
  if (problem) return <Section title="Decision log"><ProblemNote of={problem} /></Section>;
  const entries = (answer?.entries ?? []).filter((each) => fits(each, q)).reverse();
  return (
    <Section title="Decision log" count={entries.length}>
      {entries.length ? (
        <ul class="plain">
          {entries.slice(0, 100).map((each, number) => (
            <li key={each.id ?? number}>
              <strong><Text of={each.title ?? each.decision ?? ""} most={160} /></strong> <code class="small">{each.id}</code>
              {each.rationale && <p><Text of={each.rationale} most={300} /></p>}
              <p class="small muted">{each.agent && <>by <a href={linkTo(["orgs", org, "agents", each.agent])}>{each.agent}</a></>}{each.timestamp && <> · <When at={each.timestamp} /></>}{each.falsifier && <> · wrong if: <Text of={each.falsifier} most={160} /></>}</p>
            </li>
          ))}
        </ul>
      ) : <p class="muted">The log is empty.</p>}
    </Section>
  );
}

/** A brief as a subtask of a plan. */
interface Subtask {
  readonly id: string;
  readonly files: readonly string[];
  readonly kind?: "broad";
}

/** How the open briefs can be worked on without two workers that write one file, or how another plan can. */
function Batches({ org }: { org: string }): JSX.Element {
  const { answer: contracts } = useAnswer(`contracts ${org}`, () => getAll("/v1/orgs/{org}/contracts", { org }, (page) => page.contracts));
  const { answer: handoffs } = useAnswer(`handoffs ${org}`, () => getAll("/v1/orgs/{org}/handoffs", { org }, (page) => page.handoffs));
  const [text, setText] = useState("");
  const [plan, setPlan] = useState("");
  const done = new Set((contracts ?? []).filter((each) => each.kind === "result").map((each) => each.brief_id));
  // A plan has at most 500 subtasks.
  const open = (contracts ?? []).filter((each) => each.kind === "brief" && !done.has(each.record_id)).slice(0, 500);
  const names = new Map(open.map((each, number) => [`brief_${number + 1}`, field(each, "mission") || each.record_id]));
  const subtasks = open.map((each, number) => toSubtask(each, number + 1));
  const working = new Set((handoffs ?? []).filter((each) => each.expires_at > Date.now() / 1_000).map((each) => each.brief));
  const running = open.flatMap((each, number) => (working.has(each.record_id) ? [`brief_${number + 1}`] : []));
  return (
    <Section title="Batches">
      {plan ? <Planned org={org} plan={plan} running={[]} names={new Map()} /> : !contracts || !handoffs ? <Loading /> : open.length ? (
        <>
          <p class="muted">The open briefs as a plan: those of one batch can be worked on at the same time, because they own different files.</p>
          <Planned org={org} plan={{ _schema: "orgkernel:subtask_plan", subtasks }} running={running} names={names} />
        </>
      ) : <p class="muted">There is no open brief to divide.</p>}
      <details>
        <summary>Divide a plan of your own</summary>
        <form class="question" onSubmit={(event) => { event.preventDefault(); setPlan(text.trim()); }}>
          <label class="field"><span>Plan, in YAML or JSON (<code>orgkernel:subtask_plan</code>)</span><textarea value={text} rows={8} spellcheck={false} placeholder={PLAN} onInput={(event) => setText(event.currentTarget.value)} /></label>
          <div class="tools"><button type="submit" class="primary">Divide it</button>{plan && <button type="button" onClick={() => setPlan("")}>Back to the open briefs</button>}</div>
        </form>
      </details>
    </Section>
  );
}

const PLAN = "_schema: orgkernel:subtask_plan\nsubtasks:\n  - {id: search, files: [src/search.py]}\n  - {id: cart, files: [src/cart.py], depends_on: [search]}";

function toSubtask(brief: Contract, number: number): Subtask {
  const { spec } = brief.body as { spec?: { scope?: { files_owned?: unknown } } };
  const owned = spec?.scope?.files_owned;
  const files = Array.isArray(owned) ? owned.map(String) : [];
  return files.length ? { id: `brief_${number}`, files } : { id: `brief_${number}`, files, kind: "broad" };
}

function Planned({ org, plan, running, names }: { org: string; plan: unknown; running: readonly string[]; names: ReadonlyMap<string, string> }): JSX.Element {
  const about = JSON.stringify([plan, running]);
  const { answer, problem } = useAnswer(`batches ${org} ${about}`, () => post("/v1/orgs/{org}/batches/plan", { org }, { plan: plan as Record<string, never>, done: [], running: [...running] }));
  if (problem) return <ProblemNote of={problem} />;
  if (!answer) return <Loading />;
  const name = (id: string): JSX.Element => <Text of={names.get(id) ?? id} most={120} />;
  const list = (ids: readonly string[]): JSX.Element => <>{ids.map((id, number) => <span key={id}>{number > 0 && ", "}{name(id)}</span>)}</>;
  return (
    <>
      {answer.findings.length > 0 && (
        <ul class="plain">{answer.findings.map((each, number) => <li key={number}><span class={`severity ${each.severity}`}>{each.severity}</span> <RuleLink code={each.code} /> <Sentence of={each.message} />{each.help && <span class="muted"> (<Sentence of={each.help} />)</span>}</li>)}</ul>
      )}
      {answer.plan && (
        <>
          {running.length > 0 && <p>In work: {list(running)}</p>}
          {answer.plan.batches.length > 0 && <ol class="batches">{answer.plan.batches.map((batch, number) => <li key={number}><span class="muted">{batch.kind}:</span> {list(batch.subtasks)}</li>)}</ol>}
          {answer.plan.batches.length > 0 && <p>{answer.plan.start.length ? <>May start now: {list(answer.plan.start)}</> : "Nothing may start now."}</p>}
          {answer.plan.waiting.length > 0 && (
            <ul class="plain">
              {answer.plan.waiting.map((each) => (
                <li key={each.id}>
                  {name(each.id)} waits
                  <ul class="lines">{each.waits.map((wait, number) => <li key={number}><code>{wait.code}</code> {wait.held_by.length ? <>for {list(wait.held_by)}{wait.files.length > 0 && <> ({wait.files.join(", ")})</>}</> : <Sentence of={wait.text} />}</li>)}</ul>
                </li>
              ))}
            </ul>
          )}
          {answer.plan.problems.map((each, number) => <p class="note problem" key={number}><code>{each.code}</code> {list(each.subtasks)}{each.files.length > 0 && <>: {each.files.join(", ")}</>}</p>)}
          {answer.plan.batches.length > 0 && answer.plan.is_minimal && answer.plan.because && <p class="small muted">Fewer batches are not possible: <Sentence of={answer.plan.because} />.</p>}
        </>
      )}
    </>
  );
}
