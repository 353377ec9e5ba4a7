// The organization: its chart or its treegrid, what is vacant, and which agents have no role.

import type { JSX } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { changeQuery, linkTo } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { Chart } from "./chart";
import type { Link } from "./chart";
import { get, getAll } from "./client";
import type { Schemas } from "./client";
import { buildCrew, chooseOpenLevel, findPosts, listRows } from "./crew";
import type { Crew, Post } from "./crew";
import { Choice, Loading, Name, plural, ProblemNote, ProblemView, Section, Sentence, Text, WhyNote } from "./parts";
import { Treegrid } from "./treegrid";

/** What the colors of roles mean. Every color stands beside the value in words. */
export interface Coloring {
  readonly title: string;
  readonly hasAgents: boolean;
  readonly read: (post: Post) => string;
  readonly tone: (value: string) => number;
}

const COLORINGS = new Map<string, readonly [string, (post: Post) => string]>([
  ["department", ["Department", ({ role }) => role.department ?? "no department"]],
  ["role_type", ["Role type", ({ role }) => role.role_type]],
  ["crew_tier", ["Crew tier", ({ role }) => role.crew_tier]],
  ["layer", ["Layer", ({ role }) => role.layer ?? "no layer"]],
  ...(IS_COPY ? [] : [["pace", ["PACE tier", ({ tier }: Post) => tier ?? "no report"]] as const]),
  ["findings", ["Findings", ({ role }) => (role.findings ? plural(role.findings, "finding") : "no finding")]],
]);
/** What can be drawn behind the cards. */
const REGIONS = new Map<string, readonly [string, (post: Post) => string | null]>([
  ["department", ["Departments", ({ role }) => role.department]],
  ["layer", ["Hand-off layers", ({ role }) => role.layer]],
]);
/** The most hand-offs of all roles that are drawn at one time. More would hide the cards. */
const MOST_LINKS = 500;
/** The number of colors in page.css. */
export const TONES = 8;

export function OrganizationView({ org, address }: { org: string; address: Address }): JSX.Element {
  const { answer: detail, problem } = useAnswer(`organization ${org}`, () => get("/v1/orgs/{org}", { org }));
  const { answer: agents, problem: noAgents } = useAnswer(`agents ${org}`, () => getAll("/v1/orgs/{org}/agents", { org }, (page) => page.agents));
  const { answer: vacancies, problem: noVacancies } = useAnswer(`vacancies ${org}`, () => get("/v1/orgs/{org}/vacancies", { org }));
  const isByTier = !IS_COPY && address.query.color === "pace";
  const { answer: tiers } = useAnswer(`tiers ${org} ${isByTier}`, async () => (isByTier ? listTiers(await getAll("/v1/orgs/{org}/salute", { org }, (page) => page.lines)) : undefined));
  const crew = useMemo(
    () => detail && buildCrew(detail.chart, agents ?? [], tiers),
    [detail, agents, tiers],
  );
  if (problem) return <ProblemView of={problem} />;
  if (!detail || !crew) return <Loading />;
  return (
    <>
      <h1 tabIndex={-1}><Text of={detail.org_name || org} most={200} /></h1>
      {detail.description && <p class="lead"><Text of={detail.description} /></p>}
      {detail.standing === "stale" && (
        <p class="note warn">The documents on disk have errors. This is the last valid version. <a href={linkTo(["orgs", org, "findings"])}>See the findings</a>.</p>
      )}
      <CrewView org={org} crew={crew} address={address} hasAgents={(agents?.length ?? 0) > 0} />
      {[noAgents, noVacancies].filter((each) => each !== undefined).map((each) => <ProblemNote key={each.code} of={each} />)}
      {agents && vacancies && <Apart org={org} hasAgents={agents.length > 0} idle={detail.agents_without_role} vacancies={vacancies.vacancies} crew={crew} />}
    </>
  );
}

/** The worst PACE tier that the agents of each role have reported. */
function listTiers(lines: readonly Schemas["BoardLine"][]): ReadonlyMap<string, string> {
  const order = ["emergency", "contingent", "alternate", "primary"];
  const tiers = new Map<string, string>();
  for (const { role_id: role, pace_level: tier } of lines) {
    const before = tiers.get(role);
    if (!before || order.indexOf(tier) < order.indexOf(before)) tiers.set(role, tier);
  }
  return tiers;
}

/** The hand-offs between roles that are shown, and a sentence about them. */
function listHandoffs(rows: readonly Post[]): { links: readonly Link[]; text: string } {
  const shown = new Set(rows.map(({ role }) => role.role_id));
  const links = rows.flatMap(({ role }) => role.handoff_targets.filter((id) => shown.has(id)).map((id) => ({ from: role.role_id, to: id, kind: "handoffs" })));
  const text = `${plural(links.length, "hand-off")} between the roles that are shown`;
  return links.length > MOST_LINKS
    ? { links: [], text: `${text}. At most ${MOST_LINKS} can be drawn, so none is. Search, focus on a part of the chart or close roles to see fewer` }
    : { links, text };
}

/** What is drawn over the chart from the role that the address points at. */
function useLinks(org: string, role: string, overlay: string): { links: readonly Link[]; text: string } {
  const wanted = Boolean(role && overlay);
  const { answer } = useAnswer(`links ${org} ${wanted ? role : ""}`, async () => (wanted ? get("/v1/orgs/{org}/roles/{role}", { org, role }) : undefined));
  return useMemo(() => {
    if (!answer || !overlay) return { links: [], text: "" };
    const links = overlay === "handoffs"
      ? [...answer.handoff_targets.map(({ id }) => ({ from: role, to: id, kind: overlay })), ...answer.handoff_sources.map(({ id }) => ({ from: id, to: role, kind: overlay }))]
      : answer.escalation.map(({ id }) => ({ from: role, to: id, kind: overlay }));
    const text = overlay === "handoffs" ? `${plural(answer.handoff_targets.length, "role")} may get work from it, and ${plural(answer.handoff_sources.length, "role")} may hand work to it` : `it escalates to ${plural(new Set(answer.escalation.map(({ id }) => id)).size, "role")}`;
    return { links, text };
  }, [answer, overlay, role]);
}

function CrewView({ org, crew, address, hasAgents }: { org: string; crew: Crew; address: Address; hasAgents: boolean }): JSX.Element {
  const { view = "chart", q = "", focus = "", color = "department", toggled = "", at = "", overlay = "", regions = "" } = address.query;
  const isOfAll = overlay === "all";
  const ofRole = useLinks(org, at, isOfAll ? "" : overlay);
  const focused = crew.posts.get(focus);
  const roots = useMemo(() => (focused ? [focused] : crew.roots), [crew, focused]);
  const openLevel = useMemo(() => chooseOpenLevel(roots), [roots]);
  const changed = useMemo(() => new Set(toggled.split(",").filter(Boolean)), [toggled]);
  const search = useMemo(() => (q.trim() ? findPosts(crew, q) : null), [crew, q]);
  const pointed = crew.posts.get(at);
  const above = useMemo(() => new Set(pointed ? listAbove(crew, pointed).map((post) => post.role.role_id) : []), [crew, pointed]);
  const isOpen = useCallback(
    (post: Post) => {
      const isOpenAtFirst = post.level < openLevel || above.has(post.role.role_id);
      return post.below.length > 0 && (search !== null || isOpenAtFirst !== changed.has(post.role.role_id));
    },
    [search, openLevel, above, changed],
  );
  const coloring = useMemo(() => chooseColoring(crew, color, hasAgents), [crew, color, hasAgents]);
  const rows = useMemo(() => listRows(roots, isOpen, search?.shown ?? null), [roots, isOpen, search]);
  const { links, text } = useMemo(() => (isOfAll && view === "chart" ? listHandoffs(rows) : ofRole), [isOfAll, view, rows, ofRole]);
  const toggle = (post: Post): void => {
    const ids = new Set(changed);
    if (!ids.delete(post.role.role_id)) ids.add(post.role.role_id);
    changeQuery(address, { toggled: [...ids].join(",") });
  };
  if (!crew.posts.size) {
    return <p class="note">This organization has no role yet. <code>orgkernel new role</code> adds one.</p>;
  }
  return (
    <section aria-label="Roles">
      <div class="tools">
        <div class="switch" role="group" aria-label="Show as">
          {[["chart", "Chart"], ["table", "Table"]].map(([name, title]) => (
            <button key={name} type="button" aria-pressed={view === name} onClick={() => changeQuery(address, { view: name === "chart" ? "" : name, toggled }, false)}>{title}</button>
          ))}
        </div>
        <label class="field grow">
          <span>Search</span>
          <input type="search" value={q} placeholder="role, domain, department or agent" onInput={(event) => changeQuery(address, { q: event.currentTarget.value })} />
        </label>
        <Choice label="Color by" value={color} options={[...COLORINGS].map(([name, [title]]) => [name, title] as const)} onChange={(name) => changeQuery(address, { color: name === "department" ? "" : name })} />
        {view === "chart" && <Choice label="Draw" value={overlay} options={[["", "Command only"], ["all", "Hand-offs of all roles"], ["handoffs", "Hand-offs of a role"], ["escalation", "Escalation of a role"]]} onChange={(value) => changeQuery(address, { overlay: value })} />}
        {view === "chart" && <Choice label="Regions" value={regions} options={[["", "None"], ...[...REGIONS].map(([name, [title]]) => [name, title] as const)]} onChange={(value) => changeQuery(address, { regions: value })} />}
        <p class="muted" role="status">
          {search ? `${plural(search.matches.size, "role")} of ${crew.posts.size.toLocaleString("en-US")}` : plural(crew.posts.size, "role")}
        </p>
      </div>
      {focused && (
        <nav aria-label="Chain of command" class="trail">
          <a href={linkTo(address.path, { ...address.query, focus: "" })}>All roles</a>
          {listAbove(crew, focused).map((post) => (
            <span key={post.role.role_id}> › <a href={linkTo(address.path, { ...address.query, focus: post.role.role_id })}><bdi>{post.role.role_name.slice(0, 60)}</bdi></a></span>
          ))}
        </nav>
      )}
      {overlay && view === "chart" && (
        <p class="muted" role="status">{isOfAll ? `${text}.` : pointed ? <><a href={linkTo(["orgs", org, "roles", at])}><bdi>{pointed.role.role_name.slice(0, 80)}</bdi></a>: {text || "loading"}.</> : "Choose ⇄ on a role to draw its lines."}</p>
      )}
      {search && !search.matches.size ? (
        <p class="note">No role fits these words. A search looks at names, ids, types, departments, domains and agents.</p>
      ) : view === "table" ? (
        <Treegrid org={org} rows={rows} at={at} isOpen={isOpen} coloring={coloring} onToggle={toggle} />
      ) : (
        <Chart
          org={org} roots={roots} isOpen={isOpen} shown={search?.shown ?? null} at={at} matches={search?.matches ?? null} coloring={coloring} links={links} regions={REGIONS.get(regions)?.[1] ?? null}
          onPoint={overlay && !isOfAll ? (post) => changeQuery(address, { at: post.role.role_id, overlay }, false) : undefined} onToggle={toggle} onFocus={(post) => changeQuery(address, { focus: post.role.role_id }, false)}
        />
      )}
    </section>
  );
}

function listAbove(crew: Crew, post: Post): Post[] {
  const above = post.superior === null ? undefined : crew.posts.get(post.superior);
  return [...(above ? listAbove(crew, above) : []), post];
}

function chooseColoring(crew: Crew, name: string, hasAgents: boolean): Coloring {
  const [title, read] = COLORINGS.get(name) ?? COLORINGS.get("department")!;
  const values = [...new Set([...crew.posts.values()].map(read))].sort();
  return { title, read, hasAgents, tone: (value) => values.indexOf(value) % TONES };
}

function Apart({ org, hasAgents, idle, vacancies, crew }: { org: string; hasAgents: boolean; idle: readonly string[]; vacancies: readonly Schemas["Vacancy"][]; crew: Crew }): JSX.Element | null {
  if (!hasAgents && !idle.length) return <p class="note">No crew is declared, so roles have no agents. A <code>crew_roster</code> document names agents and the roles that they fill.</p>;
  return (
    <div class="columns">
      <Section title="Vacancies" count={vacancies.length}>
        {vacancies.length ? (
          <ul class="plain">
            {vacancies.map((each) => (
              <li key={each.role_id}>
                <a href={linkTo(["orgs", org, "roles", each.role_id])}><Name of={crew.posts.get(each.role_id)?.role.role_name ?? each.role_id} most={80} /></a>: <Sentence of={each.text} />
                <WhyNote why={each.why} about={each.role_id} />
                {each.candidates.length > 0 && (
                  <p class="small">
                    Could fill it: {each.candidates.map((candidate, number) => (
                      <span key={candidate.agent_id}>{number > 0 && "; "}<a href={linkTo(["orgs", org, "agents", candidate.agent_id])}>{candidate.agent_id}</a>{candidate.missing.length > 0 && ` (lacks ${candidate.missing.join(", ")})`}</span>
                    ))}
                  </p>
                )}
              </li>
            ))}
          </ul>
        ) : <p class="muted">Every role has an agent at work.</p>}
      </Section>
      <Section title="Agents without a role" count={idle.length}>
        {idle.length ? (
          <ul class="plain">
            {idle.map((agent) => <li key={agent}><a href={linkTo(["orgs", org, "agents", agent])}>{agent}</a></li>)}
          </ul>
        ) : <p class="muted">Every agent fills a role.</p>}
      </Section>
    </div>
  );
}
