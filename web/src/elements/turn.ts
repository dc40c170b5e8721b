/** `<quire-turn>`: one question with its answer, its proof, and what the reader can do with it. */
import { css, html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";

import { ApiError } from "../core/api.ts";
import { sourceTitle } from "../core/citations.ts";
import { clean, cleanLine } from "../core/cleantext.ts";
import { utf16Index } from "../core/codepoints.ts";
import { confidenceWords, refusalWords } from "../core/confidence.ts";
import { describeFilters } from "../core/filters.ts";
import { languageOf } from "../core/language.ts";
import { inBook } from "../core/links.ts";
import { plainText } from "../core/markdown.ts";
import { explain } from "../core/problems.ts";
import { isCourtesy, type Turn } from "../core/threads.ts";
import type { Book, ChatResponse, Source, Suggestion } from "../core/wire.ts";
import { base, prose } from "../styles/tokens.ts";
import "./answer.ts";
import { icons } from "./icons.ts";

export type TurnAction =
  | { do: "retry" | "retry-unfiltered" | "copy" | "share" | "key" }
  | { do: "ask"; question: string }
  | { do: "rate"; rating: "up" | "down"; reason?: string | undefined }
  | { do: "source"; source: Source; anchor: HTMLElement };

export interface TurnActionDetail {
  turn: Turn;
  action: TurnAction;
}

const REASONS = ["Not what I asked", "Something is missing", "The quote doesn’t fit", "Hard to understand"];

@customElement("quire-turn")
export class QuireTurn extends LitElement {
  static override styles = [base, prose, css`
    :host { display: block; }
    .question { font: 640 22px/1.32 var(--q-sans); letter-spacing: -0.014em; margin: 0 0 14px; overflow-wrap: anywhere; text-wrap: pretty; white-space: pre-line; }
    .question:lang(ur) { font-family: var(--q-nastaliq); line-height: 2.1; font-weight: 500; }
    .question:lang(ar) { font-family: var(--q-naskh); line-height: 1.7; }
    :host([compact]) .question { font-size: 16.5px; margin-bottom: 8px; }
    .selection { margin: 0 0 14px; padding: 10px 14px; border-inline-start: 3px solid var(--q-accent); background: var(--q-sunken); border-radius: 0 8px 8px 0;
      font: 14.5px/1.55 var(--q-serif); color: var(--q-muted); max-height: 180px; overflow: auto; white-space: pre-line; }
    .selection mark { color: var(--q-text); }
    .applied { display: flex; flex-wrap: wrap; gap: 6px; margin: -4px 0 14px; padding: 0; list-style: none; }
    .applied li { font-size: 12.5px; color: var(--q-accent); background: var(--q-accent-soft); border-radius: 99px; padding: 3px 10px; }
    .wait { color: var(--q-muted); font-size: 14.5px; display: flex; gap: 10px; align-items: center; min-height: 28px; }
    .dots { display: inline-flex; gap: 4px; }
    .dots i { width: 6px; height: 6px; border-radius: 50%; background: var(--q-accent); animation: wave 1.2s ease-in-out infinite; }
    .dots i:nth-child(2) { animation-delay: 0.15s; } .dots i:nth-child(3) { animation-delay: 0.3s; }
    @keyframes wave { 0%, 60%, 100% { opacity: 0.25; } 30% { opacity: 1; } }

    .after { animation: appear 0.18s ease-out; }
    @keyframes appear { from { opacity: 0; } }
    .confidence { margin: 16px 0 0; font-size: 13.5px; color: var(--q-muted); }
    .confidence summary { display: inline-flex; align-items: center; gap: 8px; cursor: pointer; list-style: none; border-radius: 6px; min-height: 28px; }
    .confidence summary::-webkit-details-marker { display: none; }
    .confidence summary .icon { width: 14px; height: 14px; transition: transform 0.15s; }
    .confidence[open] summary .icon { transform: rotate(180deg); }
    .meter { display: inline-flex; gap: 3px; }
    .meter i { width: 14px; height: 6px; border-radius: 3px; background: var(--q-line); }
    .meter i.on { background: var(--q-accent); }
    .low .meter i.on { background: var(--q-warn); }
    .label { font-weight: 600; color: var(--q-text); }
    .low .label { color: var(--q-warn); }
    .confidence p { margin: 6px 0 0; max-width: 60ch; line-height: 1.5; }

    .sources { margin: 14px 0 0; padding: 0; list-style: none; display: grid; gap: 10px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 290px), 1fr)); align-items: start; }
    .section { border: 1px solid var(--q-line); border-radius: 12px; background: var(--q-surface); padding: 10px 6px 6px; min-width: 0; }
    .section h3 { font: 600 13px/1.4 var(--q-sans); margin: 0; padding: 0 8px 4px; overflow-wrap: anywhere; }
    .source { display: flex; gap: 9px; width: 100%; text-align: start; padding: 6px 8px; border: 0; border-radius: 8px; background: none; }
    .source:hover { background: var(--q-sunken); }
    .source q { quotes: none; color: var(--q-muted); font: 14px/1.45 var(--q-serif); display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; min-width: 0; }
    .number { flex: none; min-width: 20px; height: 20px; border-radius: 6px; background: var(--q-accent-soft); color: var(--q-accent); font-weight: 600; font-size: 11.5px; line-height: 20px; text-align: center; }

    .actions { display: flex; flex-wrap: wrap; gap: 2px; margin: 12px 0 0 -8px; align-items: center; }
    .spread { flex: 1; }
    .note { font-size: 13px; color: var(--q-muted); padding: 0 8px; }

    .calm { border: 1px solid var(--q-line); border-radius: var(--q-radius); background: var(--q-surface); padding: 18px 20px; }
    .calm h3 { font: 620 16px/1.35 var(--q-sans); margin: 0 0 6px; display: flex; gap: 9px; align-items: center; }
    .calm h3 .icon { color: var(--q-accent); width: 20px; height: 20px; }
    .calm p { margin: 0; font-size: 14.5px; line-height: 1.55; color: var(--q-muted); }
    .calm h4 { font: 600 13px/1.4 var(--q-sans); margin: 16px 0 4px; }
    .near { list-style: none; margin: 0; padding: 0; }
    .near li { display: flex; gap: 8px; align-items: center; justify-content: space-between; border-top: 1px solid var(--q-line); padding: 6px 0; font-size: 14px; }
    .near li:first-child { border-top: 0; }
    .near a { color: var(--q-accent); text-underline-offset: 3px; text-decoration-thickness: 1px; overflow-wrap: anywhere; }
    .near .plain { color: var(--q-accent); flex: none; }
    .calm .buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 14px; }
    .problem { border-color: color-mix(in srgb, var(--q-danger) 40%, var(--q-line)); }
    .problem h3 .icon { color: var(--q-danger); }
    .trace { font: 11.5px var(--q-mono); color: var(--q-muted); margin-top: 10px; }
    .partial { margin-bottom: 16px; }
    .why { margin-top: 10px; padding: 14px; border: 1px solid var(--q-line); border-radius: 10px; background: var(--q-surface); }
    .why fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 6px; }
    .why legend { font-size: 13.5px; font-weight: 600; margin-bottom: 8px; padding: 0; }
    .why .chip { border: 1px solid var(--q-edge); background: none; border-radius: 99px; min-height: 32px; padding: 4px 12px; font-size: 13px; }
    .why .chip:hover { background: var(--q-sunken); }
    .why form { display: flex; gap: 8px; margin-top: 10px; }
  `];

  @property({ attribute: false }) turn!: Turn;
  /** Counts changes of `turn`, which is changed in place. */
  @property({ attribute: false }) version = 0;
  @property({ attribute: false }) book: Book | undefined;
  @property({ type: Boolean, reflect: true }) compact = false;
  /** Whether the server stores feedback. */
  @property({ type: Boolean }) rateable = true;

  @state() private asksWhy = false;
  @state() private note = "";

  override render() {
    const { turn } = this;
    const done = turn.status === "done" && turn.response;
    return html`
      <article aria-label=${`Question: ${cleanLine(turn.question)}`} aria-busy=${turn.status === "streaming"}>
        <h2 class="question" dir="auto" lang=${languageOf(turn.question) ?? ""}>${clean(turn.question)}</h2>
        ${turn.selectedText ? this.#selection(turn.selectedText) : nothing}
        ${this.#applied()}
        ${done ? this.#done(turn.response!) : this.#underway()}
      </article>`;
  }

  #underway(): TemplateResult {
    const { turn } = this;
    const answer = turn.text ? html`<div class="partial">${this.#answer()}</div>` : nothing;
    if (turn.status === "streaming") {
      // Words without a citation may be a refusal, which looks different: wait for what follows.
      return turn.cited.length > 0 ? this.#answer() : html`<p class="wait"><span class="dots"><i></i><i></i><i></i></span> Looking in ${turn.selectedText ? "your selection" : "the book"}…</p>`;
    }
    if (turn.status === "stopped") {
      return html`${answer}<div class="actions"><span class="note">Stopped.</span>
        <button class="plain" @click=${() => this.#act({ do: "retry" })}>${icons.retry} Ask again</button></div>`;
    }
    if (turn.status === "done") {
      return html`${answer}<div class="actions"><span class="note">The quotes were shown where this was asked.</span>
        <button class="plain" @click=${() => this.#act({ do: "retry" })}>${icons.retry} Ask again</button></div>`;
    }
    return html`${answer}${this.#problem()}`;
  }

  #answer(): TemplateResult {
    const { turn } = this;
    return html`<quire-answer .text=${turn.text} .sources=${turn.sources} .cited=${turn.cited} .baseUrl=${this.book?.base_url} ?streaming=${turn.status === "streaming"}></quire-answer>`;
  }

  #done(response: ChatResponse): TemplateResult {
    if (!response.should_answer) return html`<div class="after">${this.#refusal(response)}${this.#actions(false)}</div>`;
    return html`
      ${this.#answer()}
      <div class="after">
        ${response.clarification ? nothing : this.#confidence(response)}
        ${response.mode === "selected_text" ? nothing : this.#sources()}
        ${this.#actions(true)}
      </div>`;
  }

  #confidence(response: ChatResponse): TemplateResult {
    const words = confidenceWords(response);
    const level = { high: 3, medium: 2, low: 1, insufficient: 0 }[response.confidence_level] ?? 1;
    return html`
      <details class="confidence ${response.confidence_level}">
        <summary>
          ${response.mode === "selected_text" ? icons.check : html`<span class="meter" aria-hidden="true">${[1, 2, 3].map((i) => html`<i class=${i <= level ? "on" : ""}></i>`)}</span>`}
          <span><span class="label">${words.label}</span>${words.summary ? html` · ${words.summary}` : nothing}</span>
          ${icons.chevron}
        </summary>
        <p>${words.explanation}</p>
      </details>`;
  }

  #sources(): TemplateResult | typeof nothing {
    const { sources } = this.turn;
    if (sources.length === 0) return nothing;
    const sections = [...Map.groupBy(sources, (source) => `${source.source_url}\n${sourceTitle(source)}`).values()];
    return html`<ul class="sources" aria-label="Sources">${sections.map((section) => html`
      <li class="section"><h3 dir="auto">${sourceTitle(section[0]!)}</h3>${section.map((source) => html`
        <button class="source" title="Read it in the lesson" @click=${(event: Event) => this.#act({ do: "source", source, anchor: event.currentTarget as HTMLElement })}>
          <span class="number"><span class="hush">Source </span>${source.number}</span> <q dir="auto">${plainText(source.quote)}</q>
        </button>`)}</li>`)}</ul>`;
  }

  #refusal(response: ChatResponse): TemplateResult {
    // The server's own words name the nearest sections too; the list below says it better.
    const own = response.suggestions?.length && !response.clarification ? "" : cleanLine(plainText(response.answer));
    if (isCourtesy(response)) return html`<p dir="auto">${own}</p>`;
    const selected = response.mode === "selected_text";
    const filtered = Object.keys(response.applied_filters ?? {}).length > 0 && !selected;
    return html`
      <section class="calm">
        <h3>${icons.compass} ${selected ? "Your selection doesn’t say" : response.clarification ? "One question back" : "The book doesn’t say"}</h3>
        <p dir="auto">${own || refusalWords(response)}</p>
        ${filtered ? html`<div class="buttons"><button class="outline" @click=${() => this.#act({ do: "retry-unfiltered" })}>Search the whole book</button></div>` : nothing}
        ${this.#suggestions(response.suggestions ?? [])}
      </section>`;
  }

  #suggestions(suggestions: Suggestion[]): TemplateResult | typeof nothing {
    const unique = [...new Map(suggestions.map((s) => [s.source_url + s.title, s])).values()];
    const rows = unique.map((s) => ({ title: plainText(cleanLine(s.title)).slice(0, 160), link: inBook(s.source_url, this.book?.base_url) })).filter((s) => s.title);
    if (rows.length === 0) return nothing;
    return html`
      <h4>The nearest sections</h4>
      <ul class="near">${rows.map(({ title, link }) => html`
        <li>${link ? html`<a href=${link} target="_blank" rel="noopener noreferrer" dir="auto">${title}</a>` : html`<span dir="auto">${title}</span>`}
          <button class="plain" aria-label=${`Ask about it: ${title}`} @click=${() => this.#act({ do: "ask", question: `What does the book say about ${lastPart(title)}?` })}>Ask about it</button></li>`)}
      </ul>`;
  }

  #problem(): TemplateResult {
    const { error } = this.turn;
    const problem = explain(new ApiError(error?.code ?? "", error?.message ?? "", { retryAfter: error?.retryAfter, traceId: error?.traceId }));
    return html`
      <section class="calm problem" role="alert">
        <h3>${icons.alert} ${problem.title}</h3>
        <p>${problem.advice}</p>
        <div class="buttons">
          ${problem.key ? html`<button class="solid" @click=${() => this.#act({ do: "key" })}>Enter a key</button>` : nothing}
          ${problem.retry ? html`<button class="outline" @click=${() => this.#act({ do: "retry" })}>${icons.retry} Ask again</button>` : nothing}
        </div>
        ${problem.traceId ? html`<p class="trace">Reference ${cleanLine(problem.traceId)}</p>` : nothing}
      </section>`;
  }

  #selection(text: string): TemplateResult {
    const shown = clean(text) === text ? marked(text, this.turn.sources) : [clean(text)];
    return html`<blockquote class="selection" dir="auto" tabindex="0" aria-label="Your selection">${shown.map((piece, index) => (index % 2 ? html`<mark>${piece}</mark>` : piece))}</blockquote>`;
  }

  #applied(): TemplateResult | typeof nothing {
    const { turn } = this;
    if (turn.selectedText) return nothing;
    const words = describeFilters(turn.response?.applied_filters ?? turn.filters ?? {});
    return words.length === 0 ? nothing : html`<ul class="applied" aria-label="Filters that applied">${words.map((word) => html`<li>${cleanLine(word)}</li>`)}</ul>`;
  }

  #actions(answered: boolean): TemplateResult {
    const { turn } = this;
    return html`
      <div class="actions" role="group" aria-label="Actions">
        ${answered ? html`<button class="plain" @click=${() => this.#tell("copy", "Copied with its citations")}>${icons.copy} Copy</button>` : nothing}
        ${this.compact ? nothing : html`<button class="plain" @click=${() => this.#tell("share", "Link copied")}>${icons.link} Share</button>`}
        <button class="plain" @click=${() => this.#act({ do: "retry" })}>${icons.retry} Ask again</button>
        <span class="note" role="status">${this.note}</span>
        <span class="spread"></span>
        ${this.rateable ? html`
          <button class="plain" aria-label="Good answer" title="Good answer" aria-pressed=${turn.rating === "up"} @click=${() => this.#rate("up")}>${icons.up}</button>
          <button class="plain" aria-label="Bad answer" title="Bad answer" aria-pressed=${turn.rating === "down"} @click=${() => this.#rate("down")}>${icons.down}</button>` : nothing}
      </div>
      ${this.asksWhy ? this.#why() : nothing}`;
  }

  #why(): TemplateResult {
    return html`
      <div class="why">
        <fieldset><legend>What was wrong?</legend>
          ${REASONS.map((reason) => html`<button type="button" class="chip" @click=${() => this.#because(reason)}>${reason}</button>`)}
        </fieldset>
        <form @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          this.#because(String(new FormData(event.target as HTMLFormElement).get("reason") ?? ""));
        }}>
          <input class="field" name="reason" maxlength="500" aria-label="In your own words" placeholder="In your own words (optional)" dir="auto" />
          <button class="outline">Send</button>
        </form>
      </div>`;
  }

  #rate(rating: "up" | "down"): void {
    this.asksWhy = rating === "down";
    this.note = rating === "up" ? "Thank you" : "";
    this.#act({ do: "rate", rating });
  }

  #because(reason: string): void {
    this.asksWhy = false;
    this.note = "Thank you";
    this.#act({ do: "rate", rating: "down", reason: reason.trim() || undefined });
  }

  #tell(what: "copy" | "share", note: string): void {
    this.#act({ do: what });
    this.note = note;
    setTimeout(() => (this.note = ""), 2500);
  }

  #act(action: TurnAction): void {
    this.dispatchEvent(new CustomEvent<TurnActionDetail>("quire-turn", { detail: { turn: this.turn, action }, bubbles: true, composed: true }));
  }
}

/** `text` in pieces: plain, quoted, plain, … */
function marked(text: string, sources: Source[]): string[] {
  const spans = sources
    .filter((source) => source.source_url === "selected_text")
    .map((source) => [utf16Index(text, source.char_start), utf16Index(text, source.char_end)] as const)
    .sort((a, b) => a[0] - b[0]);
  const pieces: string[] = [];
  let at = 0;
  for (const [start, end] of spans) {
    if (start < at) continue;
    pieces.push(text.slice(at, start), text.slice(start, end));
    at = end;
  }
  return [...pieces, text.slice(at)];
}

function lastPart(title: string): string {
  return `“${title.split(" › ").at(-1)}”`;
}

declare global {
  interface HTMLElementTagNameMap { "quire-turn": QuireTurn }
}
