// Find a role, an agent, a rule, a command or a view by a few letters: `/` or Ctrl-K.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { goTo, linkTo } from "./address";
import { useAnswer } from "./answers";
import { get, getAll } from "./client";
import { copyText } from "./parts";
import { listRulePath } from "./place";

const MOST = 12;
/** The views in the order of the navigation. */
export const TITLES: readonly (readonly [string, string])[] = IS_COPY
  ? [["organization", "Organization"], ["bills", "Bills"], ["changes", "Changes"], ["findings", "Findings"]]
  : [
      ["organization", "Organization"], ["access", "Access"], ["routing", "Routing"], ["requests", "Requests"], ["watch", "Watch"], ["work", "Work"], ["calls", "Calls"],
      ["bills", "Bills"], ["changes", "Changes"], ["audit", "Audit"], ["findings", "Findings"],
    ];

export function Palette({ org }: { org: string }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      const isTyping = target.matches("input, select, textarea");
      const wanted = (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) || (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey));
      if (!wanted) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
  }, [open]);
  const close = (): void => {
    dialog.current?.close();
    setOpen(false);
  };
  return (
    <>
      <button type="button" class="find" aria-keyshortcuts="/ Control+K" onClick={() => setOpen(true)}>Find <kbd aria-hidden="true">/</kbd></button>
      {open && (
        <dialog ref={dialog} class="palette" aria-label="Find" onClose={() => setOpen(false)} onClick={(event) => event.target === dialog.current && close()}>
          <Finder org={org} onDone={close} />
        </dialog>
      )}
    </>
  );
}

function Finder({ org, onDone }: { org: string; onDone: () => void }): JSX.Element {
  const { answer: detail } = useAnswer(`organization ${org}`, () => get("/v1/orgs/{org}", { org }));
  const { answer: agents } = useAnswer(`agents ${org}`, () => getAll("/v1/orgs/{org}/agents", { org }, (page) => page.agents));
  const { answer: rules } = useAnswer("rules", async () => (IS_COPY ? undefined : get("/v1/rules")));
  const { answer: commands } = useAnswer("commands", async () => (IS_COPY ? undefined : (await import("./commands")).COMMANDS));
  const [copied, setCopied] = useState("");
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const places = [
    ...TITLES.map(([name, title]) => ({ name: title, kind: "view", link: linkTo(["orgs", org, name]) })),
    ...(detail?.chart ?? []).map((role) => ({ name: `${role.role_name} ${role.role_id}`.slice(0, 120), kind: "role", link: linkTo(["orgs", org, "roles", role.role_id]) })),
    ...(agents ?? []).map((agent) => ({ name: `${agent.callsign} ${agent.agent_id}`.slice(0, 120), kind: "agent", link: linkTo(["orgs", org, "agents", agent.agent_id]) })),
    ...(IS_COPY ? [] : detail?.domains ?? []).map((domain) => ({ name: domain.id, kind: "domain", link: linkTo(["orgs", org, "routing"], { domain: domain.id }) })),
    ...(IS_COPY ? [] : rules?.rules ?? []).map((rule) => ({ name: `${rule.code} ${rule.name}`, kind: "rule", link: linkTo(listRulePath(org, rule.code)) })),
    ...(commands ?? []).map(([name, about]) => ({ name: `orgkernel ${name}`, kind: `command: Enter copies it. ${about}`, link: "" })),
    ...(IS_COPY ? [] : detail?.tools ?? []).map((tool) => ({ name: tool, kind: "tool: who can use it?", link: linkTo(["orgs", org, "access"], { subject: `role:${detail?.roots[0] ?? ""}`, action: "use", resource: `tool:${tool}` }) })),
  ];
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fitting = places.filter((place) => wanted.every((word) => place.name.toLowerCase().includes(word))).slice(0, MOST);
  const go = ({ link, name }: { link: string; name: string }): void => {
    if (!link) {
      void copyText(name).then((worked) => setCopied(worked ? `Copied: ${name}` : name));
      return;
    }
    onDone();
    goTo(link);
  };
  const press = (event: KeyboardEvent): void => {
    const chosen = fitting[at];
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, fitting.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter" && chosen) go(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text" role="combobox" aria-expanded="true" aria-controls="places" aria-activedescendant={fitting.length ? `place-${at}` : undefined} aria-label="Find a role, an agent, a tool, a rule, a command or a view"
        autofocus autocomplete="off" placeholder="Role, agent, domain, tool, rule, command or view" value={text} onInput={(event) => { setText(event.currentTarget.value); setAt(0); }} onKeyDown={press}
      />
      <ul id="places" role="listbox" aria-label="Places">
        {fitting.map((place, number) => (
          <li key={place.link || place.name} id={`place-${number}`} role="option" aria-selected={number === at} onClick={() => go(place)}>
            <bdi>{place.name}</bdi> <span class="muted small">{place.kind}</span>
          </li>
        ))}
      </ul>
      {copied && <p role="status">{copied}</p>}
      {!fitting.length && <p class="muted" role="status">Nothing fits.</p>}
    </>
  );
}
