// The page: which view an address names, what stands around it, and the key.

import { Component, render } from "preact";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { goTo, linkTo, useAddress } from "./address";
import type { Address } from "./address";
import { startBeats, useAnswer, useLost, useVersion } from "./answers";
import { get, getAll, hasKey, Refused, refresh, useKeyFromNowOn } from "./client";
import type { Schemas } from "./client";
import type { Attempt } from "./issuer";
import { Palette, TITLES } from "./palette";
import { OrgOfView } from "./place";
import { Loading, ProblemNote, ProblemView, Name, Text, plural } from "./parts";
import type { ViewProps } from "./parts";

type Line = Schemas["OrganizationLine"];
type View = (props: ViewProps) => JSX.Element;
/** The views by the word in their address. Each is a part of its own, which is loaded when it is first opened. */
const VIEWS: Readonly<Record<string, () => Promise<View>>> = {
  organization: () => import("./organization").then((part) => part.OrganizationView),
  roles: () => import("./role").then((part) => part.RoleView),
  agents: () => import("./role").then((part) => part.AgentView),
  bills: () => import("./bills").then((part) => part.BillsView),
  changes: () => import("./changes").then((part) => part.ChangesView),
  findings: () => import("./findings").then((part) => part.FindingsView),
  // A copy has no answers to these.
  ...(IS_COPY ? {} : {
    rules: () => import("./rules").then((part) => part.RulesView),
    access: () => import("./access").then((part) => part.AccessView),
    routing: () => import("./routing").then((part) => part.RoutingView),
    requests: () => import("./requests").then((part) => part.RequestsView),
    watch: () => import("./watch").then((part) => part.WatchView),
    work: () => import("./work").then((part) => part.WorkView),
    calls: () => import("./calls").then((part) => part.CallsView),
    audit: () => import("./audit").then((part) => part.AuditView),
  }),
};
const loaded = new Map<string, View>();

function Page(): JSX.Element {
  const address = useAddress();
  useVersion();
  const lost = useLost();
  const { answer: organizations, problem } = useAnswer("organizations", () => getAllOrganizations());
  const [top, org = "", view = "organization"] = address.path;
  const main = useRef<HTMLElement>(null);
  const place = address.path.join("/");

  useEffect(() => {
    const only = organizations?.length === 1 ? organizations[0] : undefined;
    if (!address.path.length && only) goTo(linkTo(["orgs", only.org_id, "organization"]), true);
  }, [organizations, place]);

  // A new view begins at its top, and its heading has the focus, as after the load of a page.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [place]);
  useEffect(() => {
    document.title = [address.path[3]?.slice(0, 80), view && top === "orgs" ? view : top, org, "orgkernel"].filter(Boolean).join(" · ");
  }, [place]);

  const needsKey = problem?.status === 401 || problem?.status === 403;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <header class="top">
        <a class="brand" href="#/"><span aria-hidden="true">◆</span> orgkernel</a>
        {top === "orgs" && org && (
          <>
            {organizations && organizations.length > 1 && <Chooser organizations={organizations} org={org} />}
            <nav aria-label="Views">
              {TITLES.map(([name, title]) => <a key={name} href={linkTo(["orgs", org, name])} aria-current={view === name ? "page" : undefined}>{title}</a>)}
            </nav>
          </>
        )}
        {top !== "orgs" && organizations && <nav aria-label="Views"><a href="#/">Organizations</a><a href="#/findings" aria-current={top === "findings" ? "page" : undefined}>Findings</a>{!IS_COPY && <a href="#/rules" aria-current={top === "rules" ? "page" : undefined}>Rules</a>}</nav>}
        <span class="end">
          {top === "orgs" && org && <Palette org={org} />}
          {!IS_COPY && <KeyMenu needed={needsKey} />}
        </span>
      </header>
      {lost && (
        <p class="banner" role="alert">
          The server does not answer. What you see was loaded before. The page tries again every few seconds. <button type="button" onClick={refresh}>Try now</button>
        </p>
      )}
      {IS_COPY && <CopyNote />}
      <main id="main" ref={main} tabIndex={-1}>
        <Fence key={place}>
          {problem ? <Refusal problem={problem} /> : !organizations ? <Loading /> : <Content address={address} organizations={organizations} />}
        </Fence>
      </main>
    </>
  );
}

/** What a copy is, and of which version. */
function CopyNote(): JSX.Element {
  const { answer } = useAnswer("snapshot", () => get("/v1/snapshot"));
  return (
    <aside class="banner calm" aria-label="About this copy">
      A copy without a server{answer && <>, of version <code title={answer.snapshot}>{answer.snapshot.replace("sha256:", "").slice(0, 12)}</code></>}. It has what the documents declare, and nothing that changes while agents work. It names lines of documents, but does not contain their text.
    </aside>
  );
}

async function getAllOrganizations(): Promise<Line[]> {
  return getAll("/v1/orgs", {}, (page) => page.organizations, "200");
}

function Content({ address, organizations }: { address: Address; organizations: readonly Line[] }): JSX.Element {
  const [top, org = "", view = "organization", id = ""] = address.path;
  if (top === undefined) return <Organizations of={organizations} />;
  if (top === "findings" || (top === "rules" && !IS_COPY)) return <LoadedView key={top} name={top} org="" address={address} />;
  const needsId = view === "roles" || view === "agents";
  if (top === "orgs" && org && Object.hasOwn(VIEWS, view) && (id || !needsId)) return <LoadedView key={`${org}/${view}`} name={view} org={org} address={address} />;
  if (IS_COPY && top === "orgs") return <><h1 tabIndex={-1}>This view needs a server</h1><p class="note">This is a copy. <code>orgkernel serve</code> in the folder of the documents shows the view.</p></>;
  return <><h1 tabIndex={-1}>No such view</h1><p class="note">This address names no view. <a href="#/">Go to the organizations</a>.</p></>;
}

/** A view, after its part of the page is loaded. */
function LoadedView({ name, ...props }: ViewProps & { name: string }): JSX.Element {
  const { answer, problem } = useAnswer(`view ${name}`, () => loadView(name));
  const View = loaded.get(name) ?? answer;
  if (problem && !View) return <ProblemView of={problem} />;
  return View ? <OrgOfView.Provider value={props.org}><View {...props} /></OrgOfView.Provider> : <Loading />;
}

async function loadView(name: string): Promise<View> {
  try {
    const view = await VIEWS[name]!();
    loaded.set(name, view);
    return view;
  } catch {
    // Is the server gone, or does it have another version of the page?
    await get("/v1/snapshot");
    throw new Refused({ type: "", title: "", status: 404, code: "", detail: "this part of the page is missing, because the server has another version of the page", help: "reload the page" } as Schemas["Problem"]);
  }
}

function Organizations({ of }: { of: readonly Line[] }): JSX.Element {
  if (!of.length) return <p class="note">This server has no organization yet. <code>orgkernel new my_org</code> creates one in its folder.</p>;
  return (
    <>
      <h1 tabIndex={-1}>Organizations</h1>
      <ul class="cards">
        {of.map((each) => (
          <li key={each.org_id}>
            <a href={linkTo(["orgs", each.org_id, "organization"])}><Name of={each.org_name || each.org_id} most={120} /></a>
            <p class="small muted">{plural(each.roles, "role")} · <code>{each.org_id}</code>{each.standing !== "served" && <span class="warn"> · {each.standing === "stale" ? "last valid version" : "not served, it has errors"}</span>}</p>
            <p><Text of={each.description} most={240} /></p>
          </li>
        ))}
      </ul>
    </>
  );
}

function Chooser({ organizations, org }: { organizations: readonly Line[]; org: string }): JSX.Element {
  return (
    <label class="field">
      <span class="hidden">Organization</span>
      <select value={org} onChange={(event) => goTo(linkTo(["orgs", event.currentTarget.value, "organization"]))}>
        {!organizations.some((each) => each.org_id === org) && <option value={org}>{org}</option>}
        {organizations.map((each) => <option key={each.org_id} value={each.org_id}>{(each.org_name || each.org_id).slice(0, 60)}</option>)}
      </select>
    </label>
  );
}

/** What a caller without the right sees. */
function Refusal({ problem }: { problem: Schemas["Problem"] }): JSX.Element {
  return (
    <>
      <h1 tabIndex={-1}>{problem.status === 403 ? "Your key may not do this" : "This server asks for a key"}</h1>
      <ProblemNote of={problem} />
      {problem.status === 401 && !IS_COPY && <SignIn />}
    </>
  );
}

function SignIn({ onDone }: { onDone?: () => void }): JSX.Element {
  const [secret, setSecret] = useState("");
  const use = (event: Event): void => {
    event.preventDefault();
    useKeyFromNowOn(secret.trim());
    setSecret("");
    onDone?.();
  };
  return (
    <form class="question" onSubmit={use}>
      <div class="tools">
        <label class="field grow">
          <span>API key or token</span>
          <input type="password" value={secret} required autocomplete="off" spellcheck={false} onInput={(event) => setSecret(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary">Sign in</button>
      </div>
      <IssuerSignIn {...(onDone && { onDone })} />
      <p class="small muted">The key stays in the memory of this tab. It is in no address, and it is gone when you reload or close the tab. <code>orgkernel key create</code> creates one.</p>
    </form>
  );
}

/** Sign in at the identity provider of the server, if it knows this page. */
function IssuerSignIn({ onDone }: { onDone?: () => void }): JSX.Element | null {
  const { answer: client } = useAnswer("sign-in", () => get("/v1/sign-in"));
  const [attempt, setAttempt] = useState<Attempt>();
  const [note, setNote] = useState("");
  const signal = useRef(new AbortController());
  const fail = (error: unknown): void => {
    if (!(error instanceof Error)) throw error;
    setNote(`Signing in did not work: ${error.message}.`);
  };
  const prepare = (): void => {
    setAttempt(undefined);
    if (client?.issuer) import("./issuer").then((part) => part.prepareSignIn(client)).then(setAttempt, fail);
  };
  useEffect(prepare, [client?.issuer]);
  useEffect(() => () => signal.current.abort(), []);
  if (!client?.issuer) return null;
  const start = (): void => {
    if (!attempt) return;
    signal.current.abort();
    signal.current = new AbortController();
    setNote("Sign in in the other window.");
    const { aborted } = signal.current.signal;
    attempt.finish(signal.current.signal).then(
      (token) => {
        useKeyFromNowOn(token);
        onDone?.();
      },
      (error: unknown) => {
        if (!aborted) fail(error);
        prepare();
      },
    );
    window.open(attempt.url, "_blank", "popup,width=520,height=720");
  };
  return (
    <div class="tools">
      <button type="button" disabled={!attempt} onClick={start}>Sign in at {new URL(client.issuer).host}</button>
      {note && <p class="small" role="status"><Name of={note} most={300} /></p>}
    </div>
  );
}

function KeyMenu({ needed }: { needed: boolean }): JSX.Element {
  const [open, setOpen] = useState(false);
  if (hasKey()) return <button type="button" onClick={() => useKeyFromNowOn("")}>Sign out</button>;
  if (needed) return <span class="muted small">not signed in</span>;
  return (
    <span class="menu">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>Sign in</button>
      {open && <div class="sheet-below"><SignIn onDone={() => setOpen(false)} /></div>}
    </span>
  );
}

/** A mistake of the page in one view leaves the other views and the navigation. */
class Fence extends Component<{ children: ComponentChildren }, { broken: boolean }> {
  override state = { broken: false };
  static override getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }
  override render(): ComponentChildren {
    return this.state.broken ? <p class="note problem" role="alert">This view cannot be shown, because of a mistake in the page. The HTTP API still answers.</p> : this.props.children;
  }
}

if (!IS_COPY) startBeats();
const root = document.getElementById("page");
if (root) render(<Page />, root);
