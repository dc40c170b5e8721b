/** `<quire-app>`: the chat page. */
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";

import { parsePlace, placeHash } from "../core/address.ts";
import { Api, ApiError } from "../core/api.ts";
import { copyText } from "../core/citations.ts";
import { cleanLine } from "../core/cleantext.ts";
import { ConnectionWatch } from "../core/connection.ts";
import { Conversation } from "../core/conversation.ts";
import { examplesFromTitles } from "../core/examples.ts";
import { sendRating } from "../core/feedback.ts";
import { choices, filtersOf, type Choice } from "../core/filters.ts";
import { plainText } from "../core/markdown.ts";
import { explain } from "../core/problems.ts";
import { scrollToTop } from "../core/scrolling.ts";
import { ThreadShelf, type ThreadEntry } from "../core/shelf.ts";
import { newThread, ThreadStore, titleOf, type Thread, type Turn } from "../core/threads.ts";
import type { Book, Filters, Source } from "../core/wire.ts";
import type { CiteDetail } from "../elements/answer.ts";
import "../elements/composer.ts";
import type { QuireComposer } from "../elements/composer.ts";
import { icons, logo } from "../elements/icons.ts";
import "../elements/lesson-panel.ts";
import type { QuireLesson } from "../elements/lesson-panel.ts";
import "../elements/preview.ts";
import type { QuirePreview } from "../elements/preview.ts";
import "../elements/thread-list.ts";
import "../elements/turn.ts";
import type { QuireTurn, TurnActionDetail } from "../elements/turn.ts";
import { base, tokens } from "../styles/tokens.ts";
import { storedKey, storeKey } from "./key.ts";
import { layout } from "./styles.ts";
import { currentTheme, nextTheme, setTheme } from "./theme.ts";
import { banner, keyDialog, MAC, MOD, noBook, noServer, shortcuts, welcome } from "./views.ts";

@customElement("quire-app")
export class QuireApp extends LitElement {
  static override styles = [tokens, base, layout];

  @state() private books: Book[] = [];
  @state() private ready = false;
  @state() private trouble: unknown;
  @state() private thread: Thread = newThread("");
  @state() private threads: ThreadEntry[] = [];
  @state() private version = 0;
  @state() private chosen: Record<string, string> = {};
  @state() private examples: string[] | undefined;
  @state() private menu = false;
  @state() private lesson: Source | undefined;
  @state() private rateable = true;
  @state() private away: "no" | "yes" | "back" = "no";
  @state() private said = "";
  @state() private theme = currentTheme();

  @query("quire-composer") private composer!: QuireComposer;
  @query("quire-preview") private preview!: QuirePreview;

  readonly api = new Api({ base: new URL(".", document.baseURI).href, key: storedKey() });
  #shelf = new ThreadShelf(this.api, new ThreadStore(storage()));
  #conversation = new Conversation(this.api, this.thread, (turn) => this.#changed(turn));
  #watch = new ConnectionWatch(this.api, () => this.#serverBack());
  #lessonAnchor: HTMLElement | undefined;
  #choices: Choice[] = [];
  #saving = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    this.threads = this.#shelf.entries();
    window.addEventListener("keydown", this.#key);
    window.addEventListener("hashchange", this.#navigate);
    window.addEventListener("pagehide", this.#save);
    void this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("keydown", this.#key);
    window.removeEventListener("hashchange", this.#navigate);
    window.removeEventListener("pagehide", this.#save);
    this.#watch.stop();
  }

  /** Asks as if the reader had typed it. */
  async ask(question: string, filters: Filters = filtersOf(this.#choices, this.chosen)): Promise<void> {
    const asking = this.#conversation.ask({ text: question, filters });
    this.#remember();
    await this.updateComplete;
    this.#scrollToLast();
    await asking;
  }

  /** Begins a new conversation. */
  startOver(bookId = this.thread.bookId): void {
    this.#use(newThread(bookId));
    location.hash = "";
    this.composer?.focus();
  }

  // ── the start ──

  async #start(): Promise<void> {
    try {
      this.books = await this.api.books();
      this.trouble = undefined;
    } catch (error) {
      this.trouble = error;
      const problem = explain(error);
      if (problem.away) this.#serverGone();
      if (problem.key) void this.updateComplete.then(() => this.#dialog("key").showModal());
      this.ready = true;
      return;
    }
    this.ready = true;
    if (!this.thread.bookId) this.thread.bookId = this.books[0]?.id ?? "";
    this.#bookChanged();
    this.#navigate();
    if (this.#mayListSessions()) void this.#shelf.refresh().then(() => (this.threads = this.#shelf.entries()));
    await this.updateComplete;
    if (matchMedia("(hover: hover)").matches) this.composer?.focus();
  }

  #navigate = (): void => {
    const place = parsePlace(location.hash);
    if (place.kind === "ask") {
      const book = this.books.find((b) => b.id === place.bookId) ?? this.book;
      this.#use(newThread(book?.id ?? ""));
      void this.ask(place.question, place.filters);
    } else if (place.kind === "thread" && place.id !== this.thread.id) {
      void this.#open(place.id);
    } else if (place.kind === "home" && this.thread.turns.length > 0) {
      this.#use(newThread(this.thread.bookId));
    }
  };

  get book(): Book | undefined {
    return this.books.find((book) => book.id === this.thread.bookId) ?? (this.thread.bookId ? undefined : this.books[0]);
  }

  #bookChanged(): void {
    this.#choices = choices(this.book?.taxonomy);
    this.chosen = {};
    const own = (this.book?.examples ?? []).slice(0, 4);
    const bookId = this.book?.id ?? "";
    this.examples = own.length > 0 || !bookId ? own : undefined;
    if (this.examples) return;
    void this.api.pageTitles(bookId).then(examplesFromTitles, () => []).then((examples) => {
      if (this.book?.id === bookId) this.examples = examples;
    });
  }

  // ── threads ──

  #use(thread: Thread): void {
    this.#conversation.stop();
    const sameBook = thread.bookId === this.thread.bookId;
    this.thread = thread;
    this.#conversation = new Conversation(this.api, thread, (turn) => this.#changed(turn));
    this.lesson = undefined;
    this.menu = false;
    this.preview?.close();
    if (!sameBook) this.#bookChanged();
    this.#title();
  }

  async #open(id: string): Promise<void> {
    const thread = await this.#shelf.find(id, this.thread.bookId);
    if (!thread) return this.startOver();
    this.#use(thread);
    location.hash = placeHash({ kind: "thread", id });
    await this.updateComplete;
    this.#scrollToLast("instant");
  }

  /** Who shares a key with others must not see their conversations: only a key of one's own, or one's own machine. */
  #mayListSessions(): boolean {
    return this.api.key?.startsWith("sk_") ?? /^(localhost|127\..*|\[::1\])$/.test(location.hostname);
  }

  #onThread = (event: CustomEvent<{ action: string; thread: ThreadEntry }>): void => {
    const { action, thread: { id, title } } = event.detail;
    if (action === "open") return void this.#open(id);
    if (action === "rename") {
      this.#shelf.rename(id, title, this.thread);
    } else {
      this.#shelf.remove(id);
      if (id === this.thread.id) this.startOver();
    }
    this.threads = this.#shelf.entries();
    this.#title();
  };

  #remember(): void {
    location.hash = placeHash({ kind: "thread", id: this.thread.id });
    this.#title();
    this.#save();
  }

  #save = (): void => {
    clearTimeout(this.#saving);
    this.#saving = 0;
    if (this.thread.turns.length === 0) return;
    this.#shelf.save(this.thread);
    this.threads = this.#shelf.entries();
  };

  #title(): void {
    document.title = this.thread.turns.length > 0 ? `${titleOf(this.thread)} – Quire` : "Quire";
  }

  // ── answers ──

  /** Shows a turn that was changed in place, and no other. */
  #refresh(turn: Turn): void {
    turn.version = (turn.version ?? 0) + 1;
    this.version++;
  }

  #changed(turn: Turn): void {
    if (!this.thread.turns.includes(turn)) return;
    this.#refresh(turn);
    this.#announce(turn);
    if (turn.status === "failed" && explain(new ApiError(turn.error?.code ?? "", "")).away) this.#serverGone();
    if (turn.status === "done" && this.away === "yes") this.#serverBack();
    if (turn.status !== "streaming") this.#save();
    else this.#saving ||= window.setTimeout(this.#save, 400);
  }

  #announced = "";
  #announce(turn: Turn): void {
    if (turn.status === "streaming") {
      if (turn.text === "") this.#announced = "";
      const fresh = plainText(turn.text.slice(this.#announced.length));
      if (fresh) this.said = fresh;
      this.#announced = turn.text;
    } else if (turn.status === "done") {
      const n = turn.sources.length;
      this.said = turn.response?.should_answer ? `${plainText(turn.text.slice(this.#announced.length))} Answer complete, ${n} ${n === 1 ? "source" : "sources"}.` : plainText(turn.text);
    } else if (turn.status === "stopped") this.said = "Stopped.";
  }

  #scrollToLast(behavior?: ScrollBehavior): void {
    scrollToTop(this.renderRoot.querySelector(".scroll"), this.renderRoot.querySelector("quire-turn.last"), behavior);
  }

  #onTurn = (event: CustomEvent<TurnActionDetail>): void => {
    const { turn, action } = event.detail;
    switch (action.do) {
      case "retry": return void this.#conversation.retry(turn);
      case "retry-unfiltered":
        turn.filters = undefined;
        this.chosen = {};
        return void this.#conversation.retry(turn);
      case "ask": return void this.ask(action.question);
      case "copy": return copy(copyText(turn, this.book?.base_url));
      case "share": {
        const url = new URL(location.href);
        url.hash = placeHash({ kind: "ask", question: turn.question, bookId: this.thread.bookId, filters: turn.filters ?? {} });
        return copy(url.href);
      }
      case "key": return this.#dialog("key").showModal();
      case "source": return void this.#openLesson(action.source, action.anchor);
      case "rate":
        turn.rating = action.rating;
        this.#refresh(turn);
        this.#save();
        void sendRating(this.api, this.thread, turn, action.reason).then((stored) => (this.rateable &&= stored));
    }
  };

  #onCite = (event: CustomEvent<CiteDetail>): void => {
    const { detail } = event;
    if (detail.action === "open" && detail.via !== "touch" && detail.source.source_url !== "selected_text") {
      this.preview.close();
      void this.#openLesson(detail.source, detail.anchor);
    } else {
      this.preview.handle(detail);
    }
  };

  async #openLesson(source: Source, anchor?: HTMLElement): Promise<void> {
    this.lesson = source;
    this.#lessonAnchor = anchor;
    await this.updateComplete;
    this.renderRoot.querySelector<QuireLesson>("quire-lesson")?.focusTitle();
  }

  #closeLesson = (): void => {
    this.lesson = undefined;
    this.#lessonAnchor?.focus();
    this.preview.close(); // the reader has just seen the quote at full length
  };

  // ── the server ──

  #serverGone(): void {
    this.away = "yes";
    this.#watch.start();
  }

  #serverBack(): void {
    this.#watch.stop();
    this.away = "back";
    if (this.trouble) void this.#start();
    setTimeout(() => this.away === "back" && (this.away = "no"), 6000);
  }

  #useKey = (event: SubmitEvent): void => {
    event.preventDefault();
    const key = String(new FormData(event.target as HTMLFormElement).get("key") ?? "").trim();
    storeKey(key);
    this.api.key = key || undefined;
    this.#dialog("key").close();
    const last = this.thread.turns.at(-1);
    if (this.trouble) void this.#start();
    else if (last?.status === "failed") void this.#conversation.retry(last);
  };

  #dialog(id: string): HTMLDialogElement {
    return this.renderRoot.querySelector<HTMLDialogElement>(`dialog#${id}`)!;
  }

  #key = (event: KeyboardEvent): void => {
    const mod = MAC ? event.metaKey : event.ctrlKey;
    if (event.key === "Escape" && !event.defaultPrevented) {
      if (this.preview?.open) this.preview.close(true);
      else if (this.menu) this.menu = false;
      else if (this.lesson) this.#closeLesson();
      else if (this.#conversation.busy) this.#conversation.stop();
    } else if (mod && event.key === "k") {
      event.preventDefault();
      this.composer?.focus();
    } else if (mod && event.shiftKey && event.key.toLowerCase() === "o") {
      event.preventDefault();
      this.startOver();
    } else if (mod && event.key === "/") {
      event.preventDefault();
      this.#dialog("keys").showModal();
    }
  };

  // ── what is shown ──

  override render() {
    const { book } = this;
    const turns = this.thread.turns;
    const covered = this.menu && matchMedia("(max-width: 860px)").matches;
    return html`
      <button class="solid skip" @click=${() => this.composer.focus()}>Skip to the question</button>
      ${this.menu ? html`<button class="shade menu" tabindex="-1" aria-hidden="true" @click=${() => (this.menu = false)}></button>` : nothing}
      ${this.#side()}
      <main @quire-turn=${this.#onTurn} @quire-cite=${this.#onCite} @quire-lesson=${(e: CustomEvent<{ source: Source; anchor: HTMLElement }>) => this.#openLesson(e.detail.source, e.detail.anchor)}>
        <h1 class="hush">${cleanLine(book?.title ?? "")} – Quire</h1>
        <div class="talk" ?inert=${covered}>
        ${this.#top()}
        <div class="scroll" tabindex="0" role="region" aria-label="Conversation">
          <div class="column">
            ${!this.ready ? nothing : turns.length > 0
              ? html`<div class="turns">${repeat(turns, (turn) => turn.id, (turn, index) => html`
                  <quire-turn class=${index === turns.length - 1 ? "last" : ""} .turn=${turn} .version=${turn.version ?? 0} .book=${book} ?rateable=${this.rateable}></quire-turn>`)}</div>`
              : this.#welcome()}
          </div>
        </div>
        <div class="dock"><div>
          ${this.#banner()}
          <quire-composer .choices=${this.#choices} .chosen=${this.chosen} ?busy=${turns.at(-1)?.status === "streaming"} .last=${turns.at(-1)?.question ?? ""}
            placeholder=${turns.length > 0 ? "Ask a follow-up…" : "Ask the book…"}
            @quire-ask=${(event: CustomEvent<string>) => this.ask(event.detail)} @quire-stop=${() => this.#conversation.stop()}
            @quire-filter=${(event: CustomEvent<Record<string, string>>) => (this.chosen = event.detail)}></quire-composer>
          <p class="fine">Answers come only from the book. Each sentence shows the words it rests on.</p>
        </div></div>
        </div>
        <quire-preview .api=${this.api} .bookId=${this.thread.bookId} .baseUrl=${book?.base_url} lessons></quire-preview>
      </main>
      ${this.lesson ? html`
        <button class="shade lesson" tabindex="-1" aria-hidden="true" @click=${this.#closeLesson}></button>
        <aside class="panel" aria-label="Lesson" @quire-close=${this.#closeLesson}>
          <quire-lesson .api=${this.api} .bookId=${this.thread.bookId} .baseUrl=${book?.base_url} .source=${this.lesson}></quire-lesson>
        </aside>` : nothing}
      <div class="hush" role="status" aria-live="polite">${this.said}</div>
      ${shortcuts}
      ${keyDialog(this.#useKey, () => this.#dialog("key").close())}`;
  }

  #side(): TemplateResult {
    const theme = { auto: "System", light: "Light", dark: "Dark" }[this.theme];
    return html`
      <nav class="side ${this.menu ? "shown" : ""}" aria-label="Conversations" @quire-thread=${this.#onThread}>
        <div class="brand">${logo} Quire</div>
        <button class="outline new" @click=${() => this.startOver()}>${icons.plus} New conversation</button>
        <div class="list"><quire-threads .threads=${this.threads} current=${this.thread.id}></quire-threads></div>
        <footer>
          <button class="plain" aria-label=${`Theme: ${theme}`} title="Theme" @click=${() => setTheme((this.theme = nextTheme(this.theme)))}>${{ auto: icons.auto, light: icons.sun, dark: icons.moon }[this.theme]} ${theme}</button>
          <span class="spread"></span>
          <button class="plain" aria-label="Keyboard shortcuts" title=${`Keyboard shortcuts (${MOD} /)`} @click=${() => this.#dialog("keys").showModal()}>${icons.keyboard}</button>
        </footer>
      </nav>`;
  }

  #top(): TemplateResult {
    const title = cleanLine(this.book?.title ?? "");
    return html`
      <header class="top">
        <button class="plain narrow" aria-label="Conversations" aria-expanded=${this.menu} @click=${() => (this.menu = true)}>${icons.menu}</button>
        ${this.books.length > 1
          ? html`<span class="bookselect"><select aria-label="Book" @change=${(event: Event) => this.startOver((event.target as HTMLSelectElement).value)}>
              ${this.books.map((book) => html`<option value=${book.id} ?selected=${book.id === this.thread.bookId}>${cleanLine(book.title)}</option>`)}</select>${icons.chevron}</span>`
          : html`<p class="title" dir="auto" aria-hidden="true">${title || "Quire"}</p>`}
        <span class="spread"></span>
        ${this.thread.turns.length > 0 ? html`<button class="plain narrow" aria-label="New conversation" @click=${() => this.startOver()}>${icons.plus}</button>` : nothing}
      </header>`;
  }

  #welcome(): TemplateResult {
    if (this.trouble) return noServer(this.trouble, { enterKey: () => this.#dialog("key").showModal(), tryNow: () => void this.#start() });
    return this.book ? welcome(this.book, this.examples, (question) => void this.ask(question)) : noBook;
  }

  #banner(): TemplateResult | typeof nothing {
    if (this.away === "no" || (this.away === "yes" && this.trouble)) return nothing;
    const last = this.thread.turns.at(-1);
    const askAgain = (): void => {
      this.away = "no";
      if (last) void this.#conversation.retry(last);
    };
    return banner(this.away, last?.status === "failed" ? askAgain : undefined);
  }

  override firstUpdated(): void {
    this.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && (event.composedPath()[0] as Element).closest?.("dialog")) event.stopPropagation();
    });
  }
}

function copy(text: string): void {
  if (navigator.clipboard) void navigator.clipboard.writeText(text).catch(() => undefined);
}

function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

declare global {
  interface HTMLElementTagNameMap { "quire-app": QuireApp; "quire-turn": QuireTurn }
}
