/** `<quire-widget>`: a button on any docs site; asks the book, or only what the reader selected. */
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";

import { Api } from "../core/api.ts";
import { copyText } from "../core/citations.ts";
import { cleanLine } from "../core/cleantext.ts";
import { Conversation } from "../core/conversation.ts";
import { sendRating } from "../core/feedback.ts";
import { plainText } from "../core/markdown.ts";
import { scrollToTop } from "../core/scrolling.ts";
import { newThread, ThreadStore, visitorOf, type Thread, type Turn } from "../core/threads.ts";
import type { Book } from "../core/wire.ts";
import type { CiteDetail } from "../elements/answer.ts";
import "../elements/composer.ts";
import type { QuireComposer } from "../elements/composer.ts";
import { icons, logo } from "../elements/icons.ts";
import "../elements/preview.ts";
import type { QuirePreview } from "../elements/preview.ts";
import "../elements/turn.ts";
import type { TurnActionDetail } from "../elements/turn.ts";
import { base, tokens } from "../styles/tokens.ts";
import { followScheme } from "./scheme.ts";
import { currentSelection, type Selected } from "./selection.ts";
import { look } from "./styles.ts";

const HIGHLIGHT = "quire-used";

@customElement("quire-widget")
export class QuireWidget extends LitElement {
  static override styles = [tokens, base, look];

  /** Where the API lives. */
  @property() api = "";
  @property() key = "";
  @property() book = "";
  /** What the button says. */
  @property() label = "Ask the book";
  /** "auto" follows the site; "light" and "dark" don't. */
  @property() theme = "auto";
  @property({ reflect: true }) scheme = "light";

  @state() private open = false;
  @state() private bookInfo: Book | undefined;
  @state() private thread: Thread = newThread("");
  @state() private version = 0;
  @state() private selected: Selected | undefined;
  @state() private offered: Selected | undefined;
  @state() private rateable = true;
  @state() private said = "";

  @query("quire-preview") private preview!: QuirePreview;
  @query("quire-composer") private composer!: QuireComposer;
  @query(".bubble") private bubble!: HTMLElement | null;

  #client!: Api;
  #conversation!: Conversation;
  #store!: ThreadStore;
  /** The selections asked about on this page, by turn. */
  #selections = new Map<string, Selected>();
  #stop: (() => void) | undefined;
  #timer = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    if (!this.#client) this.#prepare();
    for (const type of ["keydown", "keyup", "keypress"]) this.addEventListener(type, quiet);
    document.addEventListener("selectionchange", this.#selectionChanged);
    document.addEventListener("keydown", this.#pageKey);
    if (this.theme === "auto") this.#stop = followScheme((scheme) => (this.scheme = scheme));
    else this.scheme = this.theme;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("selectionchange", this.#selectionChanged);
    document.removeEventListener("keydown", this.#pageKey);
    this.#stop?.();
  }

  #prepare(): void {
    const key = this.key || undefined;
    this.#client = new Api({ base: this.api || document.baseURI, key, visitor: key && visitorOf(storage()) });
    this.#store = new ThreadStore(storage(), `quire:widget:${this.book}:`);
    this.#use(this.#store.list()[0] ?? newThread(this.book));
  }

  #use(thread: Thread): void {
    this.#conversation?.stop();
    this.thread = thread;
    this.#conversation = new Conversation(this.#client, thread, (turn) => this.#changed(turn));
  }

  /** Opens the panel, with a selection to ask about if there is one. */
  async show(selected?: Selected): Promise<void> {
    this.open = true;
    this.selected = selected;
    this.offered = undefined;
    if (!this.bookInfo) void this.#loadBook();
    await this.updateComplete;
    this.composer.focus();
    this.#scrollToLast("instant");
  }

  hide(): void {
    this.open = false;
    this.selected = undefined;
    this.preview?.close();
    CSS.highlights?.delete(HIGHLIGHT);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(".launch")?.focus());
  }

  async ask(question: string): Promise<void> {
    const { selected } = this;
    this.selected = undefined;
    const place = selected && { page_url: selected.pageUrl, char_start: selected.start, char_end: selected.end };
    const asking = this.#conversation.ask({ text: question, selectedText: selected?.text, place });
    const turn = this.thread.turns.at(-1)!;
    if (selected) this.#selections.set(turn.id, selected);
    await this.updateComplete;
    this.#scrollToLast();
    await asking;
    this.#markOnPage(turn);
  }

  async #loadBook(): Promise<void> {
    const books = await this.#client.books().catch(() => []);
    this.bookInfo = books.find((book) => book.id === this.book) ?? (this.book ? undefined : books[0]);
    if (this.bookInfo && !this.thread.bookId) this.thread.bookId = this.bookInfo.id;
  }

  /** The book's base address; unknown, the site's own pages are trusted. */
  get #baseUrl(): string {
    return this.bookInfo?.base_url || location.origin;
  }

  /** Shows a turn that was changed in place, and no other. */
  #refresh(turn: Turn): void {
    turn.version = (turn.version ?? 0) + 1;
    this.version++;
  }

  #changed(turn: Turn): void {
    this.#refresh(turn);
    if (turn.status === "done") {
      const n = turn.sources.length;
      this.said = `${plainText(turn.text)} ${turn.response?.should_answer ? `${n} ${n === 1 ? "source" : "sources"}.` : ""}`;
    }
    if (turn.status !== "streaming") this.#store.save(this.thread);
  }

  /** Marks the words the answer used, where they stand on the page. */
  #markOnPage(turn: Turn): void {
    const selected = this.#selections.get(turn.id);
    if (!selected || typeof Highlight === "undefined" || !CSS.highlights) return;
    const ranges = turn.sources
      .filter((source) => source.source_url === "selected_text")
      .map((source) => selected.rangeOf(source.char_start, source.char_end))
      .filter((range) => range !== undefined);
    if (ranges.length === 0) return;
    adoptHighlightStyle();
    CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges));
    document.getSelection()?.removeAllRanges();
  }

  #scrollToLast(behavior?: ScrollBehavior): void {
    scrollToTop(this.renderRoot.querySelector(".scroll"), this.renderRoot.querySelector("quire-turn.last"), behavior);
  }

  #selectionChanged = (): void => {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.offered = currentSelection(this);
      void this.updateComplete.then(() => this.#placeBubble());
    }, 180);
  };

  #placeBubble(): void {
    const rects = this.offered?.range.getClientRects();
    const last = rects?.[rects.length - 1];
    if (!this.bubble || !last) return;
    const width = this.bubble.offsetWidth;
    const left = Math.max(8, Math.min(last.right - width / 2, document.documentElement.clientWidth - width - 8));
    this.bubble.style.left = `${left + scrollX}px`;
    this.bubble.style.top = `${last.bottom + scrollY + 8}px`;
  }

  #pageKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && this.offered) this.offered = undefined;
  };

  #panelKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    if (this.preview?.open) this.preview.close(true);
    else if (this.#conversation.busy) this.#conversation.stop();
    else this.hide();
  };

  #onTurn = (event: CustomEvent<TurnActionDetail>): void => {
    const { turn, action } = event.detail;
    switch (action.do) {
      case "retry":
      case "retry-unfiltered":
      case "key": return void this.#conversation.retry(turn).then(() => this.#markOnPage(turn));
      case "ask": return void this.ask(action.question);
      case "copy": return void navigator.clipboard?.writeText(copyText(turn, this.#baseUrl)).catch(() => undefined);
      case "source": return this.preview.handle({ action: "open", source: action.source, anchor: action.anchor, via: "keyboard" });
      case "rate":
        turn.rating = action.rating;
        this.#refresh(turn);
        void sendRating(this.#client, this.thread, turn, action.reason).then((stored) => (this.rateable &&= stored));
    }
  };

  override render() {
    return html`
      <div class="frame">
        ${this.open ? this.#panel() : html`
          <button class="launch" aria-haspopup="dialog" @click=${() => this.show(this.offered)}>${logo} ${this.offered ? "Ask about this" : this.label}</button>`}
        ${this.offered && !this.open ? html`
          <button class="bubble" @pointerdown=${(event: Event) => event.preventDefault()} @click=${() => this.show(this.offered)}>${logo} Ask about this</button>` : nothing}
        ${this.offered && this.open ? html`
          <button class="bubble" @pointerdown=${(event: Event) => event.preventDefault()} @click=${() => this.show(this.offered)}>${logo} Ask about this</button>` : nothing}
        <div class="hush" role="status" aria-live="polite">${this.said}</div>
      </div>`;
  }

  #panel(): TemplateResult {
    const turns = this.thread.turns;
    const title = cleanLine(this.bookInfo?.title ?? "") || this.label;
    return html`
      <section class="panel" role="dialog" aria-label=${title} @keydown=${this.#panelKey} @quire-turn=${this.#onTurn}
        @quire-cite=${(event: CustomEvent<CiteDetail>) => this.preview.handle(event.detail)}>
        <header>${logo}<h2 class="name" dir="auto">${title}</h2>
          ${turns.length > 0 ? html`<button class="plain" aria-label="New conversation" title="New conversation" @click=${this.#startOver}>${icons.plus}</button>` : nothing}
          <button class="plain" aria-label="Close" title="Close (Esc)" @click=${() => this.hide()}>${icons.close}</button>
        </header>
        <div class="scroll" tabindex="0" role="region" aria-label="Conversation">
          ${turns.length > 0
            ? repeat(turns, (turn) => turn.id, (turn, index) => html`<quire-turn compact class=${index === turns.length - 1 ? "last" : ""} .turn=${turn} .version=${turn.version ?? 0}
                .book=${{ id: this.book, title, base_url: this.#baseUrl }} ?rateable=${this.rateable}></quire-turn>`)
            : html`<div class="hello"><h3>What would you like to know?</h3><p>Every sentence of an answer shows the words it rests on. Or select text on the page and ask about just that.</p></div>`}
        </div>
        <div class="dock">
          ${this.selected ? this.#chosen(this.selected) : nothing}
          <quire-composer placeholder=${this.selected ? "Ask about your selection…" : turns.length > 0 ? "Ask a follow-up…" : "Ask the book…"}
            ?busy=${turns.at(-1)?.status === "streaming"} .last=${turns.at(-1)?.question ?? ""}
            @quire-ask=${(event: CustomEvent<string>) => this.ask(event.detail)} @quire-stop=${() => this.#conversation.stop()}></quire-composer>
        </div>
        <quire-preview .api=${this.#client} .bookId=${this.thread.bookId} .baseUrl=${this.#baseUrl} target="_self"></quire-preview>
      </section>`;
  }

  #chosen(selected: Selected): TemplateResult {
    return html`
      <div class="chosen"><q dir="auto">${cleanLine(selected.text)}</q>
        <button class="plain" aria-label="Ask the whole book instead" title="Ask the whole book instead" @click=${() => (this.selected = undefined)}>${icons.close}</button></div>
      ${selected.truncated ? html`<p class="chosen"><small>Only the first 10,000 characters are used.</small></p>` : nothing}
      <div class="quick">${["What does this mean?", "What are the key points?"].map((question) => html`<button @click=${() => this.ask(question)}>${question}</button>`)}</div>`;
  }

  #startOver = (): void => {
    this.#store.remove(this.thread.id);
    this.#selections.clear();
    CSS.highlights?.delete(HIGHLIGHT);
    this.#use(newThread(this.bookInfo?.id ?? this.book));
    this.composer.focus();
  };
}

/** The site's own shortcuts must not fire while the reader types here. */
function quiet(event: Event): void {
  event.stopPropagation();
}

let adopted = false;

function adoptHighlightStyle(): void {
  if (adopted) return;
  adopted = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`::highlight(${HIGHLIGHT}) { background-color: var(--quire-mark, #ffe68f); color: #23201c; }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

function storage(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

declare global {
  interface HTMLElementTagNameMap { "quire-widget": QuireWidget }
}
