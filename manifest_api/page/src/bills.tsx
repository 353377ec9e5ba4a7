// Bills: the list, and one bill as a drawing of its steps from left to right, with its roles.

import type { JSX } from "preact";
import { linkTo } from "./address";
import { useAnswer } from "./answers";
import { get } from "./client";
import type { Schemas } from "./client";
import { FindingNotes } from "./manifest";
import { Loading, plural, ProblemView, Section, Text, WhyNote, words } from "./parts";
import { Place } from "./place";
import type { ViewProps } from "./parts";

type Bill = Schemas["BillPage"];
type Step = Schemas["BillStep"];
const WIDTH = 216;
const HEIGHT = 74;
const ACROSS = WIDTH + 72;
const DOWN = HEIGHT + 24;

export function BillsView({ org, address }: ViewProps): JSX.Element {
  const bill = address.path[3];
  return bill ? <BillView org={org} bill={bill} step={address.query.step ?? ""} /> : <BillList org={org} />;
}

function BillList({ org }: { org: string }): JSX.Element {
  const { answer, problem } = useAnswer(`bills ${org}`, () => get("/v1/orgs/{org}/bills", { org }));
  if (problem) return <ProblemView of={problem} />;
  if (!answer) return <Loading />;
  return (
    <>
      <h1 tabIndex={-1}>Bills</h1>
      <p class="lead muted">A bill says who does what when something happens, before it happens.</p>
      {answer.bills.length ? (
        <ul class="cards">
          {answer.bills.map((each) => (
            <li key={each.bill}>
              <a href={linkTo(["orgs", org, "bills", each.bill])}><Text of={each.title || each.bill} most={120} /></a>
              <p class="small muted">{plural(each.steps, "step")} · {plural(each.bill_roles, "bill role")} · version {each.version}</p>
              <p>Starts: <code><bdi>{each.trigger}</bdi></code></p>
              <p class="small"><code><bdi>{each.file}</bdi></code></p>
            </li>
          ))}
        </ul>
      ) : <p class="note">This organization has no bill. A file in <code>bills/</code> with the kind <code>bill</code> declares one.</p>}
    </>
  );
}

function BillView({ org, bill, step }: { org: string; bill: string; step: string }): JSX.Element {
  const { answer: of, problem } = useAnswer(`bill ${org} ${bill}`, () => get("/v1/orgs/{org}/bills/{bill}", { org, bill }));
  if (problem) return <ProblemView of={problem} />;
  if (!of) return <Loading />;
  const chosen = of.steps.find((each) => each.id === step);
  return (
    <article>
      <header>
        <p class="kind">Bill · version {of.version}</p>
        <h1 tabIndex={-1}><Text of={of.title || of.bill} most={200} /></h1>
        <p class="muted"><code>{of.bill}</code> <WhyNote why={of.why} about={of.bill} /></p>
        {of.description && <p class="lead"><Text of={of.description} /></p>}
        <p>Starts: <code><bdi>{of.trigger}</bdi></code>. May be started by {of.activated_by.map((each, number) => <span key={each}>{number > 0 && ", "}<a href={linkTo(["orgs", org, "roles", each])}>{each}</a></span>)}.</p>
      </header>
      <FindingNotes findings={of.findings.map((each) => ({ id: each.code, severity: "warning", message: each.message, help: "", file: each.file, line: each.line, why: [] }) as unknown as Schemas["FindingItem"])} />
      <Flow org={org} of={of} step={step} />
      {chosen && <StepView org={org} of={of} step={chosen} />}
      <Section title="Bill roles" count={of.bill_roles.length}>
        <div class="scroll" tabIndex={0} role="group" aria-label="Bill roles">
          <table>
            <thead><tr><th scope="col">Bill role</th><th scope="col">What it does</th><th scope="col" class="number">How many</th><th scope="col">Needs</th><th scope="col">Roles that fit</th><th scope="col">Why</th></tr></thead>
            <tbody>
              {of.bill_roles.map((each) => (
                <tr key={each.bill_role}>
                  <th scope="row">{each.bill_role}</th>
                  <td><Text of={each.description} most={200} /></td>
                  <td class="number">{each.least === each.most ? each.least : `${each.least}–${each.most}`}</td>
                  <td>{[each.department && `department ${each.department}`, each.min_rank && `rank ${each.min_rank} or above`, ...each.qualifications].filter(Boolean).join(", ") || <span class="muted">nothing</span>}</td>
                  <td>{each.roles.length ? each.roles.map((role, number) => <span key={role}>{number > 0 && ", "}<a href={linkTo(["orgs", org, "roles", role])}>{role}</a></span>) : <span class="warn">no role</span>}</td>
                  <td><WhyNote why={each.why} about={each.bill_role} /></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Section>
      <div class="columns">
        <Section title="Expected results" count={of.expected_results.length}><ul class="plain">{of.expected_results.map((each) => <li key={each}><Text of={each} /></li>)}</ul></Section>
        <Section title="Constraints" count={of.constraints.length}><ul class="plain">{of.constraints.map((each) => <li key={each}><Text of={each} /></li>)}</ul></Section>
      </div>
      {of.why[0] && <p class="small"><Place file={of.why[0].file} line={of.why[0].line} /></p>}
    </article>
  );
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly condition: string;
}

/** The edges as the bill declares them. A step without `next` and branches is followed by none. */
function listEdges(steps: readonly Step[]): Edge[] {
  const known = new Set(steps.map((step) => step.id));
  return steps.flatMap((step) => {
    const targets = (step.branches ?? []).map((each) => (typeof each === "string" ? { from: step.id, to: each, condition: "" } : { from: step.id, to: each.to, condition: each.condition ?? "otherwise" }));
    if (step.next) targets.push({ from: step.id, to: step.next, condition: "" });
    return targets.filter((each) => known.has(each.to));
  });
}

/** The longest way to each step, which is its column. A step that is reached again keeps its first column. */
function placeSteps(steps: readonly Step[], edges: readonly Edge[]): Map<string, { column: number; row: number }> {
  const columns = new Map(steps.map((step) => [step.id, 0]));
  for (let round = 0; round < steps.length; round += 1) {
    let moved = false;
    for (const { from, to } of edges) {
      const column = (columns.get(from) ?? 0) + 1;
      if (column > (columns.get(to) ?? 0) && column < steps.length) {
        columns.set(to, column);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const rows = new Map<number, number>();
  return new Map(steps.map((step) => {
    const column = columns.get(step.id) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return [step.id, { column, row }];
  }));
}

function Flow({ org, of, step }: { org: string; of: Bill; step: string }): JSX.Element {
  const edges = listEdges(of.steps);
  const places = placeSteps(of.steps, edges);
  const columns = Math.max(0, ...[...places.values()].map((each) => each.column)) + 1;
  const heights = [...places.values()].reduce((counts, { column }) => counts.set(column, (counts.get(column) ?? 0) + 1), new Map<number, number>());
  const rows = Math.max(1, ...heights.values());
  const [width, height] = [columns * ACROSS - 56, rows * DOWN + 8];
  const at = (id: string): { left: number; top: number } => {
    const { column, row } = places.get(id) ?? { column: 0, row: 0 };
    return { left: 8 + column * ACROSS, top: 8 + ((rows - (heights.get(column) ?? 1)) / 2 + row) * DOWN };
  };
  const roles = of.bill_roles.map((each) => each.bill_role);
  return (
    <Section title="Steps" count={of.steps.length}>
      <div class="chart" role="group" aria-label="Steps of the bill" tabIndex={0}>
        <div class="sheet flow" style={{ width: `${width}px`, height: `${height}px` }}>
          <svg width={width} height={height} aria-hidden="true">
            {edges.map((edge, number) => {
              const [start, end] = [at(edge.from), at(edge.to)];
              const [startX, startY, endX, endY] = [start.left + WIDTH, start.top + HEIGHT / 2, end.left, end.top + HEIGHT / 2];
              const back = endX <= startX;
              const path = back ? `M${startX - WIDTH / 2} ${start.top + HEIGHT}V${Math.max(start.top, end.top) + HEIGHT + 12}H${endX + WIDTH / 2}V${end.top + HEIGHT}` : `M${startX} ${startY}C${startX + 36} ${startY} ${endX - 36} ${endY} ${endX} ${endY}`;
              return (
                <g key={number}>
                  <path d={path} class={edge.condition ? "conditional" : ""} />
                  <path class="head" d={back ? `M${endX + WIDTH / 2 - 4} ${end.top + HEIGHT + 7}l4 -7l4 7` : `M${endX - 7} ${endY - 4}l7 4l-7 4`} />
                </g>
              );
            })}
          </svg>
          <ol class="plain-list">{of.steps.map((each) => {
            const { left, top } = at(each.id);
            return (
              <li key={each.id} class={`card tone-${Math.max(0, roles.indexOf(each.role ?? "")) % 8}${each.id === step ? " here" : ""}`} style={{ left: `${left}px`, top: `${top}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` }}>
                <a href={linkTo(["orgs", org, "bills", of.bill], { step: each.id === step ? "" : each.id })} aria-current={each.id === step ? "true" : undefined}><bdi>{(each.name || each.id).slice(0, 100)}</bdi></a>
                <span class="under"><span>{describeAction(each)}</span></span>
                <span class="under">{each.role && <span>{each.role}</span>}{each.gate && <span class="warn">gate: {each.gate}</span>}{each.gateway && <span>{GATEWAYS[each.gateway]}</span>}</span>
              </li>
            );
          })}</ol>
        </div>
      </div>
      <ol class="lines">
        {of.steps.map((each) => (
          <li key={each.id}>
            <a href={linkTo(["orgs", org, "bills", of.bill], { step: each.id })}><Text of={each.name || each.id} most={100} /></a>{each.role && <> by {each.role}</>}
            {edges.filter((edge) => edge.from === each.id).map((edge) => <span key={edge.to}>; then {edge.condition && edge.condition !== "otherwise" && <>if <code>{edge.condition}</code> </>}{edge.condition === "otherwise" && "otherwise "}<em>{of.steps.find((other) => other.id === edge.to)?.name || edge.to}</em></span>)}
          </li>
        ))}
      </ol>
    </Section>
  );
}

const GATEWAYS: Readonly<Record<string, string>> = { parallel: "all at once", xor: "one of", or: "some of", sequential: "in order" };

function describeAction(step: Step): string {
  switch (step.action) {
    case "tool": return `tool ${step.tool}${step.tool_action ? `: ${step.tool_action}` : ""}`;
    case "cognitive_skill": return `skill ${step.skill}`;
    case "post_to_channel": return `post to ${step.channel}`;
    case "sub_bill": return `bill ${step.sub_bill}`;
    default: return words(step.action);
  }
}

function StepView({ org, of, step }: { org: string; of: Bill; step: Step }): JSX.Element {
  const facts: readonly (readonly [string, string])[] = [
    ["action", describeAction(step)], ["bill role", step.role ?? ""], ["more bill roles", (step.roles ?? []).join(", ")], ["skill", step.skill ?? ""], ["condition", step.condition ?? ""],
    ["approval by", step.gate ?? ""], ["time limit", step.timeout ? plural(step.timeout, "second") : ""], ["inputs", (step.inputs ?? []).map((each) => `${each.name} from ${each.source}`).join(", ")],
    ["outputs", (step.outputs ?? []).map((each) => `${each.name} (${each.type ?? "text"}${each.values?.length ? `: ${each.values.join(", ")}` : ""})`).join(", ")],
  ];
  const roles = of.bill_roles.find((each) => each.bill_role === step.role)?.roles ?? [];
  return (
    <section class="question" aria-label="Step">
      <h2><Text of={step.name || step.id} most={120} /> <code class="small">{step.id}</code></h2>
      <dl class="facts">{facts.filter(([, value]) => value).map(([name, value]) => <div key={name}><dt>{name}</dt><dd><Text of={value} most={300} /></dd></div>)}</dl>
      {step.tool && roles.length > 0 && <p class="actions">{roles.map((role) => <a key={role} href={linkTo(["orgs", org, "access"], { subject: `role:${role}`, action: step.tool_action || "use", resource: `tool:${step.tool}` })}>May {role} do this?</a>)}</p>}
    </section>
  );
}
