// The rules of the check, and the page of each.

import type { JSX } from "preact";
import { changeQuery, linkTo } from "./address";
import { useAnswer } from "./answers";
import { get } from "./client";
import { Copy, Loading, plural, ProblemView, Sentence } from "./parts";
import type { ViewProps } from "./parts";
import { listRulePath } from "./place";

export function RulesView({ org, address }: ViewProps): JSX.Element {
  const code = address.path[address.path.indexOf("rules") + 1];
  return code ? <RulePage org={org} code={code} /> : <RuleList org={org} address={address} />;
}

function RuleList({ org, address }: ViewProps): JSX.Element {
  const { answer, problem } = useAnswer("rules", () => get("/v1/rules"));
  if (problem) return <ProblemView of={problem} />;
  if (!answer) return <Loading />;
  const { q = "" } = address.query;
  const wanted = q.toLowerCase().split(/\s+/);
  const shown = answer.rules.filter((each) => wanted.every((word) => `${each.code} ${each.name} ${each.summary}`.toLowerCase().includes(word)));
  return (
    <>
      <h1 tabIndex={-1}>Rules</h1>
      <div class="tools">
        <label class="field grow"><span>Search</span><input type="search" value={q} placeholder="code, name or words" onInput={(event) => changeQuery(address, { q: event.currentTarget.value })} /></label>
        <p class="muted" role="status">{plural(shown.length, "rule")}</p>
      </div>
      <ul class="plain">
        {shown.map((each) => (
          <li key={each.code}><a href={linkTo(listRulePath(org, each.code))}><code>{each.code}</code> {each.name}</a> <span class={`severity ${each.severity}`}>{each.severity}</span> <Sentence of={each.summary} /></li>
        ))}
      </ul>
    </>
  );
}

function RulePage({ org, code }: { org: string; code: string }): JSX.Element {
  const { answer, problem } = useAnswer(`rule ${code}`, () => get("/v1/rules/{code}", { code }));
  if (problem) return <ProblemView of={problem} />;
  if (!answer) return <Loading />;
  return (
    <article class="page-of-rule">
      <h1 tabIndex={-1}>{answer.code} {answer.name}</h1>
      <p class="small muted">In a terminal: <code>orgkernel rule {answer.code}</code> <Copy text={`orgkernel rule ${answer.code}`} /> · <a href={linkTo(listRulePath(org))}>all rules</a></p>
      <div>{listBlocks(answer.text).slice(1).map((block, number) => <BlockView key={number} of={block} />)}</div>
    </article>
  );
}

interface Block {
  readonly kind: "heading" | "text" | "list" | "code";
  readonly lines: readonly string[];
}

/** The blocks of a page. The pages are ours, and have headings, paragraphs, lists and fenced code only. */
function listBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let pending: string[] = [];
  const finish = (): void => {
    const first = pending[0];
    if (first !== undefined) blocks.push({ kind: first.startsWith("#") ? "heading" : first.startsWith("- ") ? "list" : "text", lines: pending });
    pending = [];
  };
  let code: string[] | null = null;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      finish();
      if (code) blocks.push({ kind: "code", lines: code });
      code = code ? null : [];
    } else if (code) code.push(line);
    else if (line.trim()) pending.push(line);
    else finish();
  }
  finish();
  return blocks;
}

function BlockView({ of: { kind, lines } }: { of: Block }): JSX.Element {
  const text = lines.join(" ").replaceAll("**", "");
  if (kind === "heading") return <h2>{text.replace(/^#+ /, "")}</h2>;
  if (kind === "code") return <pre tabIndex={0}>{lines.join("\n")}</pre>;
  // A line that begins with spaces continues the item before it.
  if (kind === "list") return <ul>{lines.join("\n").replaceAll(/\n\s+/g, " ").split("\n").map((each, number) => <li key={number}><Sentence of={each.replace(/^- /, "").replaceAll("**", "")} /></li>)}</ul>;
  return <p><Sentence of={text} /></p>;
}
