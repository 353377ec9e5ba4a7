// A line of a document, which opens to the lines around it.

import { createContext } from "preact";
import type { JSX } from "preact";
import { useContext, useState } from "preact/hooks";
import { linkTo } from "./address";
import { useAnswer } from "./answers";
import { get } from "./client";
import { Copy, ProblemNote } from "./parts";

/** The organization of the view, which answers with the lines. It is empty where a view belongs to none. */
export const OrgOfView = createContext("");

/** A place in a document. A copy of the page has no lines. */
export function Place({ file, line, isOpen = false }: { file: string; line: number; isOpen?: boolean }): JSX.Element {
  const org = useContext(OrgOfView);
  const [open, setOpen] = useState(isOpen && !IS_COPY);
  const name = <code><bdi>{file}:{line}</bdi></code>;
  return (
    <span class="place">
      {IS_COPY || !org || line < 1 ? name : (
        <button type="button" class="quiet" aria-expanded={open} aria-label={`Lines of ${file}:${line}`} onClick={() => setOpen(!open)}>{name}</button>
      )}{" "}
      <Copy text={`${file}:${line}`} />
      {open && <Lines org={org} file={file} line={line} />}
    </span>
  );
}

function Lines({ org, file, line }: { org: string; file: string; line: number }): JSX.Element {
  const { answer, problem } = useAnswer(`lines ${org} ${file}:${line}`, () => get("/v1/orgs/{org}/lines", { org }, { file, line: String(line) }));
  if (problem) return <ProblemNote of={problem} />;
  if (!answer) return <span class="muted" role="status">Loading …</span>;
  return (
    <>
      {answer.is_stale && <span class="warn block">The organization is answered from an earlier version, so this place could have moved.</span>}
      <span class="excerpt" role="group" tabIndex={0} aria-label={`Lines ${answer.first} to ${answer.first + answer.lines.length - 1} of ${file.slice(-80)}`}>
        {answer.lines.map((text, number) => (
          <span key={number} class={answer.first + number === line ? "line here" : "line"}>
            <span class="gutter">{answer.first + number}</span><code><bdi>{text || " "}</bdi></code>
          </span>
        ))}
      </span>
    </>
  );
}

/** A code of a rule, which opens its page. A copy has no pages. */
export function RuleLink({ code }: { code: string }): JSX.Element {
  const org = useContext(OrgOfView);
  return IS_COPY ? <code title={`orgkernel rule ${code}`}>{code}</code> : <a href={linkTo(listRulePath(org, code))}><code>{code}</code></a>;
}

/** The address of the rules, or of one, inside the organization of a view if there is one. */
export function listRulePath(org: string, code = ""): string[] {
  return [...(org ? ["orgs", org] : []), "rules", code].filter(Boolean);
}
