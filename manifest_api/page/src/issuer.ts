// Sign in at the identity provider: authorization code with PKCE (RFC 7636), in a window of its own. What is secret, the verifier
// and the token, is in variables of this page and nowhere else, and the page keeps the address that it has.

import { BASE } from "./client";
import type { Schemas } from "./client";
import { CHANNEL } from "./returning";

/** A problem of signing in, in words. */
export class SignInFailed extends Error {}

/** What the identity provider publishes about itself. */
interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly code_challenge_methods_supported?: readonly string[];
}

export interface Attempt {
  /** The address that the window opens. */
  readonly url: string;
  /** Waits for the answer and trades it for a token. */
  readonly finish: (signal: AbortSignal) => Promise<string>;
}

/** Prepare to sign in, so that a click can open the window at once. Raises `SignInFailed`. */
export async function prepareSignIn(client: Schemas["SignIn"]): Promise<Attempt> {
  const issuer = client.issuer ?? "";
  const { origin } = new URL(issuer);
  // Without TLS, a browser has no digests, except on loopback.
  if (!globalThis.crypto?.subtle) throw new SignInFailed("the browser allows it only over TLS or on loopback");
  const metadata = await readJson<Metadata>(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {});
  if (metadata.issuer !== issuer) throw new SignInFailed("the identity provider has another name than the one in the settings");
  if (new URL(metadata.token_endpoint).origin !== origin) throw new SignInFailed("the identity provider gives tokens at another host, which this page may not ask");
  if (metadata.code_challenge_methods_supported && !metadata.code_challenge_methods_supported.includes("S256")) throw new SignInFailed("the identity provider does not support PKCE with S256");
  const start = new URL(metadata.authorization_endpoint);
  if (start.protocol !== new URL(issuer).protocol) throw new SignInFailed("the identity provider signs in at an address without TLS");
  const [verifier, state] = [drawSecret(), drawSecret()];
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const redirect = new URL("page/signed-in.html", BASE).href;
  const asked = {
    response_type: "code", response_mode: "fragment", client_id: client.client_id ?? "", redirect_uri: redirect, scope: client.scope ?? "", audience: client.audience ?? "",
    state, code_challenge: encode(new Uint8Array(digest)), code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) start.searchParams.set(name, value);
  const finish = async (signal: AbortSignal): Promise<string> => {
    const answer = await waitForAnswer(state, signal);
    if (answer.iss !== undefined && answer.iss !== issuer) throw new SignInFailed("the answer comes from another identity provider");
    if (!answer.code) throw new SignInFailed(`the identity provider refused: ${(answer.error_description || answer.error || "no reason given").slice(0, 200)}`);
    const body = new URLSearchParams({ grant_type: "authorization_code", code: answer.code, redirect_uri: redirect, client_id: client.client_id ?? "", code_verifier: verifier });
    const { access_token: token } = await readJson<{ access_token?: string }>(metadata.token_endpoint, { method: "POST", body });
    if (!token) throw new SignInFailed("the identity provider gave no access token");
    return token;
  };
  return { url: start.href, finish };
}

/** The answer with this state. Others are of another tab, or forged. */
function waitForAnswer(state: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    const channel = new BroadcastChannel(CHANNEL);
    signal.addEventListener("abort", () => {
      channel.close();
      reject(new SignInFailed("it was given up"));
    });
    channel.onmessage = ({ data }: MessageEvent<Record<string, string>>) => {
      if (data.state !== state) return;
      channel.close();
      resolve(data);
    };
  });
}

async function readJson<Answer>(url: string, options: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, { ...options, headers: { Accept: "application/json" }, cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
    if (!response.ok) throw new SignInFailed(`the identity provider answers with status ${response.status}`);
    return (await response.json()) as Answer;
  } catch (error) {
    if (error instanceof SignInFailed) throw error;
    throw new SignInFailed("the identity provider does not answer this page: it may not allow its origin");
  }
}

function drawSecret(): string {
  return encode(crypto.getRandomValues(new Uint8Array(32)));
}

/** Base64 for addresses, without padding. */
function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
