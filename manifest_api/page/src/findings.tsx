// The findings of the last check, by file.

import type { JSX } from "preact";
import { changeQuery } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { get, getAll } from "./client";
import type { Schemas } from "./client";
import { Choice, Loading, plural, ProblemView, Section, Sentence, Text } from "./parts";
import { Place, RuleLink } from "./place";

type Finding = Schemas["DiagnosticRow"];

export function FindingsView({ address }: { address: Address }): JSX.Element {
  const { answer: findings, problem } = useAnswer("findings", () => getAll("/v1/diagnostics", {}, (page) => page.diagnostics));
  const { answer: state } = useAnswer("diagnostics", () => get("/v1/diagnostics", {}, { limit: "1" }));
  if (problem) return <ProblemView of={problem} />;
  if (!findings) return <Loading />;
  const { severity = "", q = "" } = address.query;
  const wanted = q.toLowerCase();
  const shown = findings.filter(
    (each) => (!severity || each.severity === severity) && `${each.code} ${each.name} ${each.file} ${each.message}`.toLowerCase().includes(wanted),
  );
  const files = new Map<string, Finding[]>();
  for (const each of shown) files.set(each.file, [...(files.get(each.file) ?? []), each]);
  return (
    <>
      <h1 tabIndex={-1}>Findings</h1>
      {state?.not_fresh.map((each) => (
        <p class="note warn" key={each.org_id}>
          <strong>{each.org_id}</strong> is {each.standing === "stale" ? "answered from its last valid version" : "not served"}{each.reason && <>: <Sentence of={each.reason} /></>}.
        </p>
      ))}
      {findings.length === 0 ? (
        <p class="note">The check found nothing in the documents on disk.</p>
      ) : (
        <>
          <div class="tools">
            <label class="field grow"><span>Search</span><input type="search" value={q} placeholder="code, file or words" onInput={(event) => changeQuery(address, { q: event.currentTarget.value })} /></label>
            <Choice label="Severity" value={severity} options={[["", "All"], ["error", "Errors"], ["warning", "Warnings"], ["info", "Information"]]} onChange={(value) => changeQuery(address, { severity: value })} />
            <p class="muted" role="status">{plural(shown.length, "finding")} in {plural(files.size, "file")}</p>
          </div>
          {shown.length === 0 && <p class="note">No finding fits. Clear the search to see all {findings.length.toLocaleString("en-US")}.</p>}
          {[...files].map(([file, each]) => (
            <Section key={file} title={file || "without a file"} count={each.length}>
              <ul class="plain">{each.map((finding, number) => <FindingRow key={number} of={finding} />)}</ul>
            </Section>
          ))}
        </>
      )}
    </>
  );
}

function FindingRow({ of }: { of: Finding }): JSX.Element {
  const signs = { error: "✕", warning: "!", info: "i" };
  return (
    <li>
      <p>
        <span class={`severity ${of.severity}`}><span aria-hidden="true">{signs[of.severity]}</span> {of.severity}</span>{" "}
        <RuleLink code={of.code} /> {of.name}: <Sentence of={of.message} />
      </p>
      {of.help && <p class="small">To fix it: <Sentence of={of.help} /></p>}
      <p class="small muted">
        {of.file && <Place file={of.file} line={of.line} />}
        {of.subject && <> · about <Text of={of.subject} most={80} /></>}
      </p>
      {of.related.length > 0 && <ul class="lines">{of.related.map((each, number) => <li key={number}><Text of={each.text} /> <Place file={each.file} line={each.line} /></li>)}</ul>}
    </li>
  );
}
