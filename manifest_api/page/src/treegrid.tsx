// The same crew as a treegrid, for the keyboard, for screen readers, and for thousands of roles.

import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { goTo, linkTo } from "./address";
import type { Post } from "./crew";
import type { Coloring } from "./organization";
import { useSight } from "./windowing";

const HEIGHT = 36;

interface Props {
  org: string;
  rows: readonly Post[];
  isOpen: (post: Post) => boolean;
  /** The role that the address points at. */
  at: string;
  coloring: Coloring;
  onToggle: (post: Post) => void;
}

export function Treegrid({ org, rows, isOpen, at: pointed, coloring, onToggle }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(pointed);
  const wantsFocus = useRef(pointed !== "");
  const { from, to } = useSight(box);
  const at = Math.max(0, rows.findIndex((post) => post.role.role_id === active));
  const first = Math.max(0, Math.floor(from / HEIGHT));
  const last = Math.min(rows.length, Math.ceil(to / HEIGHT));
  // The active row stays in the document, so that the focus is not lost when it is scrolled out of sight.
  const visible = rows.slice(first, last).map((post, number) => ({ post, number: first + number }));
  const current = rows[at];
  if (current && (at < first || at >= last)) visible.push({ post: current, number: at });

  useLayoutEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    const element = box.current;
    if (!element) return;
    const top = at * HEIGHT;
    if (top < element.scrollTop) element.scrollTop = top;
    if (top + 2 * HEIGHT > element.scrollTop + element.clientHeight) element.scrollTop = top + 2 * HEIGHT - element.clientHeight;
    element.querySelector<HTMLElement>('[role="row"][tabindex="0"]')?.focus({ preventScroll: true });
  });

  const goToRow = (number: number): void => {
    const post = rows[Math.min(rows.length - 1, Math.max(0, number))];
    if (!post) return;
    wantsFocus.current = true;
    setActive(post.role.role_id);
  };
  const press = (event: KeyboardEvent): void => {
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = isOpen(current);
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / HEIGHT) - 2);
    const moves: Record<string, () => void> = {
      ArrowDown: () => goToRow(at + 1),
      ArrowUp: () => goToRow(at - 1),
      PageDown: () => goToRow(at + page),
      PageUp: () => goToRow(at - page),
      Home: () => goToRow(0),
      End: () => goToRow(rows.length - 1),
      ArrowRight: () => (current.below.length && !open ? onToggle(current) : current.below.length && goToRow(at + 1)),
      ArrowLeft: () => {
        if (current.below.length && open) onToggle(current);
        else if (current.superior) goToRow(rows.findIndex((post) => post.role.role_id === current.superior));
      },
      Enter: () => goTo(linkTo(["orgs", org, "roles", current.role.role_id])),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };

  return (
    <div class="treegrid" ref={box} role="treegrid" aria-label="Roles" aria-rowcount={rows.length + 1} aria-colcount={5} onKeyDown={press}>
      <div class="row head" role="row" aria-rowindex={1}>
        {["Role", "Type", coloring.title, "Agents", "Findings"].map((title) => <span key={title} role="columnheader">{title}</span>)}
      </div>
      <div class="rows" role="rowgroup" style={{ height: `${rows.length * HEIGHT}px` }}>
        {visible.map(({ post, number }) => (
          <div
            key={post.role.role_id}
            class="row"
            role="row"
            aria-level={post.level}
            aria-rowindex={number + 2}
            aria-expanded={post.below.length ? isOpen(post) : undefined}
            tabIndex={number === at ? 0 : -1}
            style={{ top: `${number * HEIGHT}px`, height: `${HEIGHT}px` }}
            onFocus={() => setActive(post.role.role_id)}
          >
            <span role="gridcell" class="name" style={{ paddingInlineStart: `${(post.level - 1) * 18}px` }}>
              {post.below.length ? (
                <button type="button" class="toggle" tabIndex={-1} aria-label={isOpen(post) ? "Close" : "Open"} onClick={() => onToggle(post)}>
                  {isOpen(post) ? "−" : "+"}
                </button>
              ) : (
                <span class="toggle" />
              )}
              <a href={linkTo(["orgs", org, "roles", post.role.role_id])} tabIndex={-1}>
                <bdi>{(post.role.role_name || post.role.role_id).slice(0, 200)}</bdi>
              </a>
            </span>
            <span role="gridcell">{post.role.role_type}</span>
            <span role="gridcell"><span class={`dot tone-${coloring.tone(coloring.read(post))}`} aria-hidden="true" /> <bdi>{coloring.read(post)}</bdi></span>
            <span role="gridcell">
              {post.agents.length ? <bdi>{post.agents.slice(0, 3).map((agent) => agent.callsign || agent.agent_id).join(", ").slice(0, 200)}{post.agents.length > 3 ? ` +${post.agents.length - 3}` : ""}</bdi>
                : coloring.hasAgents ? <span class="vacant">vacant</span> : ""}
            </span>
            <span role="gridcell" class="number">{post.role.findings || ""}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
