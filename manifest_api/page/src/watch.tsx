// A live board of the reports. What no agent has reported is shown as silence, and is never guessed.

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { changeQuery, linkTo } from "./address";
import { useAnswer, useVersion } from "./answers";
import { follow, get, getAll } from "./client";
import type { Schemas } from "./client";
import { Choice, Loading, Name, plural, ProblemNote, ProblemView, Text, words } from "./parts";
import type { ViewProps } from "./parts";
import { exact, relative, toSeconds, useNow, When } from "./times";

type Line = Schemas["BoardLine"];
/** How often the board is asked for while no stream is open. */
const POLL_MILLISECONDS = 5_000;
const TIERS = ["emergency", "contingent", "alternate", "primary"] as const;
const SIGNS: Readonly<Record<string, string>> = { primary: "●", alternate: "◐", contingent: "◔", emergency: "○" };

export function WatchView({ org, address }: ViewProps): JSX.Element {
  const { role = "", show = "", q = "" } = address.query;
  const { answer: detail, problem } = useAnswer(`organization ${org}`, () => get("/v1/orgs/{org}", { org }));
  const { lines, link, problem: noBoard } = useBoard(org);
  const now = useNow(1);
  const rows = useMemo(() => arrange(lines ?? [], detail?.chart ?? []), [lines, detail]);
  if (problem ?? noBoard) return <ProblemView of={(problem ?? noBoard)!} />;
  if (!detail || !lines) return <Loading />;
  const wanted = q.toLowerCase();
  const shown = rows.filter(({ line, name, roleId }) => {
    const state = line ? (isOverdue(line, now) ? "overdue" : line.pace_level === "primary" && line.health === "nominal" ? "" : "trouble") : "silent";
    return (!show || state === show || (show === "reporting" && line !== undefined)) && `${roleId} ${name} ${line?.task ?? ""} ${line?.agent_id ?? ""}`.toLowerCase().includes(wanted);
  });
  const troubled = lines.filter((line) => line.pace_level !== "primary" || line.health !== "nominal").length;
  const overdue = lines.filter((line) => isOverdue(line, now)).length;
  const silent = rows.filter((row) => !row.line).length;
  return (
    <>
      <h1 tabIndex={-1}>Watch</h1>
      <p class="muted" role="status"><span class={`link ${link}`} aria-hidden="true">●</span> {LINKS[link]}</p>
      <ul class="figures">
        <li><strong class="figure">{(rows.length - silent).toLocaleString("en-US")}</strong> reporting</li>
        <li class={troubled ? "warn" : ""}><strong class="figure">{troubled.toLocaleString("en-US")}</strong> in trouble</li>
        <li class={overdue ? "warn" : ""}><strong class="figure">{overdue.toLocaleString("en-US")}</strong> overdue</li>
        <li><strong class="figure">{silent.toLocaleString("en-US")}</strong> never reported</li>
      </ul>
      {role && <Timeline org={org} role={role} newest={lines.filter((line) => line.role_id === role).reduce((most, line) => Math.max(most, line.number), 0)} onClose={() => changeQuery(address, { role: "" }, false)} />}
      {!lines.length ? (
        <p class="note">No agent has reported yet. A runtime sends SALUTE reports to <code>POST /v1/orgs/{org}/salute</code>, and <code>orgkernel salute submit</code> reads them from files.</p>
      ) : null}
      <div class="tools">
        <label class="field grow"><span>Search</span><input type="search" value={q} placeholder="role, agent or task" onInput={(event) => changeQuery(address, { q: event.currentTarget.value })} /></label>
        <Choice label="Show" value={show} options={[["", "All roles"], ["reporting", "Reporting"], ["trouble", "In trouble"], ["overdue", "Overdue"], ["silent", "Never reported"]]} onChange={(value) => changeQuery(address, { show: value })} />
        <p class="muted" role="status">{plural(shown.length, "row")}</p>
      </div>
      <div class="scroll" tabIndex={0} role="group" aria-label="Board">
        <table class="board">
          <thead><tr><th scope="col">Role</th><th scope="col">PACE tier</th><th scope="col">State</th><th scope="col">Does now</th><th scope="col" class="number">Progress</th><th scope="col" class="number">Reported</th></tr></thead>
          <tbody>{shown.slice(0, MOST_ROWS).map((row) => <BoardRow key={row.key} org={org} row={row} now={now} isOpen={role === row.roleId} onOpen={() => changeQuery(address, { role: role === row.roleId ? "" : row.roleId }, false)} />)}</tbody>
        </table>
      </div>
      {shown.length > MOST_ROWS && <p class="muted">The first {MOST_ROWS} rows are shown. Search to see others.</p>}
    </>
  );
}

const MOST_ROWS = 300;
const LINKS = {
  live: "Live: reports appear as they arrive.",
  polling: "No stream is open, so the board is asked for every five seconds.",
} as const;

interface BoardEntry {
  readonly key: string;
  readonly roleId: string;
  readonly name: string;
  readonly line?: Line;
}

/** Trouble first, then reports by role, then the roles that are silent. */
function arrange(lines: readonly Line[], chart: readonly Schemas["RoleLine"][]): BoardEntry[] {
  const names = new Map(chart.map((role) => [role.role_id, role.role_name]));
  const entries: BoardEntry[] = lines.map((line) => ({ key: identify(line), roleId: line.role_id, name: names.get(line.role_id) ?? line.role_name, line }));
  const reporting = new Set(lines.map((line) => line.role_id));
  const rank = ({ line }: BoardEntry): number => (line ? TIERS.indexOf(line.pace_level) - (line.health === "critical" ? 2 : line.health === "degraded" ? 1 : 0) : 9);
  entries.sort((one, other) => rank(one) - rank(other));
  return [...entries, ...chart.filter((role) => !reporting.has(role.role_id)).map((role) => ({ key: role.role_id, roleId: role.role_id, name: role.role_name }))];
}

function identify(line: Line): string {
  return `${line.role_id}\n${line.agent_id}\n${line.agent_number}`;
}

function isOverdue(line: Line, now: number): boolean {
  return line.stale_after_seconds !== null && now - toSeconds(line.at) > line.stale_after_seconds;
}

function BoardRow({ org, row, now, isOpen, onOpen }: { org: string; row: BoardEntry; now: number; isOpen: boolean; onOpen: () => void }): JSX.Element {
  const { line } = row;
  const title = <a href={linkTo(["orgs", org, "roles", row.roleId])}><Name of={row.name || row.roleId} most={80} /></a>;
  if (!line) {
    return <tr class="silent"><th scope="row">{title}</th><td colSpan={4}>silent: no report</td><td class="number">never</td></tr>;
  }
  const overdue = isOverdue(line, now);
  return (
    <tr class={overdue ? "overdue" : ""}>
      <th scope="row">
        {title}
        {(line.agent_id || line.agent_number > 0) && <p class="small muted">{line.agent_id ? <a href={linkTo(["orgs", org, "agents", line.agent_id])}>{line.agent_id}</a> : <>agent {line.agent_number}</>}</p>}
        <button type="button" class="quiet" aria-expanded={isOpen} aria-label={`Timeline of ${row.name.slice(0, 80)}`} onClick={onOpen}>timeline</button>
      </th>
      <td class="nowrap"><span class={`tier ${line.pace_level}`}><span aria-hidden="true">{SIGNS[line.pace_level]}</span> {line.pace_level}</span></td>
      <td>{words(line.state)}{line.health !== "nominal" && <p class="small warn">{line.health}</p>}</td>
      <td>{line.task ? <Text of={line.task} most={160} /> : <span class="muted">no task reported</span>}{line.tool && <p class="small muted">with <code><bdi>{line.tool.slice(0, 80)}</bdi></code></p>}</td>
      <td class="number">{Math.round(line.progress * 100)}&#8239;%<progress max="1" value={line.progress} aria-label="Progress" /></td>
      <td class="number"><time title={exact(line.at)}>{relative(toSeconds(line.at), now)}</time>{overdue && <p class="small warn">overdue</p>}{line.ahead_seconds > 0 && <p class="small warn">clock {line.ahead_seconds} s ahead</p>}</td>
    </tr>
  );
}

/** The latest reports: from the stream, and by asking again while there is none. */
function useBoard(org: string): { lines?: readonly Line[]; link: keyof typeof LINKS; problem?: Schemas["Problem"] } {
  const version = useVersion();
  const [asked, setAsked] = useState(0);
  const [link, setLink] = useState<keyof typeof LINKS>("polling");
  const { answer, problem } = useAnswer(`board ${org} ${asked}`, () => getBoard(org));
  const [kept, setKept] = useState<{ org: string; lines: readonly Line[] }>();
  useEffect(() => {
    if (answer) setKept({ org, lines: answer });
  }, [answer]);
  useEffect(() => {
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = async (): Promise<void> => {
      try {
        await follow("/v1/orgs/{org}/salute/stream", { org }, {}, ending.signal, () => {
          setLink("live");
          // What arrived between the answer and the stream.
          setAsked((count) => count + 1);
        }, (data) => {
          const line = JSON.parse(data) as Line;
          if (typeof line.role_id !== "string") return;
          setKept((before) => before && { org, lines: [...before.lines.filter((each) => identify(each) !== identify(line)), line] });
        });
      } catch {
        // The banner of the page says if the server is gone as a whole.
      }
      if (!ending.signal.aborted) setLink("polling");
      if (!ending.signal.aborted) timer = setTimeout(() => void connect(), POLL_MILLISECONDS);
    };
    void connect();
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [org, version]);
  // A proxy may hold a stream back without closing it, so an open stream is checked too, only less often.
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setAsked((count) => count + 1), POLL_MILLISECONDS * (link === "live" ? 6 : 1));
    return () => clearInterval(timer);
  }, [org, link]);
  const lines = kept?.org === org ? kept.lines : undefined;
  return { link, ...(lines && { lines }), ...(problem && { problem }) };
}

async function getBoard(org: string): Promise<Line[]> {
  return getAll("/v1/orgs/{org}/salute", { org }, (page) => page.lines);
}

const STRIP_WIDTH = 960;

/** The stored reports of one role: a strip of its PACE tiers over time, and each report. */
function Timeline({ org, role, newest, onClose }: { org: string; role: string; newest: number; onClose: () => void }): JSX.Element {
  const { answer, problem } = useAnswer(`history ${org} ${role} ${newest}`, () => get("/v1/orgs/{org}/salute/{role}/history", { org, role }, { limit: "200" }));
  const reports = answer?.reports ?? [];
  const times = reports.map((each) => toSeconds(each.at));
  const first = Math.min(...times);
  const span = Math.max(...times) - first || 1;
  const place = (at: number): number => ((at - first) / span) * (STRIP_WIDTH - 12);
  return (
    <section class="question" aria-label="Timeline">
      <h2>Timeline of <code><bdi>{role}</bdi></code> <button type="button" class="quiet" onClick={onClose}>close</button></h2>
      {problem ? <ProblemNote of={problem} /> : !answer ? <Loading /> : !reports.length ? <p class="muted">This role has not reported.</p> : (
        <>
          {reports.length > 1 && (
            <figure>
              <svg class="strip" viewBox={`0 0 ${STRIP_WIDTH} 28`} preserveAspectRatio="none" role="img" aria-label={`${plural(reports.length, "report")} from ${exact(first)} to ${exact(first + span)}`}>
                {reports.map((each, number) => (
                  <rect key={each.number} class={`tier-${each.pace_level}`} x={place(times[number] ?? first)} y="4" width={number ? Math.max(12, place(times[number - 1] ?? first) - place(times[number] ?? first)) : 12} height="20" />
                ))}
              </svg>
              <figcaption class="small muted"><span>{exact(first)}</span><span>{exact(first + span)}</span></figcaption>
            </figure>
          )}
          <div class="scroll" tabIndex={0} role="group" aria-label="Reports">
            <table>
              <thead><tr><th scope="col">When</th><th scope="col">PACE tier</th><th scope="col">State</th><th scope="col">Health</th><th scope="col" class="number">Progress</th><th scope="col">Task</th><th scope="col">SALUTE</th></tr></thead>
              <tbody>{reports.map((each, number) => <ReportRow key={each.number} of={each} before={reports[number + 1]} />)}</tbody>
            </table>
          </div>
          {answer.next && <p class="muted">The latest {reports.length} reports are shown. <code>GET /v1/orgs/{org}/salute/{role}/history</code> has the others.</p>}
        </>
      )}
    </section>
  );
}

function ReportRow({ of, before }: { of: Schemas["ReportDetail"]; before: Schemas["ReportDetail"] | undefined }): JSX.Element {
  const changed = before && before.pace_level !== of.pace_level;
  return (
    <tr>
      <td><When at={of.at} /><p class="small muted nowrap">{exact(of.at)}</p></td>
      <td class="nowrap"><span class={`tier ${of.pace_level}`}><span aria-hidden="true">{SIGNS[of.pace_level]}</span> {of.pace_level}</span>{changed && <p class="small muted">was {before.pace_level}</p>}</td>
      <td>{words(of.state)}</td>
      <td class={of.health === "nominal" ? "" : "warn"}>{of.health}</td>
      <td class="number">{Math.round(of.progress * 100)}&#8239;%</td>
      <td>{of.task ? <Text of={of.task} most={160} /> : <span class="muted">none reported</span>}</td>
      <td><details><summary>all fields</summary><pre tabIndex={0}>{JSON.stringify(of.report, null, 1).slice(0, 6_000)}</pre></details></td>
    </tr>
  );
}

