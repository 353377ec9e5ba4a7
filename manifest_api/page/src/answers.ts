// Answers as state of a view: asked again when the key or the documents change, and kept while the server is gone.

import { useEffect, useState } from "preact/hooks";
import { get, getVersion, onRefresh, Refused, refresh, Unreachable } from "./client";
import type { Schemas } from "./client";

export interface Asked<Answer> {
  readonly answer?: Answer;
  readonly problem?: Schemas["Problem"];
}

/** The answer of `ask`. It is asked again when `about` or the version changes; an answer about something else is dropped. */
export function useAnswer<Answer>(about: string, ask: () => Promise<Answer>): Asked<Answer> {
  const [state, setState] = useState<Asked<Answer> & { about: string }>({ about });
  const current = useVersion();
  useEffect(() => {
    let wanted = true;
    const put = (asked: Asked<Answer>): void => {
      if (wanted) setState({ about, ...asked });
    };
    ask().then(
      (answer) => put({ answer }),
      (error: unknown) => {
        if (error instanceof Refused) put({ problem: error.problem });
        else if (error instanceof Unreachable) setLost(true);
        else throw error;
      },
    );
    return () => void (wanted = false);
  }, [about, current]);
  return state.about === about ? state : {};
}

/** The number of times that everything was asked again. */
export function useVersion(): number {
  const [current, setCurrent] = useState(getVersion());
  useEffect(() => onRefresh(() => setCurrent(getVersion())), []);
  return current;
}

const BEAT_MILLISECONDS = 4_000;
let lost = false;
let snapshot = "";
const watchers = new Set<() => void>();

function setLost(now: boolean): void {
  if (lost === now) return;
  lost = now;
  for (const watcher of watchers) watcher();
}

/** Whether the server does not answer. */
export function useLost(): boolean {
  const [now, setNow] = useState(lost);
  useEffect(() => {
    const watch = (): void => setNow(lost);
    watchers.add(watch);
    return () => void watchers.delete(watch);
  }, []);
  return now;
}

/** Ask for the version of the documents now and then. A new one, or a server that is back, makes all views ask again. */
export function startBeats(): void {
  void beat();
  setInterval(() => {
    if (!document.hidden) void beat();
  }, BEAT_MILLISECONDS);
}

async function beat(): Promise<void> {
  const wasLost = lost;
  try {
    const now = (await get("/v1/snapshot")).snapshot;
    const isNew = snapshot !== "" && snapshot !== now;
    snapshot = now;
    setLost(false);
    if (isNew || wasLost) refresh();
  } catch (error) {
    setLost(error instanceof Unreachable);
    if (wasLost && !lost) refresh();
  }
}
