// What the last change of the documents did: who gained and lost what, in words, with the lines of both sides.

import type { JSX } from "preact";
import { changeQuery, linkTo } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { get } from "./client";
import type { Schemas } from "./client";
import { Choice, Loading, plural, ProblemNote, Sentence, show } from "./parts";
import { OrgOfView, Place } from "./place";
import type { ViewProps } from "./parts";
import { exact } from "./times";

type Report = Schemas["ChangeReport"];
type Change = Schemas["Change"];
const EFFECTS: Readonly<Record<string, readonly [string, string]>> = {
  widened: ["+", "gives more"],
  unclear: ["?", "may give more"],
  narrowed: ["−", "gives less"],
  neutral: ["~", "neither"],
};

export function ChangesView({ org, address }: ViewProps): JSX.Element {
  const { before = "", after = "" } = address.query;
  const chosen = { ...(before && { before }), ...(after && { after }) };
  // The list of versions stays while another comparison is loaded, so that its fields keep the focus.
  const { answer: last } = useAnswer(`changes ${org}`, () => get("/v1/orgs/{org}/changes", { org }));
  const { answer, problem } = useAnswer(`changes ${org} ${before} ${after}`, () => get("/v1/orgs/{org}/changes", { org }, chosen));
  return (
    <>
      <h1 tabIndex={-1}>Changes</h1>
      {last && last.versions.length > 1 && <Versions address={address} of={last} before={before || last.before || ""} after={after || last.after} />}
      {problem ? (
        <>
          <ProblemNote of={problem} />
          {(before || after) && <p><a href={linkTo(address.path)}>Compare the last change</a></p>}
        </>
      ) : answer ? <Comparison org={org} address={address} of={answer} /> : <Loading />}
    </>
  );
}

function Comparison({ org, address, of }: ViewProps & { of: Schemas["VersionChanges"] }): JSX.Element {
  if (of.report) {
    return (
      <>
        <p class="muted">From version <Digest of={of.before ?? ""} /> to <Digest of={of.after} />, {IS_COPY ? "the version of this copy" : of.after === of.snapshot ? "the version that answers" : "which a later version has replaced"}.</p>
        <OrgOfView.Provider value={of.after === of.snapshot ? org : ""}><ChangeList org={org} address={address} of={of.report} /></OrgOfView.Provider>
      </>
    );
  }
  if (of.versions.length > 1) return <p class="note">No version before this one is kept. Choose another one.</p>;
  return (
    <p class="note">
      The documents have not changed since this server started, at version <Digest of={of.snapshot} />. Edit one, and this page shows who gained and lost what. To compare with an earlier revision, run <code>orgkernel diff git:main</code>.
    </p>
  );
}

/** The two versions to compare, of those that this server keeps. */
function Versions({ address, of, before, after }: { address: Address; of: Schemas["VersionChanges"]; before: string; after: string }): JSX.Element {
  // A version that came back is in the list twice, and is the same.
  const ends = new Map([...of.versions].reverse().map(({ snapshot, until }) => [snapshot, until]));
  const options = [...ends].reverse().map(([digest, until]) => [digest, `${shorten(digest)}, ${until === null ? "answers now" : `until ${exact(until)}`}`] as const);
  return (
    <div class="tools">
      <Choice label="From" value={before} options={options} onChange={(value) => changeQuery(address, { before: value, after }, false)} />
      <Choice label="To" value={after} options={options} onChange={(value) => changeQuery(address, { before, after: value }, false)} />
      <button type="button" onClick={() => changeQuery(address, { before: after, after: before }, false)}>Swap</button>
    </div>
  );
}

function shorten(digest: string): string {
  return digest.replace("sha256:", "").slice(0, 12);
}

function Digest({ of }: { of: string }): JSX.Element {
  return <code title={of}>{shorten(of)}</code>;
}

/** A comparison: each group of changes below the edits that cause it. */
export function ChangeList({ org, address, of }: { org: string; address: Address; of: Report }): JSX.Element {
  const { effect = "", q = "" } = address.query;
  const wanted = q.toLowerCase();
  const shown = of.changes.filter((each) => (!effect || each.classification === effect) && `${each.sentence} ${each.org_id}`.toLowerCase().includes(wanted));
  const groups = new Map<string, Change[]>();
  for (const each of shown) groups.set(each.causes.join(), [...(groups.get(each.causes.join()) ?? []), each]);
  const quiet = of.edits.filter((each) => !each.has_effect);
  if (!of.changes.length && !of.edits.length) return <p class="note">Both versions answer every question alike.</p>;
  return (
    <>
      <ul class="figures">
        {(["widened", "unclear", "narrowed", "neutral"] as const).map((name) => (
          <li key={name} class={`effect ${name}`}><strong class="figure">{of.summary[name].toLocaleString("en-US")}</strong> <span aria-hidden="true">{EFFECTS[name]?.[0]}</span> {EFFECTS[name]?.[1]}</li>
        ))}
      </ul>
      {of.cut.length > 0 && <p class="note warn">Not every access question was asked about {of.cut.join(", ")}, because there are too many.</p>}
      {of.incomparable.map((each) => <p class="note problem" key={each}><Sentence of={each} />.</p>)}
      <div class="tools">
        <label class="field grow"><span>Search</span><input type="search" value={q} placeholder="role, tool or words" onInput={(event) => changeQuery(address, { q: event.currentTarget.value })} /></label>
        <Choice label="Effect" value={effect} options={[["", "All"], ...Object.entries(EFFECTS).map(([name, [, text]]) => [name, text] as const)]} onChange={(value) => changeQuery(address, { effect: value })} />
        <p class="muted" role="status">{plural(shown.length, "change")} by {plural(of.edits.length, "edit")}</p>
      </div>
      {[...groups].slice(0, 200).map(([causes, changes]) => <ChangeGroup key={causes} org={org} edits={(changes[0]?.causes ?? []).flatMap((number) => of.edits[number] ?? [])} changes={changes} />)}
      {groups.size > 200 && <p class="muted">The first 200 groups are shown. Search to see others.</p>}
      {quiet.length > 0 && (
        <details>
          <summary>{plural(quiet.length, "edit")} that no answer depends on</summary>
          <ul class="plain">{quiet.map((each, number) => <li key={number}><EditRow of={each} /></li>)}</ul>
        </details>
      )}
    </>
  );
}

function ChangeGroup({ org, edits, changes }: { org: string; edits: readonly Schemas["ReportedEdit"][]; changes: readonly Change[] }): JSX.Element {
  const only = changes.length === 1 && edits.length === 1 && changes[0]?.sentence === edits[0]?.sentence ? edits[0] : undefined;
  return (
    <section class="question" aria-label={edits[0]?.sentence ?? "Changes"}>
      {!only && edits.map((each, number) => <EditRow key={number} of={each} />)}
      <ul class="plain">
        {changes.map((each, number) => (
          <li key={number}>
            <p>
              <span class={`effect ${each.classification}`}><span aria-hidden="true">{EFFECTS[each.classification]?.[0]}</span><span class="hidden">{EFFECTS[each.classification]?.[1]}: </span></span>{" "}
              <Sentence of={each.sentence} />
              {each.role_id && <> <a class="small" href={linkTo(["orgs", org, "roles", each.role_id])}>show the role</a></>}
            </p>
          </li>
        ))}
      </ul>
      {only && <Sides of={only} />}
    </section>
  );
}

function EditRow({ of }: { of: Schemas["ReportedEdit"] }): JSX.Element {
  return (
    <div>
      <h2><Sentence of={of.sentence} /></h2>
      <Sides of={of} />
    </div>
  );
}

/** The value and the lines of both sides. A value with parts is described by the sentence. */
function Sides({ of }: { of: Schemas["ReportedEdit"] }): JSX.Element {
  const side = (title: string, value: unknown, why: readonly Schemas["Why"][]): JSX.Element | null => {
    const places = why.filter((each) => each.file).slice(0, 3);
    const isPlain = value !== null && value !== undefined && typeof value !== "object";
    if (!places.length && !isPlain) return null;
    return <p class="small"><span class="muted">{title}:</span> {isPlain && <code><bdi>{show(value).slice(0, 300)}</bdi></code>} {places.map((each, number) => <Place key={number} file={each.file} line={each.line} />)}</p>;
  };
  // The lines of an earlier version are no longer there to be opened.
  return <><OrgOfView.Provider value="">{side("before", of.before, of.why_before)}</OrgOfView.Provider>{side("after", of.after, of.why_after)}</>;
}
