// The panel of the organization, as an element of its own. A host runs a page's module scripts before the page's body is
// there, and only once; an element starts whenever and as often as it is put into the document.
import { callJsonApi } from "/js/api.js";

const NAME = "orgkernel-panel";
const API = "/plugins/orgkernel/";

const STYLE = `
  ${NAME} { display: block; color: var(--color-text, #e0e0e0); }
  ${NAME} .ok-head { display: flex; align-items: center; justify-content: space-between; gap: 1rem; flex-wrap: wrap; }
  ${NAME} .ok-message { margin: 0.75rem 0; padding: 0.5rem 0.75rem; border: 1px solid var(--color-border, #444); border-radius: 0.25rem;
    background: var(--color-background, #131313); overflow-wrap: anywhere; }
  ${NAME} .ok-message[data-kind="error"] { border-color: var(--color-accent, #cf6679); }
  ${NAME} .ok-card { margin: 1rem 0; padding: 0.75rem 1rem; border: 1px solid var(--color-border, #444); border-radius: 0.5rem;
    background: var(--color-background, #131313); }
  ${NAME} .ok-role { display: flex; align-items: baseline; gap: 0.75rem; flex-wrap: wrap; font-size: 1.1rem; font-weight: bold; }
  ${NAME} .ok-tag { font-size: 0.8rem; font-weight: normal; padding: 0.1rem 0.5rem; border: 1px solid var(--color-border, #444);
    border-radius: 1rem; color: var(--color-text-muted, #d4d4d4); }
  ${NAME} .ok-tag[data-tier="alternate"], ${NAME} .ok-tag[data-tier="contingent"], ${NAME} .ok-tag[data-tier="emergency"] {
    border-color: var(--color-accent, #cf6679); color: var(--color-accent, #cf6679); }
  ${NAME} .ok-facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0.5rem 0 0; }
  ${NAME} .ok-facts dt { color: var(--color-text-muted, #d4d4d4); font-size: 0.875rem; }
  ${NAME} .ok-facts dd { margin: 0; font-size: 0.875rem; overflow-wrap: anywhere; }
  ${NAME} .ok-row { display: flex; gap: 0.5rem; align-items: center; width: 100%; flex-wrap: wrap; }
  ${NAME} .ok-row select { flex: 1 1 10rem; width: auto; min-width: 8rem; }
  ${NAME} .ok-effect { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; margin: 1rem 0; }
  ${NAME} .ok-effect .ok-card { margin: 0; }
  ${NAME} h4 { margin: 0 0 0.5rem; font-size: 0.9rem; color: var(--color-text-muted, #d4d4d4); }
  ${NAME} .ok-figures { display: flex; gap: 1.5rem; flex-wrap: wrap; }
  ${NAME} .ok-figure strong { display: block; font-size: 1.4rem; }
  ${NAME} .ok-figure span, ${NAME} .ok-quiet { font-size: 0.8rem; color: var(--color-text-muted, #d4d4d4); }
  ${NAME} ul { margin: 0.5rem 0 0; padding-left: 1.1rem; font-size: 0.875rem; overflow-wrap: anywhere; }
  ${NAME} [aria-busy="true"] { opacity: 0.6; }
  @media (max-width: 640px) { ${NAME} .ok-facts { grid-template-columns: 1fr; } ${NAME} .ok-facts dd { margin-bottom: 0.4rem; } }
`;

// An element with attributes and children. Texts are set as text, so nothing that an agent wrote becomes markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const count = (number) => Number(number || 0).toLocaleString("en-US");

function facts(rows) {
  const list = make("dl", { class: "ok-facts" });
  for (const [label, value] of rows) {
    if (value) list.append(make("dt", {}, label), make("dd", {}, String(value)));
  }
  return list;
}

function field(title, description, control) {
  return make(
    "div",
    { class: "field" },
    make(
      "div",
      { class: "field-label" },
      make("div", { class: "field-title" }, title),
      make("div", { class: "field-description" }, description),
    ),
    make("div", { class: "field-control" }, control),
  );
}

function reportText(report) {
  const { status, activity, time } = report ?? {};
  if (!status) return "";
  return [time?.timestamp, status.state, status.health, activity?.current_task].filter(Boolean).join(" · ");
}

function effectCard(title, effect) {
  if (!effect) return null;
  const done = effect.applied;
  const figure = (value, label) =>
    make("div", { class: "ok-figure" }, make("strong", {}, value), make("span", {}, label));
  return make(
    "div",
    { class: "ok-card" },
    make("h4", {}, title),
    make(
      "div",
      { class: "ok-figures" },
      figure(`≈ ${count(done.tokens_spared_about)}`, "tokens spared"),
      figure(count(done.calls_refused), done.calls_refused === 1 ? "call refused" : "calls refused"),
    ),
    effect.lines.length
      ? make("ul", {}, ...effect.lines.map((line) => make("li", {}, line)))
      : make("div", { class: "ok-quiet" }, "Nothing yet."),
  );
}

class OrganizationPanel extends HTMLElement {
  #message = null;
  #busy = false;

  connectedCallback() {
    if (!this.firstElementChild) this.replaceChildren("Loading …");
    this.#message = null;
    this.#load();
  }

  get #context() {
    return globalThis.getContext?.() ?? "";
  }

  async #load() {
    let state;
    try {
      state = await callJsonApi(`${API}status`, { context: this.#context });
    } catch (error) {
      state = { ok: false, error: `The state cannot be read: ${error?.message ?? error}` };
    }
    if (this.isConnected) this.#show(state ?? { ok: false, error: "The host did not answer." });
  }

  // Asks the host to change something, says what came of it, and shows the new state.
  async #ask(handler, request, done) {
    if (this.#busy) return;
    this.#busy = true;
    this.setAttribute("aria-busy", "true");
    try {
      const answer = await callJsonApi(`${API}${handler}`, { context: this.#context, ...request });
      this.#message = answer?.ok ? { kind: "done", text: done } : { kind: "error", text: answer?.error ?? "It failed." };
    } catch (error) {
      this.#message = { kind: "error", text: `The host refused: ${error?.message ?? error}` };
    }
    this.#busy = false;
    this.removeAttribute("aria-busy");
    await this.#load();
  }

  #show(state) {
    const parts = [make("style", {}, STYLE), this.#head(state)];
    if (this.#message) {
      parts.push(make("div", { class: "ok-message", "data-kind": this.#message.kind, role: "status" }, this.#message.text));
    }
    if (state.ok === false) {
      parts.push(make("div", { class: "ok-message", "data-kind": "error" }, state.error ?? "The state cannot be read."));
      this.replaceChildren(...parts);
      return;
    }
    parts.push(this.#switch(state));
    if (state.on) parts.push(this.#role(state), this.#pin(state));
    parts.push(...this.#effect(state));
    this.replaceChildren(...parts.filter(Boolean));
  }

  #head() {
    return make(
      "div",
      { class: "ok-head" },
      make("div", { class: "section-title" }, "Organization"),
      make("button", { type: "button", class: "button", "data-do": "refresh", onclick: () => { this.#message = null; this.#load(); } }, "Refresh"),
    );
  }

  #switch(state) {
    const name = state.organization_name || state.organization;
    const why = state.on ? `${name}, enforcement ${state.enforcement}, for all chats.` : `The organization is off: ${state.why}.`;
    const box = make("input", {
      type: "checkbox",
      "data-do": "switch",
      "aria-label": "Organization on",
      checked: state.on,
      disabled: !state.on && !state.can_switch_on,
      onchange: (event) =>
        this.#ask("switch", { on: event.target.checked }, event.target.checked ? "Switched on." : "Switched off for all chats."),
    });
    const none = !state.on && !state.can_switch_on;
    return make(
      "div",
      {},
      field(
        state.on ? "On" : "Off",
        none ? `${why} Activate one on the command line: orgkernel host activate ORG --agent-zero ROOT` : `${why} A change counts at once; Save is not needed.`,
        make("label", { class: "toggle" }, box, make("span", { class: "toggler" })),
      ),
      ...[state.error, ...(state.remarks ?? []), state.effect?.problem]
        .filter(Boolean)
        .map((text) => make("div", { class: "ok-message" }, text)),
    );
  }

  #role(state) {
    if (!state.role) {
      return make("div", { class: "ok-card" }, make("div", { class: "ok-role" }, "No role"), make("div", { class: "ok-quiet" }, state.why ?? ""));
    }
    return make(
      "div",
      { class: "ok-card" },
      make(
        "div",
        { class: "ok-role" },
        make("span", { "data-show": "role" }, state.role_name),
        make("span", { class: "ok-tag", "data-tier": state.tier }, `PACE ${state.tier}`),
        state.pinned === state.role ? make("span", { class: "ok-tag" }, "pinned") : null,
      ),
      facts([
        ["Why", state.chosen],
        ["Tier because", (state.reasons ?? []).join("; ")],
        ["Agent", state.agent ? `subordinate ${state.agent}` : ""],
        ["Domain", state.domain],
        ["Reports to", state.reports_to],
        ["Tools", (state.tools ?? []).join(", ")],
        ["Plans", (state.plans ?? []).join(", ")],
        ["Last report", reportText(state.report) || state.report_problem],
        ["Last error", state.trouble],
      ]),
    );
  }

  #pin(state) {
    if (!this.#context) return null;
    const choice = make(
      "select",
      { "data-do": "choose", "aria-label": "Role to pin" },
      ...(state.roles ?? []).map((role) =>
        make("option", { value: role.id, selected: role.id === (state.pinned ?? state.role) }, role.name),
      ),
    );
    const pinned = (state.roles ?? []).find((role) => role.id === state.pinned);
    return field(
      "Pin a role",
      pinned ? `Pinned: ${pinned.name}. Every message of this chat goes to this role.` : "Each message chooses its role. A pin gives all messages of this chat to one role, starting with the next message.",
      make(
        "div",
        { class: "ok-row" },
        choice,
        make("button", { type: "button", class: "button confirm", "data-do": "pin", onclick: () => this.#ask("pin", { role: choice.value }, "Pinned starting with the next message.") }, "Pin"),
        state.pinned
          ? make("button", { type: "button", class: "button cancel", "data-do": "release", onclick: () => this.#ask("pin", { role: null }, "Released.") }, "Release")
          : null,
      ),
    );
  }

  #effect(state) {
    const effect = state.effect ?? {};
    const refusals = (effect.all?.last_refusals ?? []).slice(-5).reverse();
    return [
      make("div", { class: "ok-effect" }, ...[effectCard("This chat", effect.chat), effectCard("All chats", effect.all)].filter(Boolean)),
      refusals.length
        ? make(
            "div",
            { class: "ok-card" },
            make("h4", {}, "Last refused calls"),
            make(
              "ul",
              {},
              ...refusals.map((each) =>
                make("li", {}, make("code", {}, each.tool), ` by ${each.role}${each.touched ? `: ${each.touched}` : ""}${each.applied ? "" : " (only logged)"}`),
              ),
            ),
          )
        : null,
    ];
  }
}

export function definePanel() {
  if (!customElements.get(NAME)) customElements.define(NAME, OrganizationPanel);
}
