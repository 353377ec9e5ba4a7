// Times: relative where people read, with the exact time at hand.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const STEPS: readonly (readonly [number, Intl.RelativeTimeFormatUnit])[] = [
  [60, "second"], [3_600, "minute"], [86_400, "hour"], [86_400 * 30, "day"], [86_400 * 365, "month"], [Infinity, "year"],
];
const SIZES: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600, day: 86_400, month: 86_400 * 30, year: 86_400 * 365 };
const words = new Intl.RelativeTimeFormat("en-US", { numeric: "always" });

/** The time now in seconds, which moves on by itself. */
export function useNow(everySeconds = 5): number {
  const [now, setNow] = useState(Date.now() / 1_000);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setNow(Date.now() / 1_000), everySeconds * 1_000);
    return () => clearInterval(timer);
  }, [everySeconds]);
  return now;
}

/** Seconds since 1970 of a time of the API. */
export function toSeconds(at: number | string): number {
  return typeof at === "number" ? at : Date.parse(at) / 1_000;
}

/** The exact time, in UTC. */
export function exact(at: number | string): string {
  const date = new Date(toSeconds(at) * 1_000);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

/** A time as the distance from now, in words. */
export function relative(seconds: number, now: number): string {
  const distance = seconds - now;
  if (Math.abs(distance) < 1) return "now";
  const [, unit] = STEPS.find(([limit]) => Math.abs(distance) < limit) ?? [0, "year" as const];
  return words.format(Math.trunc(distance / (SIZES[unit] ?? 1)), unit);
}

/** A time, relative, with the exact time as its title. */
export function When({ at }: { at: number | string }): JSX.Element {
  const now = useNow(10);
  const text = exact(at);
  return <time class="nowrap" dateTime={text.replace(" UTC", "Z").replace(" ", "T")} title={text}>{relative(toSeconds(at), now)}</time>;
}
