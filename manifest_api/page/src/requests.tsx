// Requests and grants: what each would open is shown before anything is confirmed.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { changeQuery } from "./address";
import { useAnswer } from "./answers";
import { get, getAll, hasKey, post, Refused, refresh } from "./client";
import type { Schemas } from "./client";
import { GrantForm, GrantTable } from "./grants";
import { Choice, Loading, plural, ProblemNote, ProblemView, Section, SubjectLink, Text } from "./parts";
import type { ViewProps } from "./parts";
import { Place } from "./place";
import { When } from "./times";
import { Effects, Grantors } from "./widening";

type PermissionRequest = Schemas["PermissionRequest"];
const APPROVALS: Readonly<Record<string, string>> = { once: " for one use", day: " for a day", always: " until it is revoked" };
const STATES = ["pending", "approved", "denied", "expired"] as const;

export function RequestsView({ org, address }: ViewProps): JSX.Element {
  const { answer: requests, problem } = useAnswer(`requests ${org}`, () => getAll("/v1/orgs/{org}/requests", { org }, (page) => page.requests));
  const { status = "pending", open = "" } = address.query;
  if (problem) return <ProblemView of={problem} />;
  if (!requests) return <Loading />;
  const shown = requests.filter((each) => status === "all" || each.status === status).reverse();
  const counts = STATES.map((each) => [each, `${each} (${requests.filter((request) => request.status === each).length})`] as const);
  return (
    <>
      <h1 tabIndex={-1}>Requests and grants</h1>
      {!hasKey() && <p class="note">You can read everything here. To decide, sign in with a key that has the key scope <code>approve</code> or <code>grant</code>.</p>}
      <Section title="Requests" count={shown.length}>
        <div class="tools">
          <Choice label="Status" value={status} options={[...counts, ["all", `all (${requests.length})`]]} onChange={(value) => changeQuery(address, { status: value === "pending" ? "" : value, open: "" })} />
        </div>
        {shown.length ? (
          <ul class="cards wide">
            {shown.map((each) => (
              <RequestCard key={each.request_id} org={org} of={each} isOpen={open === each.request_id} onToggle={() => changeQuery(address, { open: open === each.request_id ? "" : each.request_id }, false)} />
            ))}
          </ul>
        ) : (
          <p class="note">
            {requests.length ? `No request is ${status}.` : <>No request has been made. An agent that is denied something asks with <code>orgkernel request make</code>, over MCP or over HTTP.</>}
          </p>
        )}
      </Section>
      <GrantTable org={org} address={address} />
      <GrantForm key={JSON.stringify(address.query)} org={org} address={address} />
    </>
  );
}

function RequestCard({ org, of, isOpen, onToggle }: { org: string; of: PermissionRequest; isOpen: boolean; onToggle: () => void }): JSX.Element {
  const expires = of.status === "pending" && <> · expires <When at={of.expires_at} /></>;
  return (
    <li id={of.request_id}>
      <p>
        <SubjectLink org={org} subject={of.requester} /> asks for <strong>{of.level}</strong> of <Resources of={of.resources} />
        {of.action && <> for the action <code><bdi>{of.action}</bdi></code></>}
        {of.waives.length > 0 && <span class="warn"> with a waiver of {of.waives.join(", ")}</span>}
      </p>
      {of.reason && <p class="quote"><Text of={of.reason} most={300} /></p>}
      {of.summary && <p><Text of={of.summary} most={300} /></p>}
      <p class="small muted"><code>{of.request_id}</code> · <When at={of.created_at} />{expires}</p>
      <Approvals org={org} of={of} />
      {of.status !== "pending" && (
        <p class="small">
          <span class={`outcome ${of.status === "approved" ? "allow" : of.status === "denied" ? "deny" : ""}`}>{of.status === "approved" ? "✓ " : of.status === "denied" ? "✕ " : ""}{of.status}{APPROVALS[of.response ?? ""]}</span>
          {of.responder && <> by <SubjectLink org={org} subject={of.responder} /></>}
          {of.response_at !== null && <> <When at={of.response_at} /></>}
          {of.response_reason && <>: <Text of={of.response_reason} most={300} /></>}
          {of.grant_id && <> · grant <code>{of.grant_id}</code></>}
        </p>
      )}
      {of.status === "pending" && <p><button type="button" aria-expanded={isOpen} onClick={onToggle}>{isOpen ? "Close" : "Decide …"}</button></p>}
      {isOpen && of.status === "pending" && <Decide org={org} of={of} />}
    </li>
  );
}

/** The approvals so far, if policies require several. */
function Approvals({ org, of }: { org: string; of: PermissionRequest }): JSX.Element | null {
  const given = of.approvals ?? [];
  if (!given.length) return null;
  return (
    <ul class="plain small">
      {given.map((each) => (
        <li key={each.approver}>✓ approved{APPROVALS[each.approval ?? "once"]} by <SubjectLink org={org} subject={each.approver} /> <When at={each.at} />{each.reason && <>: <Text of={each.reason} most={300} /></>}</li>
      ))}
    </ul>
  );
}

/** What policies require of the request, and what is missing. */
function Needs({ of }: { of: Schemas["RequestInFull"] }): JSX.Element | null {
  const needs = of.needs ?? [];
  if (!needs.length) return null;
  return (
    <>
      <h3>Required approvals</h3>
      <ul class="plain">
        {needs.map((each) => (
          <li key={each.policy}>
            <strong>{plural(each.missing, "approval")}</strong> of {each.count} still needed{each.by.length > 0 && <> from <Resources of={each.by} /></>}: policy <code>{each.policy}</code> <Place file={each.file} line={each.line} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Resources({ of }: { of: readonly string[] }): JSX.Element {
  return <>{of.map((each, number) => <span key={each}>{number > 0 && ", "}<code><bdi>{each.slice(0, 120)}</bdi></code></span>)}</>;
}

/** The effect, who may decide, and the two answers. */
function Decide({ org, of }: { org: string; of: PermissionRequest }): JSX.Element {
  const [isFull, setIsFull] = useState(false);
  const shown = isFull ? "full" : "masked";
  const { answer: effect, problem } = useAnswer(`widening ${org} ${of.request_id} ${shown}`, () => get("/v1/orgs/{org}/requests/{request_id}/widening", { org, request_id: of.request_id }, { arguments: shown }));
  const [approval, setApproval] = useState<"once" | "day" | "always">("once");
  const [reason, setReason] = useState("");
  const [refusal, setRefusal] = useState<Schemas["Problem"]>();
  const [busy, setBusy] = useState(false);
  const decide = (answer: "approve" | "deny"): void => {
    setBusy(true);
    setRefusal(undefined);
    const names = { org, request_id: of.request_id };
    const sent = answer === "approve"
      ? post("/v1/orgs/{org}/requests/{request_id}/approve", names, { approval, reason })
      : post("/v1/orgs/{org}/requests/{request_id}/deny", names, { reason });
    sent.then(refresh, (error: unknown) => {
      if (error instanceof Refused) setRefusal(error.problem);
      else throw error;
    }).finally(() => setBusy(false));
  };
  if (problem) return <ProblemNote of={problem} />;
  if (!effect) return <Loading />;
  return (
    <div class="inset">
      <Call of={effect} isBound={of.input_digest !== null} onShowAll={() => setIsFull(true)} />
      <h3>What an approval would open</h3>
      <Effects org={org} of={effect.widens} empty="Nothing: the requester may do this already, or something else denies it. Look at the access view before you approve." />
      <Needs of={effect} />
      <Grantors org={org} of={effect.grantors} />
      <form class="tools" onSubmit={(event) => { event.preventDefault(); decide("approve"); }}>
        <Choice label="Approve" value={approval} options={[["once", "for one use"], ["day", "for a day"], ["always", "until it is revoked"]]} onChange={(value) => setApproval(value as typeof approval)} />
        <label class="field grow">
          <span>Your reason, for the requester and the audit</span>
          <input value={reason} maxLength={2_000} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <button type="submit" class="primary" disabled={busy}>Approve{effect.widens.length > 0 && `: ${plural(effect.widens.length, "action")}`}</button>
        <button type="button" disabled={busy || !reason.trim()} onClick={() => decide("deny")}>Deny</button>
      </form>
      {!reason.trim() && <p class="small muted">A denial needs a reason, so that the requester knows what to do.</p>}
      {refusal && <><ProblemNote of={refusal} /><Grantors org={org} of={effect.grantors} /></>}
    </div>
  );
}

/** The arguments of the call that a request is for. Values stand in blocks, so that paths and diffs can be read. */
function Call({ of, isBound, onShowAll }: { of: Schemas["RequestInFull"]; isBound: boolean; onShowAll: () => void }): JSX.Element | null {
  const values = of.arguments ?? [];
  if (!isBound) return null;
  const isCut = values.some((each) => each.is_masked || each.left_out);
  return (
    <>
      <h3>The call</h3>
      {of.arguments_state === "withheld" && <p class="note">Its arguments are shown to a key with the key scope <code>approve</code>.</p>}
      {of.arguments_state === "not_kept" && <p class="note">Its arguments are not kept, because its input is very long or was given as a digest only.</p>}
      {(of.arguments_state === "masked" || of.arguments_state === "full") && !values.length && <p class="muted">It has no arguments.</p>}
      <dl class="arguments">
        {values.map((each) => (
          <div key={each.name}>
            <dt><code><bdi>{each.name}</bdi></code>{each.is_masked && <span class="warn"> masked</span>}{Boolean(each.left_out) && <span class="muted"> {plural(each.left_out ?? 0, "more character")}</span>}</dt>
            <dd><pre tabIndex={0}><bdi>{each.value}</bdi></pre></dd>
          </div>
        ))}
      </dl>
      {isCut && <p><button type="button" onClick={onShowAll}>Show everything</button></p>}
    </>
  );
}
