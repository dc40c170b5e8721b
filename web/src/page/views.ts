/** Parts of the page that only show what they are given. */
import { html, nothing, type TemplateResult } from "lit";

import { cleanLine } from "../core/cleantext.ts";
import { explain } from "../core/problems.ts";
import type { Book } from "../core/wire.ts";
import { icons } from "../elements/icons.ts";

export const MAC = /Mac|iPhone|iPad/.test(navigator.platform);
export const MOD = MAC ? "⌘" : "Ctrl";

export const noBook: TemplateResult = html`
  <section class="welcome"><h2>No book yet</h2><p class="lead">This server holds no book. Add one with <kbd>quire ingest PATH</kbd>, then reload.</p></section>`;

/** The book before the first question; `examples` is undefined while they are looked for. */
export function welcome(book: Book, examples: string[] | undefined, ask: (question: string) => void): TemplateResult {
  return html`
    <section class="welcome">
      <p class="kicker">Ask the book</p>
      <h2 dir="auto">${cleanLine(book.title)}</h2>
      <p class="lead">Every sentence of an answer shows <mark>the words in the book it rests on</mark>. What the book doesn’t say, you won’t be told.</p>
      ${examples?.length === 0 ? nothing : html`<ul class="examples ${examples ? "" : "waiting"}" aria-label="Questions to start with">${examples?.map((question) => html`<li><button dir="auto" @click=${() => ask(cleanLine(question))}>${cleanLine(question)}</button></li>`)}</ul>`}
      <p class="facts">${facts(book).map((fact) => html`<span>${fact}</span>`)}</p>
    </section>`;
}

/** What stands there when the books can't be had. */
export function noServer(trouble: unknown, actions: { enterKey: () => void; tryNow: () => void }): TemplateResult {
  const problem = explain(trouble);
  return html`
    <section class="welcome" role="alert">
      <h2>${problem.title}</h2>
      <p class="lead">${problem.away ? "We keep looking and will open the book as soon as the server is back." : problem.advice}</p>
      <p>${problem.key ? html`<button class="solid" @click=${actions.enterKey}>Enter a key</button>` : html`<button class="outline" @click=${actions.tryNow}>${icons.retry} Try now</button>`}</p>
    </section>`;
}

/** The line above the question field while the server is away, and when it is back. */
export function banner(away: "yes" | "back", askAgain: (() => void) | undefined): TemplateResult {
  return html`<div class="banner" role="status"><div>
    ${away === "yes"
      ? html`<span class="gone"></span><span>The server is away. Looking for it…</span><span></span>`
      : html`<span class="ok"></span><span>The server is back.</span>${askAgain ? html`<button class="plain" @click=${askAgain}>${icons.retry} Ask again</button>` : html`<span></span>`}`}
  </div></div>`;
}

export const shortcuts: TemplateResult = html`
  <dialog id="keys" aria-labelledby="keys-title">
    <h2 id="keys-title">Keyboard</h2>
    <dl>
      <dt><kbd>Enter</kbd></dt><dd>Ask; <kbd>Shift</kbd> <kbd>Enter</kbd> for a new line</dd>
      <dt><kbd>↑</kbd></dt><dd>Bring the last question back into an empty field</dd>
      <dt><kbd>${MOD}</kbd> <kbd>K</kbd></dt><dd>Go to the question field</dd>
      <dt><kbd>${MOD}</kbd> <kbd>Shift</kbd> <kbd>O</kbd></dt><dd>New conversation</dd>
      <dt><kbd>Tab</kbd></dt><dd>On a citation: shows its quote; <kbd>Enter</kbd> opens the lesson</dd>
      <dt><kbd>Esc</kbd></dt><dd>Close the quote or the lesson; stop an answer</dd>
    </dl>
    <form method="dialog" class="buttons"><button class="outline">Close</button></form>
  </dialog>`;

export function keyDialog(use: (event: SubmitEvent) => void, cancel: () => void): TemplateResult {
  return html`
    <dialog id="key" aria-labelledby="key-title">
      <form @submit=${use}>
        <h2 id="key-title">Your key</h2>
        <p>This server answers only to people with a key. It is kept until you close this tab and sent to this server only.</p>
        <input class="field" name="key" type="password" autocomplete="off" aria-label="Key" placeholder="sk_… or pk_…" />
        <div class="buttons"><button type="button" class="outline" @click=${cancel}>Cancel</button><button class="solid">Use this key</button></div>
      </form>
    </dialog>`;
}

function facts(book: Book): string[] {
  const found: string[] = [];
  if (book.pages) found.push(`${book.pages.toLocaleString("en")} pages`);
  if (book.chunks) found.push(`${book.chunks.toLocaleString("en")} passages`);
  if (book.last_ingested_at) found.push(`Updated ${new Date(book.last_ingested_at).toLocaleDateString("en", { day: "numeric", month: "long", year: "numeric" })}`);
  return found;
}
