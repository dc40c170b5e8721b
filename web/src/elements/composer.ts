/** `<quire-composer>`: where the question is written, with the filter chips under it. */
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";

import type { Choice } from "../core/filters.ts";
import { languageOf } from "../core/language.ts";
import { base } from "../styles/tokens.ts";
import { icons } from "./icons.ts";

const LIMIT = 2000;

@customElement("quire-composer")
export class QuireComposer extends LitElement {
  static override shadowRootOptions = { ...LitElement.shadowRootOptions, delegatesFocus: true };
  static override styles = [base, css`
    :host { display: block; }
    form {
      border: 1px solid var(--q-edge); border-radius: 16px; background: var(--q-surface); padding: 10px 10px 8px 16px;
      box-shadow: 0 1px 2px light-dark(#3a2f1f0d, #0004), 0 6px 20px light-dark(#3a2f1f12, #0005); transition: border-color 0.12s;
    }
    form:focus-within { border-color: var(--q-accent); box-shadow: 0 0 0 1px var(--q-accent), 0 6px 20px light-dark(#3a2f1f12, #0005); }
    textarea {
      display: block; width: 100%; border: 0; outline: 0; background: none; resize: none; padding: 4px 0; margin: 0;
      font-size: 16px; line-height: 1.5; min-height: 32px; max-height: 180px; field-sizing: content;
    }
    textarea:focus-visible { outline: 0; }
    textarea::placeholder { color: var(--q-muted); opacity: 1; }
    textarea:lang(ur) { font-family: var(--q-nastaliq); line-height: 2; }
    .row { display: flex; align-items: center; gap: 6px; margin-top: 4px; min-height: 36px; }
    .slim { display: flex; align-items: flex-end; gap: 8px; padding-block: 8px; }
    .slim .row { margin: 0; }
    .slim textarea { flex: 1; padding: 6px 0; }
    .chips { display: flex; gap: 6px; flex: 1; min-width: 0; overflow-x: auto; scrollbar-width: none; padding: 3px 3px 3px 0; margin-inline-start: -6px; padding-inline-start: 3px; mask-image: linear-gradient(to right, #000 calc(100% - 24px), transparent); }
    .chip { position: relative; flex: none; display: inline-flex; align-items: center; border: 1px solid transparent; border-radius: 99px; color: var(--q-muted); }
    .chip:hover { background: var(--q-sunken); }
    .chip.on { background: var(--q-accent-soft); color: var(--q-accent); font-weight: 550; }
    .chip select {
      appearance: none; border: 0; background: none; border-radius: 99px; font-size: 13px; min-height: 28px; padding: 3px 24px 3px 11px; cursor: pointer; color: inherit; font-weight: inherit;
      field-sizing: content; max-width: 180px;
    }
    .chip select option { background: var(--q-surface); color: var(--q-text); }
    .chip > .icon { position: absolute; inset-inline-end: 7px; width: 14px; height: 14px; pointer-events: none; }
    .chip.on select { padding-inline-end: 4px; }
    .chip .drop { border: 0; background: none; width: 26px; height: 28px; display: grid; place-items: center; border-radius: 99px; color: inherit; padding: 0; }
    .chip .drop .icon { width: 13px; height: 13px; }
    .send { width: 36px; height: 36px; border-radius: 50%; border: 0; display: grid; place-items: center; background: var(--q-accent); color: var(--q-on-accent); flex: none; transition: opacity 0.12s; }
    .send .icon { width: 20px; height: 20px; }
    .stop path { fill: currentColor; }
    .send[aria-disabled="true"] { opacity: 0.45; }
    .count { font-size: 12px; color: var(--q-muted); font-variant-numeric: tabular-nums; flex: none; }
    .count.over { color: var(--q-danger); font-weight: 600; }
  `];

  @property({ type: Boolean }) busy = false;
  @property() placeholder = "Ask the book…";
  @property({ attribute: false }) choices: Choice[] = [];
  @property({ attribute: false }) chosen: Record<string, string> = {};
  /** The last question, which ↑ brings back into an empty field. */
  @property({ attribute: false }) last = "";

  @state() private text = "";
  @query("textarea") private field!: HTMLTextAreaElement;

  get value(): string {
    return this.text;
  }

  set value(text: string) {
    this.text = text;
    void this.updateComplete.then(() => this.#grow());
  }

  override render() {
    const left = LIMIT - [...this.text].length;
    const ready = this.text.trim() !== "" && left >= 0;
    return html`
      <form class=${this.choices.length === 0 ? "slim" : ""} @submit=${this.#submit}>
        <textarea rows="1" .value=${this.text} dir="auto" lang=${languageOf(this.text) ?? ""} placeholder=${this.placeholder} aria-label="Your question"
          enterkeyhint="send" autocomplete="off" @input=${this.#input} @keydown=${this.#key}></textarea>
        <div class="row">
          ${this.choices.length > 0 ? html`<div class="chips" role="group" aria-label="Filters">${this.choices.map((choice) => this.#chip(choice))}</div>` : nothing}
          ${left < 200 ? html`<span class="count ${left < 0 ? "over" : ""}" role="status">${left < 0 ? `${-left} too many` : left}</span>` : nothing}
          ${this.busy
            ? html`<button type="button" class="send stop" aria-label="Stop" title="Stop (Esc)" @click=${() => this.#emit("quire-stop")}>${icons.stop}</button>`
            : html`<button class="send" aria-label="Ask" title="Ask (Enter)" aria-disabled=${!ready}>${icons.send}</button>`}
        </div>
      </form>`;
  }

  #chip(choice: Choice) {
    const value = this.chosen[choice.name] ?? "";
    return html`
      <span class="chip ${value ? "on" : ""}">
        <select aria-label=${choice.label} @change=${(event: Event) => this.#choose(choice.name, (event.target as HTMLSelectElement).value)}>
          <option value="" ?selected=${value === ""}>${choice.any}</option>
          ${choice.options.map((option) => html`<option value=${option.value} ?selected=${option.value === value}>${option.label}</option>`)}
        </select>
        ${value ? html`<button type="button" class="drop" aria-label=${`Remove filter ${choice.label}`} @click=${() => this.#choose(choice.name, "")}>${icons.close}</button>` : icons.chevron}
      </span>`;
  }

  #choose(name: string, value: string): void {
    const select = this.renderRoot.querySelector<HTMLSelectElement>(`select[aria-label="${this.choices.find((c) => c.name === name)?.label}"]`);
    if (select) select.value = value;
    this.#emit("quire-filter", { ...this.chosen, [name]: value });
  }

  #submit = (event: Event): void => {
    event.preventDefault();
    const question = this.text.trim();
    if (!question || [...this.text].length > LIMIT || this.busy) return;
    this.value = "";
    this.#emit("quire-ask", question);
  };

  #input = (): void => {
    this.text = this.field.value;
    this.#grow();
  };

  #key = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.#submit(event);
    } else if (event.key === "ArrowUp" && this.text === "" && this.last) {
      event.preventDefault();
      this.value = this.last;
    }
  };

  /** For browsers without `field-sizing`. */
  #grow(): void {
    if (CSS.supports("field-sizing", "content")) return;
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(180, this.field.scrollHeight)}px`;
  }

  #emit(name: string, detail?: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

declare global {
  interface HTMLElementTagNameMap { "quire-composer": QuireComposer }
}
