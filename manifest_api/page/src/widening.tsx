// What a grant opens or a revocation closes, and who may decide about it.

import type { JSX } from "preact";
import { linkTo } from "./address";
import type { Schemas } from "./client";
import { Outcome, SubjectLink } from "./parts";

/** The actions that would change, each with what decides now and what would decide then. */
export function Effects({ org, of, empty, subject }: { org: string; of: readonly Schemas["Widening"][]; empty: string; subject?: string }): JSX.Element {
  if (!of.length) return <p class="muted">{empty}</p>;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Effects">
      <table>
        <thead><tr><th scope="col">Action</th><th scope="col">Resource</th><th scope="col">Now</th><th scope="col">Then</th></tr></thead>
        <tbody>
          {of.map((each, number) => (
            <tr key={number}>
              <th scope="row">{each.action}</th>
              <td>
                {subject ? <a href={linkTo(["orgs", org, "access"], { subject, action: each.action, resource: each.resource })}><bdi>{each.resource.slice(0, 120)}</bdi></a> : <code><bdi>{each.resource.slice(0, 120)}</bdi></code>}
                {each.org_id !== org && <span class="warn"> in {each.org_id}</span>}
              </td>
              <td><Outcome of={each.outcome_before} /> <span class="muted">{each.level_before}</span></td>
              <td><Outcome of={each.outcome_after} /> <span class="muted">{each.level_after}</span></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Who may decide. An operator always may. */
export function Grantors({ org, of }: { org: string; of: readonly string[] | undefined }): JSX.Element | null {
  if (!of) return null;
  return (
    <p class="small">
      Who may decide: {of.map((each) => <span key={each}><SubjectLink org={org} subject={each} />, </span>)}{of.length > 0 && "and "}every operator with the key scope.
    </p>
  );
}
