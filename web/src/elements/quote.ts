/** `<quire-quote>`: a quote marked inside its paragraph. */
import { css, html, LitElement } from "lit";
import { customElement, property } from "lit/decorators.js";

import type { Api } from "../core/api.ts";
import { cleanLine } from "../core/cleantext.ts";
import { languageOf } from "../core/language.ts";
import { markWords, paragraphAround } from "../core/lesson.ts";
import { render } from "../core/markdown.ts";
import type { Chunk, Source } from "../core/wire.ts";
import { base, prose } from "../styles/tokens.ts";

const AROUND = 320;
const fetched = new Map<string, Promise<Chunk | undefined>>();

/** The stored chunk of a source; fetched once, nothing when the server has no such route. */
export function chunkOf(api: Api, source: Source, bookId: string): Promise<Chunk | undefined> {
  if (!source.chunk_id) return Promise.resolve(undefined);
  const key = `${api.base}|${bookId}|${source.chunk_id}`;
  let chunk = fetched.get(key);
  if (!chunk) {
    chunk = api.chunk(source.chunk_id, bookId).catch(() => {
      fetched.delete(key);
      return undefined;
    });
    fetched.set(key, chunk);
  }
  return chunk;
}

@customElement("quire-quote")
export class QuireQuote extends LitElement {
  static override styles = [base, prose, css`
    :host { display: block; --q-prose-size: 15.5px; }
    .prose { line-height: 1.55; }
  `];

  @property({ attribute: false }) source!: Source;
  @property({ attribute: false }) chunk: Chunk | undefined;
  @property({ attribute: false }) baseUrl: string | null | undefined;

  override render() {
    return html`<div class="prose" dir="auto" lang=${languageOf(this.source.quote) ?? ""}></div>`;
  }

  override updated(): void {
    const root = this.renderRoot.firstElementChild as HTMLElement;
    const { before, quote, after } = this.#context();
    const content = document.createElement("div");
    content.append(render(shortenStart(before) + quote + shortenEnd(after), { baseUrl: this.baseUrl, html: "strip" }));
    if (!markWords(content, quote)) {
      const mark = document.createElement("mark");
      mark.textContent = cleanLine(quote);
      content.replaceChildren(mark);
    }
    root.replaceChildren(...content.childNodes);
  }

  /** The paragraph by the chunk's offsets, else by finding the quote in the passage, else the quote alone. */
  #context(): { before: string; quote: string; after: string } {
    const { source, chunk } = this;
    if (chunk) {
      const found = paragraphAround(chunk.text, chunk.char_start, { start: source.char_start, end: source.char_end });
      if (found && found.quote === source.quote) return found;
    }
    const text = chunk?.text ?? source.chunk_text;
    const at = text.indexOf(source.quote);
    const around = at < 0 ? undefined : paragraphAround(text, 0, { start: [...text.slice(0, at)].length, end: [...text.slice(0, at + source.quote.length)].length });
    return around ?? { before: "", quote: source.quote, after: "" };
  }
}

function shortenStart(text: string): string {
  if (text.length <= AROUND || /^\s*\|/m.test(text)) return text;
  return "… " + text.slice(-AROUND).replace(/^\S*\s+/, "");
}

function shortenEnd(text: string): string {
  if (text.length <= AROUND || /^\s*\|/m.test(text)) return text;
  return text.slice(0, AROUND).replace(/\s+\S*$/, "") + " …";
}

declare global {
  interface HTMLElementTagNameMap { "quire-quote": QuireQuote }
}
