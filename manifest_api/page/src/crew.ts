// The roles of an organization as a tree, with their agents and findings.

import type { Schemas } from "./client";

export interface Post {
  readonly role: Schemas["RoleLine"];
  readonly agents: readonly Schemas["AgentLine"][];
  /** The worst PACE tier that its agents have reported, if it was asked for and there is a report. */
  readonly tier?: string | undefined;
  readonly level: number;
  readonly below: readonly Post[];
  /** The number of roles below, at any depth. */
  readonly size: number;
  readonly superior: string | null;
}

export interface Crew {
  readonly roots: readonly Post[];
  readonly posts: ReadonlyMap<string, Post>;
}

/** Build the tree. A role whose superior is not in the chart is a root, and so is one that no root reaches. */
export function buildCrew(
  chart: readonly Schemas["RoleLine"][],
  agents: readonly Schemas["AgentLine"][],
  tiers?: ReadonlyMap<string, string>,
): Crew {
  const known = new Set(chart.map((role) => role.role_id));
  const below = new Map<string | null, Schemas["RoleLine"][]>();
  for (const role of chart) {
    const superior = role.reports_to !== null && known.has(role.reports_to) ? role.reports_to : null;
    put(below, superior, role);
  }
  const filled = new Map<string, Schemas["AgentLine"][]>();
  for (const agent of agents) for (const role of agent.roles) put(filled, role, agent);
  const posts = new Map<string, Post>();
  const build = (role: Schemas["RoleLine"], superior: string | null, level: number): Post => {
    known.delete(role.role_id);
    const subordinates = (below.get(role.role_id) ?? []).filter((each) => known.has(each.role_id));
    const built = subordinates.map((each) => build(each, role.role_id, level + 1));
    const post: Post = {
      role,
      agents: filled.get(role.role_id) ?? [],
      tier: tiers?.get(role.role_id),
      level,
      below: built,
      size: built.reduce((sum, each) => sum + each.size + 1, 0),
      superior,
    };
    posts.set(role.role_id, post);
    return post;
  };
  const roots = (below.get(null) ?? []).map((role) => build(role, null, 1));
  for (const role of chart) if (known.has(role.role_id)) roots.push(build(role, null, 1));
  return { roots, posts };
}

/** Add to the list of a name. */
function put<Name, Value>(lists: Map<Name, Value[]>, name: Name, value: Value): void {
  const list = lists.get(name);
  if (list) list.push(value);
  else lists.set(name, [value]);
}

/** The roles that fit words, each with every role above it. */
export function findPosts(crew: Crew, text: string): { matches: ReadonlySet<string>; shown: ReadonlySet<string> } {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = new Set<string>();
  const shown = new Set<string>();
  for (const [roleId, { role, agents }] of crew.posts) {
    const fields = [roleId, role.role_name, role.role_type, role.department ?? "", ...role.domains, ...agents.map((each) => each.callsign || each.agent_id)];
    const about = fields.join("\n").toLowerCase();
    if (!wanted.every((word) => about.includes(word))) continue;
    matches.add(roleId);
    for (let id: string | null = roleId; id !== null && !shown.has(id); id = crew.posts.get(id)?.superior ?? null) shown.add(id);
  }
  return { matches, shown };
}

/** How many rows are open before a user opens or closes one. */
const FIRST_ROWS = 60;

/** The first level that is closed at first. A small crew is open as a whole, and a large one down to the roots' subordinates. */
export function chooseOpenLevel(roots: readonly Post[]): number {
  let rows: readonly Post[] = roots;
  let count = roots.length;
  const least = (roots[0]?.level ?? 1) + 1;
  let level = least - 1;
  while (rows.length) {
    rows = rows.flatMap((post) => post.below);
    count += rows.length;
    if (count > FIRST_ROWS) return Math.max(level, least);
    level += 1;
  }
  return level;
}

/** The roles to show, from the top down, in the order of the documents. */
export function listRows(roots: readonly Post[], isOpen: (post: Post) => boolean, shown: ReadonlySet<string> | null): Post[] {
  const rows: Post[] = [];
  const add = (post: Post): void => {
    if (shown && !shown.has(post.role.role_id)) return;
    rows.push(post);
    if (isOpen(post)) post.below.forEach(add);
  };
  roots.forEach(add);
  return rows;
}
