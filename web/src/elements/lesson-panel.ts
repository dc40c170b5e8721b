/** `<quire-lesson>`: the lesson beside the answer, with the cited passage marked. */
import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import type { Api } from "../core/api.ts";
import { cleanLine } from "../core/cleantext.ts";
import { languageOf } from "../core/language.ts";
import { renderLesson } from "../core/lesson.ts";
import { sourceLink } from "../core/quotelink.ts";
import type { Chunk, Lesson, Source } from "../core/wire.ts";
import { scrollToMiddle } from "../core/scrolling.ts";
import { base, prose } from "../styles/tokens.ts";
import { icons } from "./icons.ts";
import { chunkOf } from "./quote.ts";
import "./quote.ts";

@customElement("quire-lesson")
export class QuireLesson extends LitElement {
  static override styles = [base, prose, css`
    :host { display: flex; flex-direction: column; height: 100%; min-width: 0; background: var(--q-surface); --q-prose-size: 16px; }
    header { display: flex; align-items: flex-start; gap: 8px; padding: 14px 12px 12px 20px; border-bottom: 1px solid var(--q-line); }
    header > div { flex: 1; min-width: 0; }
    h2 { font: 620 15px/1.35 var(--q-sans); margin: 3px 0 0; outline: 0; }
    .where { color: var(--q-muted); font-size: 12.5px; margin: 2px 0 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .body { flex: 1; overflow: auto; padding: 20px 20px 40px; overscroll-behavior: contain; }
    .body:focus-visible { outline-offset: -3px; }
    .outline { min-height: 32px; font-size: 13px; padding: 4px 10px; }
    .tools { display: flex; gap: 4px; align-items: center; flex: none; }
    .wait { color: var(--q-muted); }
    mark { scroll-margin-block: 30vh; }
    .block { margin-bottom: 0.85em; }
  `];

  @property({ attribute: false }) api!: Api;
  @property({ attribute: false }) bookId = "";
  @property({ attribute: false }) baseUrl: string | null | undefined;
  @property({ attribute: false }) source!: Source;

  @state() private lesson: Lesson | undefined;
  @state() private chunk: Chunk | undefined;
  @state() private loading = true;

  override render() {
    const { source } = this;
    const link = sourceLink(source.source_url, source.quote, this.baseUrl);
    return html`
      <header>
        <div>
          <h2 id="title" tabindex="-1" dir="auto">${cleanLine(this.lesson?.page_title || source.page_title) || "Source"}</h2>
          <p class="where" title=${cleanLine(source.source_file)}><span dir="auto">${cleanLine(source.section_heading)}</span>${source.source_file ? html` · <span dir="ltr">${cleanLine(source.source_file)}</span>` : nothing}</p>
        </div>
        <div class="tools">
          ${link ? html`<a class="outline" href=${link} target="_blank" rel="noopener noreferrer">${icons.out} Open page</a>` : nothing}
          <button class="plain" aria-label="Close the lesson" title="Close (Esc)" @click=${this.#close}>${icons.close}</button>
        </div>
      </header>
      <div class="body" tabindex="0" role="group" aria-label="Lesson text">
        ${this.loading ? html`<p class="wait">Opening the lesson…</p>` : nothing}
        <div id="lesson" class="prose" lang=${languageOf(source.quote) ?? ""} ?hidden=${this.loading || !this.lesson}></div>
        ${!this.loading && !this.lesson ? html`<quire-quote .source=${source} .chunk=${this.chunk} .baseUrl=${this.baseUrl}></quire-quote>` : nothing}
      </div>`;
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has("source")) void this.#load(this.source);
  }

  /** Moves the keyboard here. */
  focusTitle(): void {
    this.renderRoot.querySelector<HTMLElement>("#title")?.focus({ preventScroll: true });
  }

  async #load(source: Source): Promise<void> {
    this.loading = true;
    this.chunk = await chunkOf(this.api, source, this.bookId);
    const parent = this.chunk?.parent_doc_id;
    if (!parent) this.lesson = undefined;
    else if (this.lesson?.parent_doc_id !== parent) {
      this.lesson = await this.api.lesson(parent, this.bookId).catch(() => undefined);
    }
    if (this.source !== source) return;
    this.loading = false;
    await this.updateComplete;
    this.#paint();
  }

  #paint(): void {
    const root = this.renderRoot.querySelector<HTMLElement>("#lesson");
    if (!root || !this.lesson) return;
    const span = { start: this.source.char_start, end: this.source.char_end };
    const { content, mark } = renderLesson(this.lesson.chunks ?? [], span, this.baseUrl);
    root.replaceChildren(content);
    scrollToMiddle(this.renderRoot.querySelector(".body"), mark ?? null);
  }

  #close = (): void => {
    this.dispatchEvent(new CustomEvent("quire-close", { bubbles: true, composed: true }));
  };
}

declare global {
  interface HTMLElementTagNameMap { "quire-lesson": QuireLesson }
}
