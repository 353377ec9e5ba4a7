// The window that an identity provider sends a person back to. It passes the answer to the page, and closes.

import { CHANNEL } from "./returning";

const answer: Record<string, string> = {};
for (const part of [location.search, location.hash]) {
  for (const [name, value] of new URLSearchParams(part.slice(1))) answer[name] = value;
}
// The code is good for one use, and only with the secret of the page. Even so, it does not stay in the history.
history.replaceState(null, "", location.pathname);
const channel = new BroadcastChannel(CHANNEL);
channel.postMessage(answer);
channel.close();
const state = document.getElementById("state");
if (state) state.textContent = "You can close this window, and go on in the page.";
window.close();
