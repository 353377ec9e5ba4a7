// Questions to the HTTP API of the server that gave this page. Nothing else is ever requested.

import type { components, paths } from "./api";
import { readCopy } from "./copy";

export type Schemas = components["schemas"];

type Json<Operation> = Operation extends { responses: { 200: { content: { "application/json": infer Answer } } } }
  ? Answer
  : Operation extends { responses: { 201: { content: { "application/json": infer Made } } } }
    ? Made
    : never;
type Body<Operation> = Operation extends { requestBody: { content: { "application/json": infer Question } } }
  ? Question
  : never;
type With<Method extends string> = {
  [Path in keyof paths]: paths[Path] extends Record<Method, { responses: unknown }> ? Path : never;
}[keyof paths];
export type Gets = With<"get">;
export type Posts = With<"post">;
export type GetAnswer<Path extends Gets> = Json<paths[Path] extends { get: infer Get } ? Get : never>;
export type PostAnswer<Path extends Posts> = Json<paths[Path] extends { post: infer Post } ? Post : never>;
type Question<Path extends Posts> = Body<paths[Path] extends { post: infer Post } ? Post : never>;
type Names = Readonly<Record<string, string>>;

/** An answer that says no: a problem document of the API. */
export class Refused extends Error {
  constructor(readonly problem: Schemas["Problem"]) {
    super(problem.detail);
  }
}

/** The server did not answer. */
export class Unreachable extends Error {}

/** The folder of the page, which is also that of the API, below any path of a proxy. */
export const BASE = new URL(".", location.href);
/** INVARIANT: the key is in this variable and in the header of a request, and nowhere else. */
let key = "";
const listeners = new Set<() => void>();
/** Counts what makes every answer old: another key, and documents that were read again. */
let version = 0;

/** Use a key from now on. An empty one asks without. */
export function useKeyFromNowOn(secret: string): void {
  key = secret;
  refresh();
}

export function hasKey(): boolean {
  return key !== "";
}

/** Ask everything again. */
export function refresh(): void {
  version += 1;
  for (const listener of listeners) listener();
}

export function getVersion(): number {
  return version;
}

/** Call a function at every change of the version. Returns what ends that. */
export function onRefresh(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Ask with GET. `names` fills the parts of the path in braces. */
export function get<Path extends Gets>(path: Path, names: Names = {}, query: Names = {}): Promise<GetAnswer<Path>> {
  return request("GET", path, names, query) as Promise<GetAnswer<Path>>;
}

/** Ask with POST. */
export function post<Path extends Posts>(path: Path, names: Names, body: Question<Path>): Promise<PostAnswer<Path>> {
  return request("POST", path, names, {}, body) as Promise<PostAnswer<Path>>;
}

/** The rows of all pages of a list. */
export async function getAll<Path extends Gets, Row>(
  path: Path,
  names: Names,
  rows: (answer: GetAnswer<Path>) => readonly Row[],
  limit = "1000",
): Promise<Row[]> {
  const all: Row[] = [];
  let cursor = "";
  do {
    const answer = await get(path, names, cursor ? { limit, cursor } : { limit });
    all.push(...rows(answer));
    cursor = (answer as { next?: string | null }).next ?? "";
  } while (cursor);
  return all;
}

/** Follow server-sent events until `signal` ends it. A header carries the key, which `EventSource` cannot send. */
export async function follow(
  path: Gets,
  names: Names,
  query: Names,
  signal: AbortSignal,
  onOpen: () => void,
  onEvent: (data: string) => void,
): Promise<void> {
  const response = await send("GET", path, names, query, undefined, { Accept: "text/event-stream" }, signal);
  if (!response.ok || !response.body) throw new Unreachable();
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (pending + value.replaceAll("\r\n", "\n")).split("\n\n");
    pending = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (data) onEvent(data);
    }
  }
}

async function request(method: string, path: string, names: Names, query: Names, body?: unknown): Promise<unknown> {
  if (IS_COPY) {
    const kept = method === "GET" ? await readCopy(fillPath(path, names)) : undefined;
    if (kept !== undefined) return kept;
    throw new Refused({ type: "", title: "", status: 404, code: "", detail: "this is a copy without a server, which does not have this answer", help: "`orgkernel serve` answers it" } as Schemas["Problem"]);
  }
  let response: Response;
  let answer: unknown;
  try {
    response = await send(method, path, names, query, body, { Accept: "application/json" });
    answer = await response.json();
  } catch {
    throw new Unreachable();
  }
  if (response.ok) return answer;
  throw new Refused(readProblem(answer, response.status));
}

function fillPath(path: string, names: Names): string {
  return path.slice(1).replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ""));
}

function send(method: string, path: string, names: Names, query: Names, body: unknown, accept: Names, signal?: AbortSignal): Promise<Response> {
  const filled = fillPath(path, names);
  const search = new URLSearchParams(query).toString();
  const headers: Record<string, string> = { ...accept };
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return fetch(new URL(search ? `${filled}?${search}` : filled, BASE), {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    // What a key may read is not left in the cache of the browser.
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
}

/** A problem of the API, or of what stands before it, such as a proxy. */
function readProblem(answer: unknown, status: number): Schemas["Problem"] {
  const problem = answer as Schemas["Problem"];
  if (typeof problem?.detail === "string" && typeof problem.code === "string") return problem;
  const detail = `the answer has status ${status} and is no answer of orgkernel`;
  return { type: "", title: "", status, detail, code: "", help: "ask who runs the proxy before the server" } as Schemas["Problem"];
}
