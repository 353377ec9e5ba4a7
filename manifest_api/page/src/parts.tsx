// Small parts that all views share.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { linkTo } from "./address";
import type { Address } from "./address";
import type { Schemas } from "./client";
import { Place } from "./place";

/** What every view of an organization gets. */
export interface ViewProps {
  readonly org: string;
  readonly address: Address;
}

type Why = Schemas["Why"];

/** Text from documents. It may run from right to left or be very long, so it is set apart and cut with a way to see all. */
export function Text({ of, most = 400 }: { of: string; most?: number }): JSX.Element {
  const [all, setAll] = useState(false);
  if (of.length <= most || all) return <bdi>{of}</bdi>;
  return (
    <>
      <bdi>{of.slice(0, most)}…</bdi>{" "}
      <button type="button" class="quiet" onClick={() => setAll(true)}>
        Show all {of.length.toLocaleString("en-US")} characters
      </button>
    </>
  );
}

/** A name inside a link, where no button may stand. A long one is cut. */
export function Name({ of, most }: { of: string; most: number }): JSX.Element {
  return <bdi>{of.length > most ? `${of.slice(0, most)}…` : of}</bdi>;
}

/** A sentence of the API: parts in backticks are code. */
export function Sentence({ of }: { of: string }): JSX.Element {
  const parts = of.split("`");
  return <>{parts.map((part, number) => (number % 2 ? <code key={number}><bdi>{part}</bdi></code> : part))}</>;
}

/** A button that copies a text. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }): JSX.Element {
  const [done, setDone] = useState("");
  const copy = (): void => {
    void copyText(text).then((worked) => {
      setDone(worked ? "Copied" : "Select the text to copy it");
      setTimeout(() => setDone(""), 2_000);
    });
  };
  return (
    <button type="button" class="quiet" aria-label={`${label}: ${text.slice(0, 80)}`} onClick={copy}>
      <span aria-live="polite">{done || label}</span>
    </button>
  );
}

/** The clipboard is closed to pages without TLS beyond loopback. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The lines of documents behind a statement, folded. */
export function WhyNote({ why, about }: { why: readonly Why[]; about: string }): JSX.Element | null {
  if (!why.length) return null;
  return (
    <details class="why">
      <summary aria-label={`Why: ${about.slice(0, 80)}`}>why</summary>
      <WhyLines why={why} />
    </details>
  );
}

/** The lines of documents behind a statement. */
export function WhyLines({ why, isOpen = false }: { why: readonly Why[]; isOpen?: boolean }): JSX.Element | null {
  if (!why.length) return null;
  return (
    <ul class="lines">
      {why.map((each, number) => (
        <li key={number}>
          <Text of={each.text} /> {each.file && <Place file={each.file} line={each.line} isOpen={isOpen} />}
        </li>
      ))}
    </ul>
  );
}

const OUTCOMES = new Map([
  ["allow", ["✓", "allowed"]],
  ["ask", ["?", "needs an approval"]],
  ["conditional", ["~", "depends on circumstances"]],
  ["deny", ["✕", "denied"]],
]);

/** An outcome: a sign, a word and a color. */
export function Outcome({ of }: { of: string }): JSX.Element {
  const [sign, word] = OUTCOMES.get(of) ?? ["", of];
  return (
    <span class={`outcome ${of}`}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}

/** A problem of the API: what happened, and the way out. */
export function ProblemNote({ of }: { of: Schemas["Problem"] }): JSX.Element {
  return (
    <div class="note problem" role="alert">
      <p><strong>{of.title || "The question was refused"}.</strong> <Sentence of={of.detail} />.</p>
      {of.help && <p>To go on: <Sentence of={of.help} />.</p>}
      {of.errors && of.errors.length > 0 && (
        <ul>{of.errors.map((each) => <li key={each.where}><code>{each.where}</code> <Sentence of={each.message} /></li>)}</ul>
      )}
      {of.code && <p class="small">Problem code <code>{of.code}</code></p>}
    </div>
  );
}

/** A problem instead of a whole view, which needs a heading. */
export function ProblemView({ of }: { of: Schemas["Problem"] }): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1}>{of.title || "No answer"}</h1>
      <ProblemNote of={of} />
    </>
  );
}

/** What is shown until an answer is there. */
export function Loading(): JSX.Element {
  return <p class="muted" role="status">Loading …</p>;
}

export function Section({ title, count, children }: { title: string; count?: number | undefined; children: ComponentChildren }): JSX.Element {
  return (
    <section>
      <h2>{title}{count !== undefined && <span class="count"> {count.toLocaleString("en-US")}</span>}</h2>
      {children}
    </section>
  );
}

/** A subject, as a link if it is a role or an agent. */
export function SubjectLink({ org, subject }: { org: string; subject: string }): JSX.Element {
  const [, kind, id] = /^(role|agent):([\w-]+)$/.exec(subject) ?? [];
  return kind && id ? <a href={linkTo(["orgs", org, `${kind}s`, id])}>{subject}</a> : <Text of={subject} most={120} />;
}

/** A choice with its label. */
export function Choice(props: { label: string; value: string; options: readonly (readonly [string, string])[]; onChange: (value: string) => void }): JSX.Element {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </label>
  );
}

/** A word for a number of things. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** A value of a document as text. */
export function show(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.length ? value.map(show).join(", ") : "none";
  if (typeof value === "object") return Object.entries(value).map(([name, each]) => `${words(name)}: ${show(each)}`).join("; ") || "none";
  return String(value);
}

/** The name of a field in words. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}
