// The org chart: a tidy tree from left to right, so that long lists of subordinates scroll down and names stay readable.

import { hierarchy, tree } from "d3-hierarchy";
import type { HierarchyPointNode } from "d3-hierarchy";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { linkTo } from "./address";
import type { Post } from "./crew";
import { plural } from "./parts";
import { TONES } from "./organization";
import type { Coloring } from "./organization";
import { useSight } from "./windowing";

const WIDTH = 224;
const HEIGHT = 56;
const ACROSS = WIDTH + 56;
const DOWN = HEIGHT + 12;
/** The room above a card for the name of its region. */
const LABEL = 16;

/** A line that is drawn over the chart. */
export interface Link {
  readonly from: string;
  readonly to: string;
  readonly kind: string;
}

interface Card {
  readonly post: Post | null;
  readonly below: readonly Card[];
}

interface Props {
  org: string;
  roots: readonly Post[];
  isOpen: (post: Post) => boolean;
  shown: ReadonlySet<string> | null;
  matches: ReadonlySet<string> | null;
  /** The role that the address points at. */
  at: string;
  coloring: Coloring;
  links: readonly Link[];
  /** The region of a role, which is drawn behind the cards. Null if none is drawn. */
  regions: ((post: Post) => string | null) | null;
  /** Points at a role, where that means something. */
  onPoint: ((post: Post) => void) | undefined;
  onToggle: (post: Post) => void;
  onFocus: (post: Post) => void;
}

export function Chart(props: Props): JSX.Element {
  const { roots, isOpen, shown, regions } = props;
  const { cards, width, height } = useMemo(() => placeCards(roots, isOpen, shown, regions ? LABEL : 0), [roots, isOpen, shown, regions !== null]);
  const runs = useMemo(() => (regions ? listRuns(cards, regions) : []), [cards, regions]);
  const names = useMemo(() => [...new Set(runs.map((run) => run.name))].sort(), [runs]);
  const box = useRef<HTMLDivElement>(null);
  const { from, to } = useSight(box);
  useEffect(() => {
    // A superior stands at the middle of its subordinates, which is far down if there are hundreds.
    const card = cards.find((each) => each.post.role.role_id === props.at) ?? cards[0];
    const element = box.current;
    if (card && element) element.scrollTo(Math.max(0, card.left - 2 * WIDTH), card.top - (element.clientHeight - HEIGHT) / 2);
  }, [props.at, roots]);
  const visible = cards.filter((card) => card.top + HEIGHT >= from && card.top <= to);
  const lines = cards.filter((card) => card.above && Math.max(card.top, card.above.top) + HEIGHT >= from && Math.min(card.top, card.above.top) <= to);
  const placed = useMemo(() => new Map(cards.map((card) => [card.post.role.role_id, card])), [cards]);
  const overlays = props.links.flatMap(({ from: start, to: end, kind }) => {
    const [first, last] = [placed.get(start), placed.get(end)];
    const isInSight = first && last && Math.max(first.top, last.top) + HEIGHT >= from && Math.min(first.top, last.top) <= to;
    return isInSight ? [{ first, last, kind }] : [];
  });
  return (
    <div class="chart" ref={box} role="group" aria-label="Org chart" tabIndex={0}>
      <div class="sheet" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {names.map((name, number) => (
            <g key={name} class={`region tone-${number % TONES}`}>
              {lines.filter((card) => regions?.(card.post) === name && regions(card.above?.post as Post) === name).map((card) => <path key={card.post.role.role_id} d={drawLine(card)} />)}
              {runs.filter((run) => run.name === name && run.bottom >= from && run.top <= to).map((run) => <rect key={`${run.left} ${run.top}`} x={run.left - 7} y={run.top - LABEL - 3} width={WIDTH + 14} height={run.bottom - run.top + LABEL + 9} rx={8} />)}
            </g>
          ))}
          {runs.filter((run) => run.bottom >= from && run.top <= to).map((run) => <text key={`${run.left} ${run.top}`} x={run.left} y={run.top - 5}>{run.name.slice(0, 34)}</text>)}
          {lines.map((card) => <path key={card.post.role.role_id} d={drawLine(card)} />)}
        </svg>
        {visible.map((card) => <CardView key={card.post.role.role_id} card={card} {...props} />)}
        {overlays.length > 0 && (
          <svg class="above" width={width} height={height} aria-hidden="true">
            {overlays.map(({ first, last, kind }, number) => {
              const { line, head } = drawLink(first, last);
              return <g key={number} class={`overlay ${kind}`}><path d={line} /><path class="head" d={head} /></g>;
            })}
          </svg>
        )}
      </div>
    </div>
  );
}

function CardView({ card, org, at, matches, coloring, isOpen, onPoint, onToggle, onFocus }: Props & { card: Placed }): JSX.Element {
  const { post } = card;
  const { role } = post;
  const value = coloring.read(post);
  const state = post.agents.length ? plural(post.agents.length, "agent") : coloring.hasAgents ? "vacant" : "";
  return (
    <div
      class={`card tone-${coloring.tone(value)}${matches && !matches.has(role.role_id) ? " dim" : ""}${role.role_id === at ? " here" : ""}`}
      style={{ left: `${card.left}px`, top: `${card.top}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` }}
    >
      <a href={linkTo(["orgs", org, "roles", role.role_id])} title={role.role_name.slice(0, 200)}>
        <bdi>{(role.role_name || role.role_id).slice(0, 200)}</bdi>
      </a>
      <span class="under">
        <span class="value"><bdi>{value}</bdi></span>
        {state && <span class={post.agents.length ? "" : "vacant"}>{state}</span>}
        {role.findings > 0 && <span class="warn">{plural(role.findings, "finding")}</span>}
      </span>
      {(post.below.length > 0 || onPoint) && (
        <span class="handles">
          {onPoint && <button type="button" class="quiet" aria-pressed={role.role_id === at} aria-label={`Draw the lines of ${role.role_name.slice(0, 80)}`} title="Draw its lines" onClick={() => onPoint(post)}>⇄</button>}
          {post.below.length > 0 && <>
          <button type="button" class="quiet" aria-label={`Focus on ${role.role_name.slice(0, 80)}`} title="Show only this part" onClick={() => onFocus(post)}>◎</button>
          <button
            type="button"
            class="toggle"
            aria-expanded={isOpen(post)}
            aria-label={`${plural(post.size, "role")} below ${role.role_name.slice(0, 80)}`}
            onClick={() => onToggle(post)}
          >
            {isOpen(post) ? "−" : `+${post.size}`}
          </button>
          </>}
        </span>
      )}
    </div>
  );
}

interface Placed {
  readonly post: Post;
  readonly left: number;
  readonly top: number;
  readonly above: Placed | null;
}

/** Roles of one region that stand one below the other. */
interface Run {
  readonly name: string;
  readonly left: number;
  readonly top: number;
  bottom: number;
}

function listRuns(cards: readonly Placed[], regions: (post: Post) => string | null): Run[] {
  const runs: Run[] = [];
  const last = new Map<number, Run | null>();
  for (const card of [...cards].sort((one, other) => one.left - other.left || one.top - other.top)) {
    const name = regions(card.post);
    const before = last.get(card.left);
    if (name !== null && before?.name === name) before.bottom = card.top + HEIGHT;
    else {
      const run = name === null ? null : { name, left: card.left, top: card.top, bottom: card.top + HEIGHT };
      last.set(card.left, run);
      if (run) runs.push(run);
    }
  }
  return runs;
}

function placeCards(roots: readonly Post[], isOpen: (post: Post) => boolean, shown: ReadonlySet<string> | null, room: number): { cards: Placed[]; width: number; height: number } {
  const toCard = (post: Post): Card => ({
    post,
    below: isOpen(post) ? post.below.filter((each) => !shown || shown.has(each.role.role_id)).map(toCard) : [],
  });
  const top: Card = { post: null, below: roots.filter((each) => !shown || shown.has(each.role.role_id)).map(toCard) };
  const laid = tree<Card>().nodeSize([DOWN + room, ACROSS]).separation((one, other) => (one.parent === other.parent ? 1 : 1.25))(
    hierarchy(top, (card) => card.below),
  );
  let [least, most, deepest] = [Infinity, -Infinity, 0];
  laid.each((node) => {
    if (!node.data.post) return;
    least = Math.min(least, node.x);
    most = Math.max(most, node.x);
    deepest = Math.max(deepest, node.depth);
  });
  const cards: Placed[] = [];
  const add = (node: HierarchyPointNode<Card>, above: Placed | null): void => {
    let placed = above;
    if (node.data.post) {
      placed = { post: node.data.post, left: 8 + (node.depth - 1) * ACROSS, top: 8 + room + node.x - least, above };
      cards.push(placed);
    }
    for (const child of node.children ?? []) add(child, placed);
  };
  add(laid, null);
  if (!cards.length) return { cards, width: 0, height: 0 };
  return { cards, width: deepest * ACROSS + 48, height: most - least + HEIGHT + 16 + room };
}

/** A curve from one card to another, and its head. It leaves and enters at the sides that face each other. */
function drawLink(first: Placed, last: Placed): { line: string; head: string } {
  const [startY, endY] = [first.top + HEIGHT / 2 + 6, last.top + HEIGHT / 2 - 6];
  const isRight = last.left >= first.left + WIDTH;
  const isLeft = first.left >= last.left + WIDTH;
  const startX = first.left + (isLeft ? 0 : WIDTH);
  const endX = last.left + (isRight ? 0 : WIDTH);
  const side = isRight ? -1 : 1;
  const bow = isRight || isLeft ? 40 : 28 + Math.min(60, Math.abs(endY - startY) / 8);
  return {
    line: `M${startX} ${startY}C${startX + (isLeft ? -bow : bow)} ${startY} ${endX + side * bow} ${endY} ${endX} ${endY}`,
    head: `M${endX + side * 8} ${endY - 5}L${endX} ${endY}L${endX + side * 8} ${endY + 5}`,
  };
}

function drawLine(card: Placed): string {
  const above = card.above as Placed;
  const [startX, startY, endX, endY] = [above.left + WIDTH, above.top + HEIGHT / 2, card.left, card.top + HEIGHT / 2];
  const middle = (startX + endX) / 2;
  return `M${startX} ${startY}H${middle}V${endY}H${endX}`;
}
