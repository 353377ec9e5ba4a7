// Addresses of the page. Everything that a view shows is in the part after `#`, which browsers send to no server: it
// works below any path of a proxy, restores on reload, and never lands in a log.

import { useEffect, useState } from "preact/hooks";

export interface Address {
  /** The parts of the path, decoded. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

/** Read an address from the part after `#`. Undecodable parts are kept as they are written. */
export function parseAddress(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  // Without a prototype, so that no name of a query is a property of every object.
  const names: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of new URLSearchParams(query)) names[name] = value;
  return { path: path.split("/").filter(Boolean).map(decode), query: names };
}

/** The link to an address. Empty and missing values are left out. */
export function linkTo(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const names = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) names.set(name, value);
  const text = names.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Go to an address. With `replace`, the back button skips the current one. */
export function goTo(link: string, replace = false): void {
  if (link === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", link);
  dispatchEvent(new Event("hashchange"));
}

/** The current address. */
export function useAddress(): Address {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const read = (): void => setHash(location.hash);
    addEventListener("hashchange", read);
    addEventListener("popstate", read);
    return () => {
      removeEventListener("hashchange", read);
      removeEventListener("popstate", read);
    };
  }, []);
  return parseAddress(hash);
}

/** Change values of the query of the current address. */
export function changeQuery(address: Address, values: Readonly<Record<string, string | undefined>>, replace = true): void {
  goTo(linkTo(address.path, { ...address.query, ...values }), replace);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
