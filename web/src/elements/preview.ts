/** `<quire-preview>`: the card beside a citation that shows the quote in its paragraph. */
import { css, html, LitElement, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import type { Api } from "../core/api.ts";
import { sourceTitle } from "../core/citations.ts";
import { sourceLink } from "../core/quotelink.ts";
import type { Chunk, Source } from "../core/wire.ts";
import { base } from "../styles/tokens.ts";
import type { CiteDetail } from "./answer.ts";
import { icons } from "./icons.ts";
import { chunkOf } from "./quote.ts";
import "./quote.ts";

const OPEN_AFTER = 110;
const CLOSE_AFTER = 240;

@customElement("quire-preview")
export class QuirePreview extends LitElement {
  static override styles = [base, css`
    .card {
      position: fixed; inset: auto; margin: 0; width: min(400px, calc(100vw - 24px)); max-height: min(420px, 70vh); overflow: auto;
      padding: 14px 16px 10px; border: 1px solid var(--q-line); border-radius: var(--q-radius); background: var(--q-surface); color: var(--q-text);
      box-shadow: var(--q-shadow);
    }
    header { display: flex; gap: 9px; align-items: baseline; margin-bottom: 8px; font-size: 13px; line-height: 1.4; font-weight: 600; }
    .number {
      flex: none; min-width: 20px; height: 20px; border-radius: 6px; padding: 0 5px; text-align: center; font-size: 11.5px; line-height: 20px;
      background: var(--q-accent); color: var(--q-on-accent);
    }
    footer { display: flex; flex-wrap: wrap; gap: 4px; margin: 8px -8px 0; align-items: center; }
    footer .plain { color: var(--q-accent); font-weight: 550; }
    .proof { display: flex; gap: 6px; align-items: center; font-size: 12px; color: var(--q-muted); margin-top: 8px; }
  `];

  @property({ attribute: false }) api!: Api;
  @property({ attribute: false }) bookId = "";
  @property({ attribute: false }) baseUrl: string | null | undefined;
  /** Whether there is a lesson panel to open. */
  @property({ type: Boolean }) lessons = false;
  /** Where a link to the source opens. */
  @property() target: "_blank" | "_self" = "_blank";

  @state() private source: Source | undefined;
  @state() private chunk: Chunk | undefined;
  #anchor: HTMLElement | undefined;
  #pinned = false;
  #timer = 0;

  get open(): boolean {
    return this.source !== undefined;
  }

  override render() {
    const { source } = this;
    if (!source) return nothing;
    const link = sourceLink(source.source_url, source.quote, this.baseUrl);
    const selection = source.source_url === "selected_text";
    return html`
      <div class="card" popover="manual" role="dialog" aria-label=${`Source ${source.number}`}
        @pointerenter=${() => clearTimeout(this.#timer)} @pointerleave=${() => this.#pinned || this.#closeSoon()} @keydown=${this.#key}>
        <header><span class="number">${source.number}</span><span dir="auto">${selection ? "Your selection" : sourceTitle(source)}</span></header>
        <quire-quote .source=${source} .chunk=${this.chunk} .baseUrl=${this.baseUrl}></quire-quote>
        <p class="proof">${icons.check} ${selection ? "Word for word in your selection" : html`Word for word in the book${source.line_start ? html`, line ${source.line_start}` : nothing}`}</p>
        ${this.lessons || link ? html`<footer>
          ${this.lessons && !selection ? html`<button class="plain" @click=${this.#openLesson}>${icons.book} Read in the lesson</button>` : nothing}
          ${link ? html`<a class="plain" href=${link} target=${this.target} rel="noopener noreferrer">${icons.out} Open the page</a>` : nothing}
        </footer>` : nothing}
      </div>`;
  }

  override updated(): void {
    const card = this.#card;
    if (!card || !this.#anchor) return;
    if (!card.matches(":popover-open")) card.showPopover();
    this.#place(card, this.#anchor.getBoundingClientRect());
  }

  /** Reacts to what the reader does at a citation. */
  handle(detail: CiteDetail): void {
    clearTimeout(this.#timer);
    if (detail.action === "leave") {
      if (!this.#pinned) this.#closeSoon();
    } else if (detail.action === "point") {
      if (this.#pinned) return;
      this.#timer = window.setTimeout(() => void this.show(detail.source, detail.anchor), detail.via === "keyboard" ? 0 : OPEN_AFTER);
    } else {
      this.#pinned = true;
      void this.show(detail.source, detail.anchor).then(() => {
        if (detail.via === "keyboard") this.#card?.querySelector<HTMLElement>("a, button")?.focus();
      });
    }
  }

  async show(source: Source, anchor: HTMLElement): Promise<void> {
    this.#anchor?.classList.remove("active");
    this.#anchor = anchor;
    anchor.classList.add("active");
    this.source = source;
    this.chunk = undefined;
    document.addEventListener("pointerdown", this.#outside, true);
    document.addEventListener("scroll", this.#moved, true);
    const chunk = await chunkOf(this.api, source, this.bookId);
    if (this.source === source) this.chunk = chunk;
    await this.updateComplete;
  }

  close(refocus = false): void {
    clearTimeout(this.#timer);
    document.removeEventListener("pointerdown", this.#outside, true);
    document.removeEventListener("scroll", this.#moved, true);
    const inside = this.matches(":focus-within") || (this.renderRoot as ShadowRoot).activeElement;
    this.#anchor?.classList.remove("active");
    if (refocus && inside) this.#anchor?.focus();
    this.source = undefined;
    this.#pinned = false;
  }

  get #card(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>(".card");
  }

  #closeSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.close(), CLOSE_AFTER);
  }

  #openLesson = (): void => {
    const source = this.source, anchor = this.#anchor;
    this.close();
    if (source) this.dispatchEvent(new CustomEvent("quire-lesson", { detail: { source, anchor }, bubbles: true, composed: true }));
  };

  #key = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.close(true);
  };

  #outside = (event: Event): void => {
    const path = event.composedPath();
    if (!path.includes(this) && !(this.#anchor && path.includes(this.#anchor))) this.close();
  };

  #moved = (event: Event): void => {
    if (!event.composedPath().includes(this)) this.close();
  };

  #place(card: HTMLElement, anchor: DOMRect): void {
    const box = card.getBoundingClientRect();
    const left = Math.max(12, Math.min(anchor.left + anchor.width / 2 - box.width / 2, innerWidth - box.width - 12));
    const below = anchor.bottom + 8;
    const above = anchor.top - box.height - 8;
    const top = below + box.height <= innerHeight - 8 || above < 8 ? Math.min(below, innerHeight - box.height - 8) : above;
    card.style.left = `${left}px`;
    card.style.top = `${Math.max(8, top)}px`;
  }
}

declare global {
  interface HTMLElementTagNameMap { "quire-preview": QuirePreview }
}
