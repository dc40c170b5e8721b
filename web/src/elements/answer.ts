/** `<quire-answer>`: an answer that grows sentence by sentence, with citation buttons in it. */
import { css, html, LitElement, type PropertyValues } from "lit";
import { customElement, property } from "lit/decorators.js";

import { placeCitations, sourceTitle } from "../core/citations.ts";
import { clean } from "../core/cleantext.ts";
import { languageOf } from "../core/language.ts";
import { blocks, render } from "../core/markdown.ts";
import type { Source } from "../core/wire.ts";
import { base, prose } from "../styles/tokens.ts";

/** A reader points at a citation (`point`), leaves it (`leave`) or opens it (`open`). */
export interface CiteDetail {
  action: "point" | "leave" | "open";
  source: Source;
  anchor: HTMLElement;
  via: "mouse" | "touch" | "keyboard";
}

@customElement("quire-answer")
export class QuireAnswer extends LitElement {
  static override styles = [base, prose, css`
    :host { display: block; }
    .glued { white-space: nowrap; }
    .prose .cite {
      display: inline-block; min-width: 20px; height: 20px; margin-inline: 3px 0; padding: 0 5px; border: 0; border-radius: 6px;
      background: var(--q-accent-soft); color: var(--q-accent); font: 600 11.5px/20px var(--q-sans); font-variant-numeric: tabular-nums;
      text-align: center; vertical-align: 0.14em; position: relative; transition: background-color 0.12s, color 0.12s;
    }
    .cite::after { content: ""; position: absolute; inset: -3px -2px; }
    .cite:hover, .cite.active { background: var(--q-accent); color: var(--q-on-accent); }
    .cite[aria-disabled="true"] { opacity: 0.65; }
    .growing > :last-child > :last-child::after {
      content: ""; display: inline-block; width: 0.5em; height: 0.5em; margin-inline-start: 0.35em; border-radius: 50%;
      background: var(--q-accent); animation: pulse 1.1s ease-in-out infinite;
    }
    @keyframes pulse { 50% { opacity: 0.25; } }
  `];

  @property({ attribute: false }) text = "";
  @property({ attribute: false }) sources: Source[] = [];
  /** Numbers that are cited but whose sources have not arrived. */
  @property({ attribute: false }) cited: number[] = [];
  @property({ type: Boolean }) streaming = false;
  @property({ attribute: false }) baseUrl: string | null | undefined;

  #shown: { key: string; element: HTMLElement }[] = [];

  override render() {
    return html`<div class="prose ${this.streaming ? "growing" : ""}"
      @click=${this.#click} @pointerover=${this.#over} @pointerout=${this.#out}
      @focusin=${this.#focus} @focusout=${this.#blur}></div>`;
  }

  override updated(changed: PropertyValues): void {
    if (!["text", "sources", "cited", "baseUrl"].some((name) => changed.has(name))) return;
    const root = this.renderRoot.firstElementChild as HTMLElement;
    const known = new Set([...this.cited, ...this.sources.map((source) => source.number)]);
    const wanted = blocks(clean(this.text)).map((block) => block.source);
    const suffix = `\u0000${[...known].sort().join()}\u0000${this.baseUrl}`;
    wanted.forEach((source, index) => {
      const key = source.trimEnd() + suffix;
      const old = this.#shown[index];
      if (old?.key === key) return;
      const element = this.#block(source, known);
      const refocus = old ? this.#focusedCite(old.element) : undefined;
      if (old) old.element.replaceWith(element);
      else root.append(element);
      this.#shown[index] = { key, element };
      if (refocus !== undefined) element.querySelectorAll<HTMLElement>(".cite")[refocus]?.focus();
    });
    for (const extra of this.#shown.splice(wanted.length)) extra.element.remove();
    this.#label(root);
  }

  #block(source: string, known: Set<number>): HTMLElement {
    const element = document.createElement("div");
    const language = languageOf(source);
    if (language) element.lang = language;
    element.append(render(source, { baseUrl: this.baseUrl }));
    placeCitations(element, known, (number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "cite";
      button.textContent = String(number);
      button.dataset["number"] = String(number);
      return button;
    });
    return element;
  }

  #label(root: HTMLElement): void {
    for (const button of root.querySelectorAll<HTMLElement>(".cite")) {
      const source = this.#sourceOf(button);
      button.setAttribute("aria-disabled", String(!source));
      button.setAttribute("aria-label", source ? `Source ${source.number}: ${sourceTitle(source)}` : `Source ${button.dataset["number"]}`);
    }
  }

  #focusedCite(element: HTMLElement): number | undefined {
    const active = (this.renderRoot as ShadowRoot).activeElement;
    const index = active ? [...element.querySelectorAll(".cite")].indexOf(active) : -1;
    return index < 0 ? undefined : index;
  }

  #sourceOf(element: Element | null | undefined): Source | undefined {
    const number = Number((element as HTMLElement | null)?.dataset?.["number"]);
    return this.sources.find((source) => source.number === number);
  }

  #tell(event: Event, action: CiteDetail["action"], via: CiteDetail["via"]): void {
    const anchor = (event.target as Element).closest<HTMLElement>(".cite");
    const source = this.#sourceOf(anchor);
    if (!anchor || !source) return;
    this.dispatchEvent(new CustomEvent<CiteDetail>("quire-cite", { detail: { action, source, anchor, via }, bubbles: true, composed: true }));
  }

  #click = (event: MouseEvent): void => {
    const type = (event as PointerEvent).pointerType;
    this.#tell(event, "open", event.detail === 0 ? "keyboard" : type === "touch" || type === "pen" ? "touch" : "mouse");
  };
  #over = (event: PointerEvent): void => {
    if (event.pointerType === "mouse") this.#tell(event, "point", "mouse");
  };
  #out = (event: PointerEvent): void => {
    if (event.pointerType === "mouse") this.#tell(event, "leave", "mouse");
  };
  #focus = (event: FocusEvent): void => {
    if ((event.target as Element).matches(":focus-visible")) this.#tell(event, "point", "keyboard");
  };
  #blur = (event: FocusEvent): void => this.#tell(event, "leave", "keyboard");
}

declare global {
  interface HTMLElementTagNameMap { "quire-answer": QuireAnswer }
}
