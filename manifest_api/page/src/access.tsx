// A question about access, whose address is the question: the layers, the remedies, who can, and the case to keep.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { goTo, linkTo } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { get, getAll, post, Refused } from "./client";
import type { Schemas } from "./client";
import { Copy, Loading, Outcome, ProblemNote, Section, Sentence, SubjectLink, WhyLines, WhyNote, plural } from "./parts";
import { Place } from "./place";

const CIRCUMSTANCES = ["on_behalf_of", "pace", "channel", "session"] as const;
const TITLES: Readonly<Record<string, string>> = { on_behalf_of: "On behalf of", pace: "PACE tier", channel: "Channel", session: "Session" };
const FIELDS = ["subject", "action", "resource", ...CIRCUMSTANCES] as const;

interface Question {
  subject: string;
  action: string;
  resource: string;
  context: Record<string, string>;
}

export function AccessView({ org, address }: { org: string; address: Address }): JSX.Element {
  const question = readQuestion(address);
  return (
    <>
      <h1 tabIndex={-1}>May it do that?</h1>
      <QuestionForm key={JSON.stringify(address.query)} org={org} address={address} />
      {question ? <AnswerView org={org} question={question} /> : (
        <p class="note">Name a subject, an action and a resource. The answer shows every access layer, the lines that decide, what would allow the request, and who may do it already.</p>
      )}
    </>
  );
}

function readQuestion({ query }: Address): Question | null {
  const { subject, action, resource } = query;
  if (!subject || !action || !resource) return null;
  const context: Record<string, string> = {};
  for (const name of CIRCUMSTANCES) if (query[name]) context[name] = query[name];
  return { subject, action, resource, context };
}

function QuestionForm({ org, address }: { org: string; address: Address }): JSX.Element {
  const { answer: detail } = useAnswer(`organization ${org}`, () => get("/v1/orgs/{org}", { org }));
  const { answer: agents } = useAnswer(`agents ${org}`, () => getAll("/v1/orgs/{org}/agents", { org }, (page) => page.agents));
  const [values, setValues] = useState<Record<string, string>>({ action: "use", ...address.query });
  const ask = (event: Event): void => {
    event.preventDefault();
    const query = Object.fromEntries(FIELDS.map((name) => [name, values[name]?.trim()]));
    goTo(linkTo(address.path, query));
  };
  const field = (name: string, title: string, list: string, needed: boolean, hint = ""): JSX.Element => (
    <label class="field grow">
      <span>{title}</span>
      <input
        name={name} value={values[name] ?? ""} list={list || undefined} required={needed} placeholder={hint} maxLength={200} autocomplete="off" spellcheck={false}
        onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
      />
    </label>
  );
  // A browser is slow with thousands of suggestions. Other names can be typed.
  const subjects = [...(detail?.chart ?? []).map((role) => [`role:${role.role_id}`, role.role_name]), ...(agents ?? []).map((agent) => [`agent:${agent.agent_id}`, agent.callsign])].slice(0, 500);
  return (
    <form class="question" onSubmit={ask}>
      <div class="tools">
        {field("subject", "Subject", "subjects", true, "role:… or agent:…")}
        {field("action", "Action", "actions", true, "use")}
        {field("resource", "Resource", "resources", true, "tool:…")}
        <button type="submit" class="primary">Ask</button>
      </div>
      <details open={CIRCUMSTANCES.some((name) => address.query[name])}>
        <summary>Circumstances</summary>
        <div class="tools">
          {CIRCUMSTANCES.map((name) => (
            <span key={name} class="grow">{field(name, TITLES[name] ?? name, name === "pace" ? "tiers" : name === "on_behalf_of" ? "subjects" : "", false)}</span>
          ))}
        </div>
      </details>
      <datalist id="subjects">{subjects.map(([id, name]) => <option key={id} value={id} label={name?.slice(0, 80)} />)}</datalist>
      <datalist id="actions">{["use", "read", "write", "run", "delegate"].map((name) => <option key={name} value={name} />)}</datalist>
      <datalist id="resources">{(detail?.tools ?? []).slice(0, 500).map((tool) => <option key={tool} value={`tool:${tool}`} />)}</datalist>
      <datalist id="tiers">{["primary", "alternate", "contingent", "emergency"].map((name) => <option key={name} value={name} />)}</datalist>
    </form>
  );
}

function AnswerView({ org, question }: { org: string; question: Question }): JSX.Element {
  const about = JSON.stringify([org, question]);
  const { answer, problem } = useAnswer(`why ${about}`, () => post("/v1/orgs/{org}/why", { org }, question as unknown as Schemas["WhyQuestion"]));
  if (problem) return <ProblemNote of={problem} />;
  if (!answer) return <Loading />;
  const { decision } = answer;
  const silent = answer.trace.filter((line) => !line.why.length && !line.before && !line.after);
  const speaking = answer.trace.filter((line) => !silent.includes(line));
  return (
    <div aria-live="polite">
      <section class={`verdict ${decision.outcome}`} aria-label="Answer">
        <p class="big"><Outcome of={decision.outcome} /></p>
        <p><code><bdi>{question.subject}</bdi></code> {question.action} <code><bdi>{question.resource}</bdi></code></p>
        <p class="small">Level required: <strong>{decision.level_required}</strong>. Level it has: <strong>{decision.level_effective}</strong>. Code: <code>{decision.code}</code></p>
        {decision.obligations.length > 0 && <p>It depends on: {decision.obligations.map((each) => <code key={each}>{each} </code>)}</p>}
        {answer.ignored.length > 0 && <p class="warn">Ignored: {answer.ignored.join(", ")}</p>}
      </section>
      <Section title="Reasons" count={answer.reasons.length}>
        <ul class="plain">
          {answer.reasons.map((reason, number) => <li key={number}><Sentence of={reason.text} /> <code class="small">{reason.code}</code><WhyLines why={reason.why} /></li>)}
        </ul>
      </Section>
      {answer.remedies.length > 0 && (
        <Section title="What would allow it" count={answer.remedies.length}>
          <ul class="plain">{answer.remedies.map((remedy, number) => <RemedyRow key={number} of={remedy} />)}</ul>
          {decision.level_required !== "none" && (
            <>
            <FileRequest key={about} org={org} question={question} level={decision.level_required} />
            <p><a href={linkTo(["orgs", org, "requests"], { subject: question.subject, resource: question.resource, level: decision.level_required })}>See what a grant would open, and issue it</a></p>
            </>
          )}
        </Section>
      )}
      <WhoCan org={org} question={question} />
      <Section title="Access layers" count={answer.trace.length}>
        <div class="scroll" tabIndex={0} role="group" aria-label="Access layers">
          <table>
            <thead><tr><th scope="col">Layer</th><th scope="col">What it says</th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Why</th></tr></thead>
            <tbody>{speaking.map((line, number) => <LayerRow key={number} of={line} />)}</tbody>
          </table>
        </div>
        {silent.length > 0 && (
          <details>
            <summary>{plural(silent.length, "layer")} without an effect</summary>
            <ul class="lines">{silent.map((line, number) => <li key={number}>{line.access_layer}: <Sentence of={line.statement} /></li>)}</ul>
          </details>
        )}
      </Section>
      <CaseNote org={org} question={question} decision={decision} />
    </div>
  );
}

/** A request for what was refused, which a subject with the right decides. */
function FileRequest({ org, question, level }: { org: string; question: Question; level: string }): JSX.Element {
  const [reason, setReason] = useState("");
  const [filed, setFiled] = useState("");
  const [problem, setProblem] = useState<Schemas["Problem"]>();
  const file = (event: Event): void => {
    event.preventDefault();
    setProblem(undefined);
    const terms = { requester: question.subject, resources: [question.resource], level, reason } as Schemas["RequestTerms"];
    post("/v1/orgs/{org}/requests", { org }, terms).then((request) => setFiled(request.request_id), (error: unknown) => {
      if (error instanceof Refused) setProblem(error.problem);
      else throw error;
    });
  };
  if (filed) return <p role="status">The request <a href={linkTo(["orgs", org, "requests"], { open: filed })}><code>{filed}</code></a> waits for a decision.</p>;
  return (
    <details>
      <summary>File a request for it</summary>
      <form class="tools" onSubmit={file}>
        <label class="field grow"><span>Why {question.subject} needs it</span><input name="reason" value={reason} required maxLength={2_000} onInput={(event) => setReason(event.currentTarget.value)} /></label>
        <button type="submit" class="primary">File the request</button>
      </form>
      {problem && <ProblemNote of={problem} />}
    </details>
  );
}

function LayerRow({ of }: { of: Schemas["TraceLine"] }): JSX.Element {
  return (
    <tr>
      <th scope="row">{of.access_layer}{of.value && <span class="muted"> ({of.value})</span>}</th>
      <td><Sentence of={of.statement} /></td>
      <td>{of.before}</td>
      <td>{of.after !== of.before ? <strong>{of.after}</strong> : of.after}</td>
      <td><WhyNote why={of.why} about={of.access_layer} /></td>
    </tr>
  );
}

function RemedyRow({ of }: { of: Schemas["Remedy"] }): JSX.Element {
  return (
    <li>
      <p><Sentence of={of.text} />{of.opens && <span class="warn"> This also opens: <Sentence of={of.opens} /></span>}</p>
      {of.commands.map((command) => <p class="command" key={command}><code>{command}</code> <Copy text={command} /></p>)}
      {of.edits.map((edit, number) => (
        <p class="command" key={number}>
          <Place file={edit.file} line={edit.line} /> below <code>{edit.under}</code> write <code>{edit.write}</code> <Copy text={edit.write} />
        </p>
      ))}
    </li>
  );
}

function WhoCan({ org, question }: { org: string; question: Question }): JSX.Element {
  const body = { action: question.action, resource: question.resource, context: question.context };
  const { answer, problem } = useAnswer(`who ${org} ${JSON.stringify(body)}`, () => post("/v1/orgs/{org}/who-can", { org }, body as unknown as Schemas["WhoCanQuestion"]));
  const [all, setAll] = useState(false);
  if (problem) return <Section title="Who can"><ProblemNote of={problem} /></Section>;
  if (!answer) return <Section title="Who can"><Loading /></Section>;
  const rows = all ? answer.rows : answer.rows.slice(0, 20);
  return (
    <Section title="Who can" count={answer.rows.length}>
      {rows.length ? (
        <ul class="plain two">
          {rows.map((row) => (
            <li key={row.subject}>
              <SubjectLink org={org} subject={row.subject} /> <Outcome of={row.outcome} /> <span class="muted">{row.level}{row.conditions.length > 0 && `, depends on ${row.conditions.join(", ")}`}</span>
            </li>
          ))}
        </ul>
      ) : <p class="muted">No subject of this organization can.</p>}
      {answer.rows.length > rows.length && <button type="button" onClick={() => setAll(true)}>Show all {answer.rows.length.toLocaleString("en-US")}</button>}
    </Section>
  );
}

/** The question and its answer as a decision case, for `orgkernel test`. */
function CaseNote({ org, question, decision }: { org: string; question: Question; decision: Schemas["AccessDecision"] }): JSX.Element {
  // JSON strings are valid in YAML, whatever they contain.
  const quote = (value: string): string => (/^[A-Za-z_][\w:/.-]*$/.test(value) && !/^(true|false|null|yes|no|on|off)$/i.test(value) ? value : JSON.stringify(value));
  const asked = [["subject", question.subject], ["action", question.action], ["resource", question.resource]].map(([name, value]) => `${name}: ${quote(value ?? "")}`);
  const { on_behalf_of: principal, ...circumstances } = question.context;
  if (principal) asked.push(`on_behalf_of: ${quote(principal)}`);
  const context = Object.entries(circumstances).map(([name, value]) => `${name}: ${quote(value)}`);
  const text = [
    "_schema: orgkernel:decision_cases",
    '_version: "1.0"',
    "cases:",
    `  - name: ${JSON.stringify(`${question.subject} ${question.action} ${question.resource}`)}`,
    `    org: ${quote(org)}`,
    "    access:",
    `      - ask: {${[...asked, ...(context.length ? [`context: {${context.join(", ")}}`] : [])].join(", ")}}`,
    `        outcome: ${decision.outcome}`,
    "",
  ].join("\n");
  return (
    <Section title="Keep it as a case">
      <p class="muted">Save this in the folder of the organization. <code>orgkernel test</code> then fails if a change decides otherwise.</p>
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} label="Copy the case" />
    </Section>
  );
}
