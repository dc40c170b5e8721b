/** `<quire-admin>`: the author's view: what the book holds, what readers miss in it, how it is used. */
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";

import { Api } from "../core/api.ts";
import { cleanLine } from "../core/cleantext.ts";
import { inBook } from "../core/links.ts";
import { plainText } from "../core/markdown.ts";
import { explain, type Problem } from "../core/problems.ts";
import type { Book } from "../core/wire.ts";
import { icons, logo } from "../elements/icons.ts";
import { storedKey, storeKey } from "../page/key.ts";
import { currentTheme, nextTheme, setTheme } from "../page/theme.ts";
import { base, tokens } from "../styles/tokens.ts";
import { bars, lines } from "./chart.ts";
import { look } from "./styles.ts";
import type { Explained, GapGroup, Job, Key, Overview, UsageDay, WeakAnswer } from "./wire.ts";

const TABS = [
  ["books", "Books and jobs"], ["gaps", "What to write next"], ["weak", "Weak answers"],
  ["explain", "Search explained"], ["usage", "Usage"], ["keys", "Keys"],
] as const;
type Tab = (typeof TABS)[number][0];
type Loaded<T> = T | Problem | undefined;

const JOBS_EVERY = 1500;

@customElement("quire-admin")
export class QuireAdmin extends LitElement {
  static override styles = [tokens, base, look];

  @state() private tab: Tab = tabOf(location.hash);
  @state() private books: Book[] = [];
  @state() private bookId = "";
  @state() private gate: Problem | undefined;
  @state() private overview: Loaded<Overview>;
  @state() private jobs: Loaded<Job[]>;
  @state() private gaps: Loaded<GapGroup[]>;
  @state() private weak: Loaded<WeakAnswer[]>;
  @state() private explained: Loaded<Explained[]>;
  @state() private usage: Loaded<UsageDay[]>;
  @state() private keys: Loaded<Key[]>;
  @state() private created = "";
  @state() private notice = "";
  @state() private theme = currentTheme();

  readonly api = new Api({ base: new URL(".", document.baseURI).href, key: storedKey() });
  #timer = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("hashchange", this.#navigate);
    void this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("hashchange", this.#navigate);
    clearTimeout(this.#timer);
  }

  async #start(): Promise<void> {
    try {
      this.books = await this.api.books();
      this.gate = undefined;
    } catch (error) {
      this.gate = explain(error);
      return;
    }
    this.bookId ||= this.books[0]?.id ?? "";
    await this.#load();
  }

  #navigate = (): void => {
    this.tab = tabOf(location.hash);
    void this.#load();
  };

  /** Fetches what the shown tab needs. */
  async #load(): Promise<void> {
    clearTimeout(this.#timer);
    const book = { book_id: this.bookId };
    const got = async <T>(path: string, name?: string, query: Record<string, string> = book): Promise<T | Problem> => {
      try {
        const body = (await this.api.get(path, query)) as Record<string, unknown>;
        return (name && !Array.isArray(body) ? (body[name] ?? []) : body) as T;
      } catch (error) {
        const problem = explain(error);
        if (problem.key) this.gate = problem;
        return problem;
      }
    };
    if (this.tab === "books") {
      this.overview = await got<Overview>("admin/overview");
      this.jobs = await got<Job[]>("ingestion/jobs", "jobs", {});
      if (Array.isArray(this.jobs) && this.jobs.some((job) => job.status === "running" || job.status === "queued")) {
        this.#timer = window.setTimeout(() => void this.#load(), JOBS_EVERY);
      }
    } else if (this.tab === "gaps") this.gaps = await got("admin/unanswered", "groups");
    else if (this.tab === "weak") this.weak = await got("admin/low-confidence", "questions");
    else if (this.tab === "usage") this.usage = await got("admin/usage", "days");
    else if (this.tab === "keys") this.keys = await got("admin/keys", "keys", {});
  }

  get #book(): Book | undefined {
    return this.books.find((book) => book.id === this.bookId);
  }

  override render() {
    if (this.gate) return this.#gate(this.gate);
    const themes = { auto: icons.auto, light: icons.sun, dark: icons.moon };
    return html`
      <header class="top">
        <h1 class="brand">${logo} Quire <small>Author’s view</small></h1>
        <span class="spread"></span>
        ${this.books.length > 1 ? html`<select class="field" aria-label="Book" @change=${(event: Event) => { this.bookId = (event.target as HTMLSelectElement).value; void this.#load(); }}>
          ${this.books.map((book) => html`<option value=${book.id} ?selected=${book.id === this.bookId}>${cleanLine(book.title)}</option>`)}</select>` : nothing}
        <button class="plain" aria-label=${`Theme: ${this.theme}`} title=${`Theme: ${this.theme}`} @click=${() => setTheme((this.theme = nextTheme(this.theme)))}>${themes[this.theme]}</button>
        <a class="plain" href="./">Ask the book</a>
      </header>
      <main><div role="tablist" aria-label="Author’s view" @keydown=${this.#tabKey}>
        ${TABS.map(([id, name]) => html`<button role="tab" id="tab-${id}" aria-selected=${this.tab === id} aria-controls="panel" tabindex=${this.tab === id ? 0 : -1} @click=${() => (location.hash = id)}>${name}</button>`)}
      </div>
      <div role="tabpanel" id="panel" aria-labelledby="tab-${this.tab}">${this.#panel()}</div></main>
      <div class="hush" role="status" aria-live="polite">${this.notice}</div>`;
  }

  #panel(): TemplateResult {
    switch (this.tab) {
      case "books": return this.#booksPanel();
      case "gaps": return this.#gapsPanel();
      case "weak": return this.#weakPanel();
      case "explain": return this.#explainPanel();
      case "usage": return this.#usagePanel();
      case "keys": return this.#keysPanel();
    }
  }

  #booksPanel(): TemplateResult {
    const overview = isProblem(this.overview) ? undefined : this.overview;
    const numbers: [string, number | undefined][] = [
      ["Questions", overview?.questions], ["Answered", overview?.answered], ["Not in the book", overview?.refused],
      ["Conversations", overview?.sessions], ["Thumbs up", overview?.rated_up], ["Thumbs down", overview?.rated_down],
    ];
    const shown = numbers.filter(([, value]) => value !== undefined);
    return html`
      ${shown.length > 0 ? html`<dl class="figures">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value!.toLocaleString("en")}</dd></div>`)}</dl>` : nothing}
      <section><h2>Books</h2>
        <div class="cards">${this.books.map((book) => html`
          <article class="card"><h3 dir="auto">${cleanLine(book.title)}</h3>
            <p class="quiet">${(book.pages ?? 0).toLocaleString("en")} pages · ${(book.chunks ?? 0).toLocaleString("en")} chunks</p>
            <p class="quiet">${book.last_ingested_at ? `Last ingest ${when(book.last_ingested_at)}` : "Never ingested"} · <code>${book.id}</code></p>
          </article>`)}</div>
      </section>
      <section><h2>Ingest</h2><p>Reads the book’s pages again. Readers keep getting answers meanwhile.</p>
        <form class="row" @submit=${this.#ingest}>
          <label>Book<select class="field" name="book_id">${this.books.map((book) => html`<option value=${book.id} ?selected=${book.id === this.bookId}>${cleanLine(book.title)}</option>`)}</select></label>
          <label>How<select class="field" name="mode"><option value="incremental">Only what changed</option><option value="full">Every page again</option><option value="recreate">Build a new index</option></select></label>
          <button class="solid">Start</button>
        </form>
      </section>
      <section><h2>Jobs</h2>${this.#list(this.jobs, "No job has run yet.", (jobs) => this.#jobsTable(jobs))}</section>`;
  }

  #jobsTable(jobs: Job[]): TemplateResult {
    return html`<div class="wide" tabindex="0" role="group" aria-label="Jobs"><table>
      <thead><tr><th scope="col">Job</th><th scope="col">Book</th><th scope="col">Status</th><th scope="col">Progress</th><th scope="col" class="n">Chunks</th><th scope="col">Started</th></tr></thead>
      <tbody>${jobs.map((job) => {
        const done = (job.files_processed ?? 0) + (job.files_skipped ?? 0) + (job.files_failed ?? 0);
        const all = job.files_discovered ?? 0;
        return html`<tr><th scope="row">${job.job_id} · ${job.mode}</th><td>${job.book_id}</td>
          <td><span class="status ${job.status}">${job.status}</span>${job.error_message ? html`<span class="score">${cleanLine(job.error_message)}</span>` : nothing}</td>
          <td>${job.status === "running" && all > 0 ? html`<progress max=${all} value=${done} aria-label="Pages read"></progress> ` : nothing}${done}${all ? ` of ${all}` : ""} pages${job.files_failed ? `, ${job.files_failed} failed` : ""}</td>
          <td class="n">+${job.chunks_created ?? 0} −${job.chunks_deleted ?? 0}</td><td>${when(job.started_at)}</td></tr>`;
      })}</tbody></table></div>`;
  }

  #gapsPanel(): TemplateResult {
    return html`<section><h2>What readers ask and the book doesn’t say</h2><p>Similar questions are counted together, under the section that comes nearest.</p>
      ${this.#list(this.gaps, "Nothing: every question so far was answered.", (groups) => html`<div class="card">${groups.map((group) => {
        const section = typeof group.section === "string" ? { title: group.section } : group.section;
        const link = section && "source_url" in section ? inBook(section.source_url ?? "", this.#book?.base_url) : undefined;
        const title = cleanLine(section?.title ?? "") || "No section is near";
        return html`<div class="gap"><span class="count" title="Times asked">${group.count}</span>
          <h3 dir="auto">${link ? html`<a href=${link} target="_blank" rel="noopener noreferrer">${title}</a>` : title}</h3>
          <ul>${group.questions.map((q) => html`<li dir="auto">${cleanLine(q.question)}${q.count && q.count > 1 ? ` (${q.count}×)` : ""}</li>`)}</ul></div>`;
      })}</div>`)}</section>`;
  }

  #weakPanel(): TemplateResult {
    return html`<section><h2>Answers that were weak</h2><p>Low confidence, or a reader’s thumb pointed down.</p>
      ${this.#list(this.weak, "None yet.", (rows) => html`<div class="wide" tabindex="0" role="group" aria-label="Weak answers"><table>
        <thead><tr><th scope="col">Question</th><th scope="col">Confidence</th><th scope="col">Reader</th><th scope="col">Asked</th></tr></thead>
        <tbody>${rows.map((row) => html`<tr><th scope="row" dir="auto">${cleanLine(row.question)}</th>
          <td><span class="status ${row.confidence_level ?? ""}">${row.confidence_level ?? "–"}</span>${row.confidence != null ? html`<span class="score">${Math.round(row.confidence * 100)} in 100</span>` : nothing}</td>
          <td dir="auto">${row.rating === "down" ? "Thumb down" : row.rating === "up" ? "Thumb up" : "–"}${row.reason ? html`<span class="score">${cleanLine(row.reason)}</span>` : nothing}</td>
          <td>${when(row.asked_at)}</td></tr>`)}</tbody></table></div>`)}</section>`;
  }

  #explainPanel(): TemplateResult {
    return html`<section><h2>How a question is searched</h2><p>The same passages, ranked by meaning (dense), by words (BM25), by both (fused) and, where there is one, by the reranker.</p>
      <form class="row" @submit=${this.#search}><label>Question<input class="field" name="q" required minlength="3" maxlength="2000" dir="auto" autocomplete="off" /></label><button class="solid">Explain</button></form>
      ${this.explained === undefined ? nothing : this.#list(this.explained, "Nothing was found.", (rows) => html`<div class="wide" tabindex="0" role="group" aria-label="Ranks"><table>
        <thead><tr><th scope="col">Passage</th>${ranks(rows).map(([, name]) => html`<th scope="col" class="n">${name}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr><th scope="row"><div class="passage" dir="auto">${cleanLine(row.page_title)}${row.section_title ? ` › ${cleanLine(row.section_title)}` : ""}<p>${plainText(row.text).slice(0, 300)}</p></div></th>
          ${ranks(rows).map(([kind]) => html`<td class="n">${rank(row[`${kind}_rank`], row[`${kind}_score`])}</td>`)}</tr>`)}</tbody></table></div>`)}</section>`;
  }

  #usagePanel(): TemplateResult {
    return html`<section><h2>Usage</h2><p>Per day. Latency is the time to the whole answer.</p>
      ${this.#list(this.usage, "No question has been asked yet.", (days) => {
        const labels = days.map((day) => day.date);
        return html`<div class="cards wider">${bars("Questions", labels, [
          { name: "Answered", values: days.map((d) => d.answered ?? 0) },
          { name: "Not in the book", values: days.map((d) => d.refused ?? 0) },
          { name: "Errors", values: days.map((d) => d.errors ?? 0) },
        ])}${lines("Latency", labels, [
          { name: "Median", values: days.map((d) => d.p50_ms ?? 0) },
          { name: "95th percentile", values: days.map((d) => d.p95_ms ?? 0) },
        ], " ms")}</div>`;
      })}</section>`;
  }

  #keysPanel(): TemplateResult {
    return html`
      <section><h2>Keys</h2><p>A publishable key (<code>pk_</code>) works for one book from the sites you name; a secret key (<code>sk_</code>) belongs on a server.</p>
        <form class="row" @submit=${this.#createKey}>
          <label>Name<input class="field" name="name" required maxlength="100" autocomplete="off" /></label>
          <label class="narrow">Kind<select class="field" name="kind"><option value="publishable">Publishable</option><option value="secret">Secret</option><option value="admin">Admin</option></select></label>
          <label>Sites (for publishable keys)<input class="field" name="origins" placeholder="https://docs.example.org" autocomplete="off" /></label>
          <button class="solid">Create</button>
        </form>
        ${this.created ? html`<div class="card once" role="status"><h3>Copy it now; it is not shown again.</h3><p><code>${this.created}</code></p></div>` : nothing}
        ${this.#list(this.keys, "No key yet.", (keys) => html`<div class="wide" tabindex="0" role="group" aria-label="Keys"><table>
          <thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">May</th><th scope="col">Book and sites</th><th scope="col">Last used</th><th scope="col"><span class="hush">Revoke</span></th></tr></thead>
          <tbody>${keys.map((key) => html`<tr><th scope="row">${cleanLine(key.name ?? "")}</th><td><code>${key.prefix ?? key.id}…</code></td><td>${(key.scopes ?? [key.scope ?? ""]).join(", ")}</td>
            <td>${key.book_id ?? "all books"}${key.origins?.length ? html`<span class="score">${key.origins.map(cleanLine).join(", ")}</span>` : nothing}</td><td>${when(key.last_used_at)}</td>
            <td class="n">${key.revoked_at ? html`<span class="score">revoked ${when(key.revoked_at)}</span>` : html`<button class="plain" aria-label=${`Revoke ${key.name ?? key.id}`} @click=${() => this.#revoke(key)}>${icons.trash} Revoke</button>`}</td></tr>`)}</tbody></table></div>`)}
      </section>`;
  }

  #list<T>(loaded: Loaded<T[]>, none: string, show: (rows: T[]) => TemplateResult): TemplateResult {
    if (loaded === undefined) return html`<p class="quiet">Loading…</p>`;
    if (isProblem(loaded)) {
      const missing = loaded.title === "That is no longer there.";
      return html`<p class="quiet">${missing ? "This server doesn’t offer this yet." : `${loaded.title} ${loaded.advice}`}</p>`;
    }
    return loaded.length === 0 ? html`<p class="quiet">${none}</p>` : show(loaded);
  }

  #gate(problem: Problem): TemplateResult {
    return html`<main class="gate"><h1>${problem.key ? "Author’s view" : problem.title}</h1>
      ${problem.key
        ? html`<p>${problem.title} ${problem.advice} It needs the admin scope, and is kept until you close this tab.</p>
          <form class="row" @submit=${this.#useKey}><label>Key<input class="field" name="key" type="password" required autocomplete="off" /></label><button class="solid">Open</button></form>`
        : html`<p>${problem.advice}</p><button class="outline" @click=${() => this.#start()}>${icons.retry} Try again</button>`}</main>`;
  }

  #useKey = (event: SubmitEvent): void => {
    const key = formValue(event, "key");
    storeKey(key);
    this.api.key = key;
    void this.#start();
  };

  #ingest = async (event: SubmitEvent): Promise<void> => {
    const body = { book_id: formValue(event, "book_id"), mode: formValue(event, "mode") };
    await this.#do(() => this.api.send("POST", "ingestion/jobs", body), "The job has started.");
  };

  #search = async (event: SubmitEvent): Promise<void> => {
    const q = formValue(event, "q");
    this.explained = await this.api.get("admin/explain", { q, book_id: this.bookId })
      .then((body) => ((body as { results?: Explained[] }).results ?? []))
      .catch((error: unknown) => explain(error));
  };

  #createKey = async (event: SubmitEvent): Promise<void> => {
    const kind = formValue(event, "kind");
    const origins = formValue(event, "origins").split(/[\s,]+/).filter(Boolean);
    const body = {
      name: formValue(event, "name"), kind: kind === "publishable" ? "publishable" : "secret",
      scopes: kind === "admin" ? ["ask", "admin"] : ["ask"],
      ...(kind === "publishable" ? { book_id: this.bookId, origins } : {}),
    };
    await this.#do(async () => {
      const made = (await this.api.send("POST", "admin/keys", body)) as { key?: string } | undefined;
      this.created = made?.key ?? "";
    }, "The key was created.");
  };

  async #revoke(key: Key): Promise<void> {
    await this.#do(() => this.api.send("DELETE", `admin/keys/${encodeURIComponent(key.id)}`), "The key was revoked.");
  }

  async #do(work: () => Promise<unknown>, done: string): Promise<void> {
    try {
      await work();
      this.notice = done;
    } catch (error) {
      const problem = explain(error);
      this.notice = `${problem.title} ${problem.advice}`;
    }
    await this.#load();
  }

  #tabKey = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const index = TABS.findIndex(([id]) => id === this.tab);
    const next = TABS[(index + step + TABS.length) % TABS.length]![0];
    location.hash = next;
    this.tab = next;
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#tab-${next}`)?.focus());
  };
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "advice" in value;
}

function tabOf(hash: string): Tab {
  return TABS.find(([id]) => `#${id}` === hash)?.[0] ?? "books";
}

function formValue(event: SubmitEvent, name: string): string {
  event.preventDefault();
  return String(new FormData(event.currentTarget as HTMLFormElement).get(name) ?? "").trim();
}

/** The rankings that took part; a server without a reranker has three. */
function ranks(rows: Explained[]) {
  const all = [["dense", "Dense"], ["bm25", "BM25"], ["fused", "Fused"], ["rerank", "Reranked"]] as const;
  return all.filter(([kind]) => rows.some((row) => row[`${kind}_rank`] != null));
}

function rank(place: number | null | undefined, score: number | null | undefined): TemplateResult {
  if (place == null) return html`<span class="score">–</span>`;
  return html`<span class="rank ${place === 1 ? "first" : ""}">${place}</span>${score != null ? html`<span class="score">${score.toPrecision(3)}</span>` : nothing}`;
}

function when(time: string | null | undefined): string {
  if (!time) return "–";
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "–" : date.toLocaleString("en", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false });
}

declare global {
  interface HTMLElementTagNameMap { "quire-admin": QuireAdmin }
}
