// Who takes a task, and why: by domain, by intent, or in a sentence.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { goTo, linkTo } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { get, post } from "./client";
import type { Schemas } from "./client";
import { Loading, ProblemNote, Section, Sentence, Name, WhyLines, WhyNote } from "./parts";

const WAYS = [["text", "Sentence"], ["domain", "Domain"], ["intent", "Intent"]] as const;
type Way = (typeof WAYS)[number][0];

export function RoutingView({ org, address }: { org: string; address: Address }): JSX.Element {
  const way = WAYS.map(([name]) => name).find((name) => address.query[name]);
  const value = way ? (address.query[way] ?? "") : "";
  return (
    <>
      <h1 tabIndex={-1}>Who takes it?</h1>
      <TaskForm key={JSON.stringify(address.query)} org={org} address={address} way={way ?? "text"} value={value} />
      {way ? <DispatchView org={org} way={way} value={value} /> : (
        <p class="note">Write a task as a user would, or choose a domain or an intent. The answer names the role, the words and lines that decided, and the roles that were not chosen.</p>
      )}
    </>
  );
}

function TaskForm({ org, address, way, value }: { org: string; address: Address; way: Way; value: string }): JSX.Element {
  const { answer: detail } = useAnswer(`organization ${org}`, () => get("/v1/orgs/{org}", { org }));
  const [chosen, setChosen] = useState<Way>(way);
  const [text, setText] = useState(value);
  const ask = (event: Event): void => {
    event.preventDefault();
    if (text.trim()) goTo(linkTo(address.path, { [chosen]: text.trim() }));
  };
  return (
    <form class="question" onSubmit={ask}>
      <fieldset class="switch">
        <legend class="hidden">Ask by</legend>
        {WAYS.map(([name, title]) => (
          <label key={name}><input type="radio" name="way" value={name} checked={chosen === name} onChange={() => setChosen(name)} /> {title}</label>
        ))}
      </fieldset>
      <div class="tools">
        <label class="field grow">
          <span>{chosen === "text" ? "Task" : chosen === "domain" ? "Domain" : "Intent"}</span>
          <input value={text} list={chosen === "domain" ? "domains" : undefined} required maxLength={chosen === "text" ? 10_000 : 200} autocomplete="off" placeholder={chosen === "text" ? "Fix the bug in parser.py" : ""} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">Ask</button>
      </div>
      <datalist id="domains">{(detail?.domains ?? []).map((domain) => <option key={domain.id} value={domain.id} />)}</datalist>
    </form>
  );
}

function DispatchView({ org, way, value }: { org: string; way: Way; value: string }): JSX.Element {
  const { answer, problem } = useAnswer(`dispatch ${org} ${way} ${value}`, () => post("/v1/orgs/{org}/dispatch", { org }, { [way]: value }));
  if (problem) return <ProblemNote of={problem} />;
  if (!answer) return <Loading />;
  const first = answer.candidates[0];
  return (
    <div aria-live="polite">
      <section class={`verdict ${answer.role_id ? "allow" : "deny"}`} aria-label="Answer">
        {answer.role_id ? (
          <p class="big"><a href={linkTo(["orgs", org, "roles", answer.role_id])}><Name of={answer.role_name || answer.role_id} most={120} /></a> takes it</p>
        ) : (
          <p class="big"><span aria-hidden="true">✕</span> No role takes it</p>
        )}
        {way === "text" && <p class="sentence"><Marked text={value} words={listDecidingWords(first)} /></p>}
        <p class="small">
          {answer.domain && <>Domain <a href={linkTo(["orgs", org, "routing"], { domain: answer.domain })}>{answer.domain}</a>. </>}
          {answer.margin !== null && <>Ahead of the next by <strong>{answer.margin.toFixed(3)}</strong>.</>}
        </p>
      </section>
      <Section title="Why" count={answer.reasons.length}>
        <ul class="plain">{answer.reasons.map((reason, number) => <ReasonRow key={number} of={reason} />)}</ul>
      </Section>
      {answer.candidates.length > 0 && (
        <Section title="How well each role fits" count={answer.candidates.length}>
          <div class="scroll" tabIndex={0} role="group" aria-label="Candidates">
            <table>
              <thead><tr><th scope="col">Role</th><th scope="col" class="number">Score</th><th scope="col">What fits</th></tr></thead>
              <tbody>
                {answer.candidates.map((candidate) => (
                  <tr key={candidate.role_id}>
                    <th scope="row"><a href={linkTo(["orgs", org, "roles", candidate.role_id])}>{candidate.role_id}</a></th>
                    <td class="number">{candidate.score.toFixed(3)}</td>
                    <td><ul class="lines">{candidate.reasons.map((reason, number) => <li key={number}><Sentence of={reason.text} /> <WhyNote why={reason.why} about={reason.text} /></li>)}</ul></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Section>
      )}
      <Section title="Who else, and why not" count={answer.considered_count}>
        {answer.considered.length ? (
          <ul class="plain">
            {answer.considered.map((each) => (
              <li key={each.role_id}><a href={linkTo(["orgs", org, "roles", each.role_id])}>{each.role_id}</a>: <Sentence of={each.text} /> <WhyNote why={each.why} about={each.role_id} /></li>
            ))}
          </ul>
        ) : <p class="muted">No other role was considered.</p>}
      </Section>
      {answer.role_id && (
        <Section title="With">
          <dl class="facts">
            {([["plans", answer.plans], ["tools", answer.tools], ["escalates to", answer.escalation]] as const).map(([name, values]) => (
              <div key={name}><dt>{name}</dt><dd>{values.join(", ") || "none"}</dd></div>
            ))}
          </dl>
        </Section>
      )}
    </div>
  );
}

function ReasonRow({ of }: { of: Schemas["Reason"] }): JSX.Element {
  return <li><Sentence of={of.text} /> <code class="small">{of.code}</code><WhyLines why={of.why} /></li>;
}

/** The words of a sentence that the reasons of a candidate begin with, such as "`bug` is in an example"; a phrase has several. */
function listDecidingWords(candidate: Schemas["RankedCandidate"] | undefined): string[] {
  const words = (candidate?.reasons ?? []).flatMap((reason) => (/^`([^`]+)`/.exec(reason.text)?.[1] ?? "").split(/\s+/));
  return words.filter(Boolean).map((word) => word.toLowerCase());
}

/** A sentence with the deciding words marked. A word also counts if the text has it in a longer form. */
function Marked({ text, words }: { text: string; words: readonly string[] }): JSX.Element {
  const parts = text.slice(0, 2_000).split(/([\p{L}\p{N}_]+)/u);
  const isDeciding = (part: string): boolean => words.some((word) => word === part.toLowerCase() || (word.length > 3 && part.toLowerCase().startsWith(word)));
  return <bdi>{parts.map((part, number) => (number % 2 && isDeciding(part) ? <mark key={number}>{part}</mark> : part))}</bdi>;
}
