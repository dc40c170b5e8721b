/** `<quire-threads>`: the reader's conversations: open, rename, delete. */
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import { base } from "../styles/tokens.ts";
import type { ThreadEntry } from "../core/shelf.ts";
import { icons } from "./icons.ts";

@customElement("quire-threads")
export class QuireThreads extends LitElement {
  static override styles = [base, css`
    :host { display: block; }
    h2 { font: 600 12px/1.4 var(--q-sans); color: var(--q-muted); margin: 18px 10px 6px; }
    ul { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1px; }
    li { position: relative; display: flex; min-width: 0; align-items: center; border-radius: 8px; min-height: 36px; }
    li:hover, li:focus-within { background: light-dark(#00000009, #ffffff0c); }
    li.current { background: var(--q-accent-soft); }
    .open { flex: 1; min-width: 0; border: 0; background: none; text-align: start; padding: 8px 10px; border-radius: 8px; font-size: 13.5px; line-height: 1.4;
      overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .current .open { font-weight: 550; }
    .tools { display: flex; padding-inline-end: 4px; opacity: 0; width: 0; overflow: hidden; }
    li:hover .tools, li:focus-within .tools { opacity: 1; width: auto; }
    @media (hover: none) { .tools { opacity: 1; width: auto; } }
    .tools .plain { min-width: 28px; min-height: 28px; padding: 4px; }
    form, .sure { display: flex; gap: 6px; align-items: center; padding: 4px 6px; width: 100%; font-size: 13px; }
    .sure span { flex: 1; padding-inline-start: 4px; }
    .sure .plain.yes { color: var(--q-danger); font-weight: 600; }
    .field { min-height: 30px; padding: 3px 8px; font-size: 13.5px; }
    .none { color: var(--q-muted); font-size: 13.5px; line-height: 1.5; padding: 8px 10px; margin: 0; }
  `];

  @property({ attribute: false }) threads: ThreadEntry[] = [];
  @property() current = "";
  @state() private renaming = "";
  @state() private deleting = "";

  override render() {
    if (this.threads.length === 0) return html`<p class="none">Your conversations will be listed here.</p>`;
    const today = new Date().toDateString();
    const groups = [
      ["Today", this.threads.filter((t) => new Date(t.updatedAt).toDateString() === today)],
      ["Earlier", this.threads.filter((t) => new Date(t.updatedAt).toDateString() !== today)],
    ] as const;
    return groups.map(([name, threads]) => threads.length === 0 ? nothing : html`<h2>${name}</h2><ul>${threads.map((thread) => this.#row(thread))}</ul>`);
  }

  #row(thread: ThreadEntry) {
    const current = thread.id === this.current;
    return html`<li class=${current ? "current" : ""}>${
      this.renaming === thread.id
        ? html`<form @submit=${(event: SubmitEvent) => this.#rename(event, thread)}>
            <input class="field" name="title" maxlength="120" .value=${thread.title} aria-label="Name of the conversation" dir="auto"
              @keydown=${(event: KeyboardEvent) => event.key === "Escape" && (event.stopPropagation(), (this.renaming = ""))} />
            <button class="plain" aria-label="Save the name">${icons.check}</button></form>`
        : this.deleting === thread.id
          ? html`<div class="sure" role="group" aria-label="Delete this conversation?"><span>Delete?</span>
              <button class="plain yes" @click=${() => this.#emit("delete", thread)}>Delete</button>
              <button class="plain" @click=${() => (this.deleting = "")}>Keep</button></div>`
          : html`<button class="open" dir="auto" title=${thread.title} aria-current=${current ? "true" : nothing} @click=${() => this.#emit("open", thread)}>${thread.title}</button>
              <span class="tools">
                <button class="plain" aria-label=${`Rename ${thread.title}`} title="Rename" @click=${() => this.#edit(thread)}>${icons.pencil}</button>
                <button class="plain" aria-label=${`Delete ${thread.title}`} title="Delete" @click=${() => this.#ask(thread)}>${icons.trash}</button>
              </span>`
    }</li>`;
  }

  async #edit(thread: ThreadEntry): Promise<void> {
    this.renaming = thread.id;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLInputElement>("input")?.select();
  }

  async #ask(thread: ThreadEntry): Promise<void> {
    this.deleting = thread.id;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>(".sure .plain:last-child")?.focus();
  }

  #rename(event: SubmitEvent, thread: ThreadEntry): void {
    event.preventDefault();
    const title = String(new FormData(event.target as HTMLFormElement).get("title") ?? "").trim();
    this.renaming = "";
    if (title) this.#emit("rename", { ...thread, title });
  }

  #emit(action: "open" | "rename" | "delete", thread: ThreadEntry): void {
    this.deleting = "";
    this.dispatchEvent(new CustomEvent("quire-thread", { detail: { action, thread }, bubbles: true, composed: true }));
  }
}

declare global {
  interface HTMLElementTagNameMap { "quire-threads": QuireThreads }
}
