// The grants in effect, what a revocation would close, and a new grant with what it would open.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { changeQuery } from "./address";
import type { Address } from "./address";
import { useAnswer } from "./answers";
import { get, getAll, post, Refused, refresh } from "./client";
import type { Schemas } from "./client";
import { Choice, Loading, ProblemNote, Section, SubjectLink, Text } from "./parts";
import { When } from "./times";
import { Effects, Grantors } from "./widening";

type Grant = Schemas["ListedGrant"];
type Terms = Schemas["GrantTerms"];
const LEVELS = ["observe", "read", "write", "full"] as const;
const LASTS: readonly (readonly [string, string])[] = [["3600", "an hour"], ["86400", "a day"], ["604800", "a week"], ["0", "until it is revoked"]];

export function GrantTable({ org, address }: { org: string; address: Address }): JSX.Element {
  const { answer: grants, problem } = useAnswer(`grants ${org}`, () => getAll("/v1/orgs/{org}/grants", { org }, (page) => page.grants));
  const { revoke = "" } = address.query;
  if (problem) return <Section title="Grants"><ProblemNote of={problem} /></Section>;
  if (!grants) return <Section title="Grants"><Loading /></Section>;
  const chosen = grants.find((each) => each.grant_id === revoke);
  return (
    <Section title="Grants in effect" count={grants.length}>
      {grants.length ? (
        <div class="scroll" tabIndex={0} role="group" aria-label="Grants">
          <table>
            <thead><tr><th scope="col">Subject</th><th scope="col">Resources</th><th scope="col">Level</th><th scope="col">Ends</th><th scope="col" class="number">Uses left</th><th scope="col">Reason</th><th scope="col">Issued</th><th scope="col"><span class="hidden">Revoke</span></th></tr></thead>
            <tbody>{grants.map((each) => <GrantRow key={each.grant_id} org={org} of={each} onRevoke={() => changeQuery(address, { revoke: each.grant_id, open: "" }, false)} />)}</tbody>
          </table>
        </div>
      ) : <p class="muted">No grant is in effect. Roles have what their profiles give them.</p>}
      {chosen && <Revocation key={revoke} org={org} of={chosen} onDone={() => changeQuery(address, { revoke: "" })} />}
    </Section>
  );
}

function GrantRow({ org, of, onRevoke }: { org: string; of: Grant; onRevoke: () => void }): JSX.Element {
  return (
    <tr>
      <th scope="row"><SubjectLink org={org} subject={of.subject} /><p class="small muted"><code>{of.grant_id}</code>{of.org_id === "*" && " · in every organization"}</p></th>
      <td>{of.resources.map((each) => <p key={each}><code><bdi>{each.slice(0, 120)}</bdi></code></p>)}{of.action && <p class="small">only <code>{of.action}</code></p>}</td>
      <td>{of.level}{of.waives.length > 0 && <p class="small warn">waives {of.waives.join(", ")}</p>}</td>
      <td>{of.expires_at === null ? <span class="muted">no end</span> : <When at={of.expires_at} />}{of.asleep_since !== null && <p class="small warn">suspended</p>}</td>
      <td class="number">{of.uses_left ?? <span class="muted">no limit</span>}</td>
      <td><Text of={of.reason} most={120} /></td>
      <td><When at={of.issued_at} /> <span class="small muted">by <Text of={of.issued_by} most={60} /></span></td>
      <td><button type="button" aria-label={`Revoke ${of.grant_id} …`} onClick={onRevoke}>Revoke …</button></td>
    </tr>
  );
}

function Revocation({ org, of, onDone }: { org: string; of: Grant; onDone: () => void }): JSX.Element {
  const { answer, problem } = useAnswer(`revocation ${org} ${of.grant_id}`, () => get("/v1/orgs/{org}/grants/{grant}/revocation", { org, grant: of.grant_id }));
  const [reason, setReason] = useState("");
  const [refusal, setRefusal] = useState<Schemas["Problem"]>();
  const confirm = (event: Event): void => {
    event.preventDefault();
    setRefusal(undefined);
    post("/v1/orgs/{org}/grants/{grant}/revoke", { org, grant: of.grant_id }, { reason }).then(
      () => { onDone(); refresh(); },
      (error: unknown) => {
        if (error instanceof Refused) setRefusal(error.problem);
        else throw error;
      },
    );
  };
  return (
    <section class="question" aria-label="Revoke a grant">
      <h3>What <code><bdi>{of.subject}</bdi></code> would lose without <code>{of.grant_id}</code></h3>
      {problem ? <ProblemNote of={problem} /> : !answer ? <Loading /> : <Effects org={org} of={answer.narrows} subject={of.subject} empty="Nothing: other grants or its roles allow the same." />}
      <form class="tools" onSubmit={confirm}>
        <label class="field grow"><span>Reason, for the audit</span><input value={reason} maxLength={2_000} onInput={(event) => setReason(event.currentTarget.value)} /></label>
        <button type="submit" class="primary">Revoke the grant</button>
        <button type="button" onClick={onDone}>Keep it</button>
      </form>
      {refusal && <ProblemNote of={refusal} />}
    </section>
  );
}

/** A new grant. The address has what is typed, so that another page can link to a filled form. */
export function GrantForm({ org, address }: { org: string; address: Address }): JSX.Element {
  const { answer: detail } = useAnswer(`organization ${org}`, () => get("/v1/orgs/{org}", { org }));
  const { query } = address;
  const [values, setValues] = useState({ subject: query.subject ?? "", resource: query.resource ?? "", level: query.level ?? "read", lasts: query.lasts ?? "86400", uses: query.uses ?? "", reason: query.reason ?? "" });
  const isAsked = Boolean(query.subject && query.resource);
  const isChanged = ["subject", "resource", "level", "lasts", "uses", "reason"].some((name) => values[name as keyof typeof values] !== (query[name] ?? { level: "read", lasts: "86400" }[name] ?? ""));
  const preview = (event: Event): void => {
    event.preventDefault();
    changeQuery(address, { ...values, subject: values.subject.trim(), resource: values.resource.trim() }, false);
  };
  const set = (name: keyof typeof values) => (event: { currentTarget: HTMLInputElement }) => setValues({ ...values, [name]: event.currentTarget.value });
  return (
    <Section title="Issue a grant">
      <details open={isAsked}>
        <summary>Give a subject something that its roles do not give</summary>
        <form class="question" onSubmit={preview}>
          <div class="tools">
            <label class="field grow"><span>Subject</span><input name="subject" value={values.subject} list="grantees" required placeholder="role:… or agent:…" maxLength={200} autocomplete="off" spellcheck={false} onInput={set("subject")} /></label>
            <label class="field grow"><span>Resource</span><input name="resource" value={values.resource} list="grantable" required placeholder="tool:…" maxLength={200} autocomplete="off" spellcheck={false} onInput={set("resource")} /></label>
            <Choice label="Level" value={values.level} options={LEVELS.map((each) => [each, each] as const)} onChange={(level) => setValues({ ...values, level })} />
            <Choice label="Lasts" value={values.lasts} options={LASTS} onChange={(lasts) => setValues({ ...values, lasts })} />
            <label class="field"><span>Uses</span><input name="uses" type="number" min="1" max="1000000" value={values.uses} placeholder="no limit" onInput={set("uses")} /></label>
          </div>
          <div class="tools">
            <label class="field grow"><span>Reason, for the audit</span><input name="reason" value={values.reason} maxLength={500} onInput={set("reason")} /></label>
            <button type="submit" class={isAsked && !isChanged ? "" : "primary"}>Show what it would open</button>
          </div>
          <datalist id="grantees">{(detail?.chart ?? []).slice(0, 500).map((role) => <option key={role.role_id} value={`role:${role.role_id}`} label={role.role_name.slice(0, 80)} />)}</datalist>
          <datalist id="grantable">{(detail?.tools ?? []).slice(0, 500).map((tool) => <option key={tool} value={`tool:${tool}`} />)}</datalist>
          {isAsked && !isChanged && <Preview org={org} values={values} onDone={() => changeQuery(address, { subject: "", resource: "", level: "", lasts: "", uses: "", reason: "" })} />}
        </form>
      </details>
    </Section>
  );
}

function Preview({ org, values, onDone }: { org: string; values: Record<"subject" | "resource" | "level" | "lasts" | "uses" | "reason", string>; onDone: () => void }): JSX.Element {
  const terms: Terms = { subject: values.subject, resources: [values.resource], level: values.level as NonNullable<Terms["level"]>, reason: values.reason, uses: values.uses ? Number(values.uses) : null };
  const { answer, problem } = useAnswer(`preview ${org} ${JSON.stringify(terms)}`, () => post("/v1/orgs/{org}/grant-preview", { org }, terms));
  const [refusal, setRefusal] = useState<Schemas["Problem"]>();
  if (problem) return <ProblemNote of={problem} />;
  if (!answer) return <Loading />;
  const issue = (): void => {
    const seconds = Number(values.lasts);
    setRefusal(undefined);
    post("/v1/orgs/{org}/grants", { org }, { ...terms, expires_at: seconds ? Date.now() / 1_000 + seconds : null }).then(
      () => { onDone(); refresh(); },
      (error: unknown) => {
        if (error instanceof Refused) setRefusal(error.problem);
        else throw error;
      },
    );
  };
  return (
    <div class="inset" aria-live="polite">
      <h3>What the grant would open</h3>
      <Effects org={org} of={answer.widens} subject={values.subject} empty="Nothing: the subject may do this already, or an access layer that a grant cannot lift denies it. The access view shows which." />
      <Grantors org={org} of={answer.grantors} />
      <button type="button" class="primary" disabled={!answer.widens.length} onClick={issue}>Issue the grant</button>
      {refusal && <ProblemNote of={refusal} />}
    </div>
  );
}
