// The graph of one role: what stands around it, with the line behind every edge.

import { hierarchy, tree } from "d3-hierarchy";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { changeQuery, linkTo } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import type { Asked } from "./answers";
import { get, post } from "./client";
import type { Schemas } from "./client";
import { Loading, Section, Sentence, Text, WhyLines } from "./parts";

type Manifest = Schemas["RoleManifest"];
type Why = Schemas["Why"];
const WIDTH = 196;
const HEIGHT = 34;
const DOWN = HEIGHT + 8;
const ACROSS = WIDTH + 20;
/** The leaves of a group that are drawn. The manifest has all, and a link after them leads there. */
const MOST = 25;

/** An edge of the role. */
interface Edge {
  /** A sentence without its ends: the role `verb` the target, or the other way round. */
  readonly verb: string;
  readonly id: string;
  readonly name: string;
  readonly link: string;
  readonly why: readonly Why[];
  readonly isInward: boolean;
}

interface Group {
  readonly title: string;
  readonly edges: readonly Edge[];
}

interface Node {
  readonly group?: Group;
  readonly edge?: Edge;
  /** The number of edges of the group that are not drawn. */
  readonly rest?: number;
  readonly below: readonly Node[];
}

export function RoleGraph({ org, of, address }: { org: string; of: Manifest; address: Address }): JSX.Element {
  const { answer: preview, problem } = useApprovers(org, of);
  const [before, after] = listGroups(org, of, preview?.grantors ?? []);
  const chosen = [...before, ...after].flatMap((group) => group.edges).find((each) => nameEdge(each) === address.query.edge);
  const [left, right] = [placeSide(before), placeSide(after)];
  const height = Math.max(left.height, right.height, HEIGHT) + 16;
  const hub = { left: left.depth * ACROSS + 8, top: height / 2 - HEIGHT / 2 };
  const toPlace = (side: Side, isLeft: boolean): Placed[] => side.nodes.map((node) => ({
    ...node,
    left: isLeft ? hub.left - node.depth * ACROSS : hub.left + node.depth * ACROSS,
    top: height / 2 - HEIGHT / 2 + node.y - side.middle,
    isLeft,
  }));
  const placed = [...toPlace(left, true), ...toPlace(right, false)];
  const box = useRef<HTMLDivElement>(null);
  // On a narrow screen, the role itself is in sight first.
  useEffect(() => {
    const element = box.current;
    element?.scrollTo(hub.left + (WIDTH - element.clientWidth) / 2, hub.top + (HEIGHT - element.clientHeight) / 2);
  }, [of.role_id, hub.left, hub.top]);
  const choose = (edge: Edge): void => changeQuery(address, { edge: nameEdge(edge) });
  return (
    <>
      <div class="chart" ref={box} role="group" aria-label="Graph of the role" tabIndex={0}>
        <div class="sheet graph" style={{ width: `${(left.depth + right.depth + 1) * ACROSS}px`, height: `${height}px` }}>
          <svg width={(left.depth + right.depth + 1) * ACROSS} height={height} aria-hidden="true">
            {placed.map((node, number) => {
              const line = drawEdge(node, node.depth === 1 ? hub : placed.find((each) => each.depth === 1 && each.group === node.group) ?? hub);
              const { edge } = node;
              return edge ? (
                <g key={number} class={`edge${edge === chosen ? " here" : ""}`} onClick={() => choose(edge)}><path class="reach" d={line} /><path d={line} /></g>
              ) : <path key={number} d={line} />;
            })}
          </svg>
          <div class="card here" style={{ left: `${hub.left}px`, top: `${hub.top}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` }}><strong><bdi>{(of.role_name || of.role_id).slice(0, 80)}</bdi></strong></div>
          {placed.map((node, number) => <NodeCard key={number} manifest={linkTo(["orgs", org, "roles", of.role_id])} of={node} isChosen={node.edge !== undefined && node.edge === chosen} onChoose={choose} />)}
        </div>
      </div>
      {IS_COPY && <p class="small muted">Who approves is not in a copy.</p>}
      {problem && <p class="small muted">Who approves is not shown: <Sentence of={problem.detail} />.</p>}
      {chosen ? <EdgeLines org={org} role={of} of={chosen} /> : <p class="muted">Choose an edge, or <em>line</em> on a card, to see what declares it.</p>}
    </>
  );
}

/** Who may decide about what the role could ask for, or about its tools if there is nothing. */
function useApprovers(org: string, of: Manifest): Asked<Schemas["GrantPreview"] | undefined> {
  const wanted = (of.requestable_tools.length ? of.requestable_tools : of.tools).slice(0, 20).map((each) => `tool:${each.id}`);
  return useAnswer(`approvers ${org} ${of.role_id}`, async () => (
    IS_COPY || !wanted.length ? undefined : post("/v1/orgs/{org}/grant-preview", { org }, { subject: `role:${of.role_id}`, resources: wanted, level: "read" })
  ));
}

function listGroups(org: string, of: Manifest, approvers: readonly string[]): [Group[], Group[]] {
  const toRole = (id: string): string => linkTo(["orgs", org, "roles", id]);
  const group = (title: string, verb: string, items: readonly { id: string; name?: string; why: readonly Why[]; external?: boolean }[], link: (id: string) => string, isInward = false): Group => ({
    title,
    edges: items.map((each) => ({ verb, id: each.id, name: each.name || each.id, link: each.external || IS_COPY && !link(each.id).includes("/roles/") ? "" : link(each.id), why: each.why, isInward })),
  });
  const ask = (id: string): string => linkTo(["orgs", org, "access"], { subject: `role:${of.role_id}`, action: "use", resource: `tool:${id}` });
  const none = (): string => "";
  const whose = approvers.map((subject) => ({ id: subject, why: of.chain_of_command.find((each) => `role:${each.id}` === subject)?.why ?? [] }));
  const before = [
    group("Reports to", "reports to", of.chain_of_command.slice(0, 1), toRole),
    group("Approvers", "may approve for", whose, (subject) => (subject.startsWith("role:") ? toRole(subject.slice(5)) : ""), true),
    group("Gets work from", "may hand work to", of.handoff_sources, toRole, true),
  ];
  const after = [
    group("Domains", "handles", of.domains, (id) => linkTo(["orgs", org, "routing"], { domain: id })),
    group("Plans", "follows", of.plans, none),
    group("Tools", "is equipped with", of.tools, ask),
    group("Skills", "requires", of.skills, none),
    group("Subordinates", "commands", of.subordinates, toRole),
    group("Hands work to", "may hand work to", of.handoff_targets, toRole),
  ];
  return [before.filter((each) => each.edges.length), after.filter((each) => each.edges.length)];
}

function nameEdge(edge: Edge): string {
  return `${edge.verb}:${edge.id}`;
}

interface SideNode {
  readonly depth: number;
  readonly y: number;
  readonly group?: Group | undefined;
  readonly edge?: Edge | undefined;
  readonly rest?: number | undefined;
}

interface Side {
  readonly nodes: readonly SideNode[];
  readonly middle: number;
  readonly height: number;
  readonly depth: number;
}

interface Placed extends SideNode {
  readonly left: number;
  readonly top: number;
  readonly isLeft: boolean;
}

function listLeaves(group: Group): Node[] {
  const leaves: Node[] = group.edges.slice(0, MOST).map((edge) => ({ group, edge, below: [] }));
  const rest = group.edges.length - leaves.length;
  return rest > 0 ? [...leaves, { group, rest, below: [] }] : leaves;
}

/** The groups of one side of the role, and their leaves. */
function placeSide(groups: readonly Group[]): Side {
  const root: Node = { below: groups.map((each) => ({ group: each, below: listLeaves(each) })) };
  const laid = tree<Node>().nodeSize([DOWN, ACROSS])(hierarchy(root, (node) => node.below));
  const nodes = laid.descendants().filter((node) => node.depth).map((node) => ({ depth: node.depth, y: node.x, group: node.data.group, edge: node.data.edge, rest: node.data.rest }));
  const heights = nodes.map((node) => node.y);
  const [least, most] = nodes.length ? [Math.min(...heights), Math.max(...heights)] : [0, 0];
  return { nodes, middle: (least + most) / 2, height: most - least + HEIGHT, depth: nodes.length ? 2 : 0 };
}

function drawEdge(node: Placed, from: { left: number; top: number }): string {
  const [startX, endX] = node.isLeft ? [from.left, node.left + WIDTH] : [from.left + WIDTH, node.left];
  const [startY, endY] = [from.top + HEIGHT / 2, node.top + HEIGHT / 2];
  const middle = (startX + endX) / 2;
  return `M${startX} ${startY}C${middle} ${startY} ${middle} ${endY} ${endX} ${endY}`;
}

function NodeCard({ of, manifest, isChosen, onChoose }: { of: Placed; manifest: string; isChosen: boolean; onChoose: (edge: Edge) => void }): JSX.Element {
  const place = { left: `${of.left}px`, top: `${of.top}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` };
  const { edge, group, rest } = of;
  if (rest) return <div class="card more" style={place}><a href={manifest} aria-label={`and ${rest.toLocaleString("en-US")} more ${group?.title.toLowerCase()}, in the manifest`}>and {rest.toLocaleString("en-US")} more</a></div>;
  if (!edge) return <div class="card title" style={place}><strong>{group?.title}</strong><span class="muted small">{(group?.edges.length ?? 0) > MOST ? `${MOST} of ` : ""}{group?.edges.length}</span></div>;
  return (
    <div class={`card${isChosen ? " here" : ""}`} style={place}>
      {edge.link ? <a href={edge.link} title={edge.name.slice(0, 200)}><bdi>{edge.name.slice(0, 80)}</bdi></a> : <span title={edge.name.slice(0, 200)}><bdi>{edge.name.slice(0, 80)}</bdi></span>}
      <button type="button" class="quiet" aria-pressed={isChosen} aria-label={`line of the edge: ${edge.verb} ${edge.name.slice(0, 80)}`} onClick={() => onChoose(edge)}>line</button>
    </div>
  );
}

/** The sentence of an edge, and the lines that declare it. */
function EdgeLines({ org, role, of }: { org: string; role: Manifest; of: Edge }): JSX.Element {
  const approver = of.verb === "may approve for" && of.id.startsWith("role:") ? of.id.slice(5) : "";
  // What the approver may grant is declared in its own profile.
  const { answer } = useAnswer(`approver ${org} ${approver}`, async () => (approver ? get("/v1/orgs/{org}/roles/{role}", { org, role: approver }) : undefined));
  const why = [...of.why, ...(answer?.may_grant ?? []).filter((each) => role.requestable_tools.some((tool) => tool.id === each.id)).flatMap((each) => each.why)];
  const section = useRef<HTMLDivElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [of.verb, of.id, answer]);
  const [first, last] = of.isInward ? [of.name, role.role_id] : [role.role_id, of.name];
  return (
    <div ref={section}>
    <Section title="The edge">
      <p class="sentence" role="status"><code><Text of={first} most={80} /></code> {of.verb} <code><Text of={last} most={80} /></code></p>
      {why.length ? <WhyLines why={why} isOpen /> : approver && !answer ? <Loading /> : <p class="muted">No line of a document declares it: {approver ? "it follows from its place in the chain of command" : "it follows from the settings of the organization"}.</p>}
    </Section>
    </div>
  );
}
