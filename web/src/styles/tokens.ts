/** Colours, type and spacing. A site themes the widget through the `--quire-*` properties. */
import { css } from "lit";

export const tokens = css`
  :host {
    --q-bg: var(--quire-background, light-dark(#faf8f4, #171614));
    --q-surface: var(--quire-surface, light-dark(#ffffff, #201e1b));
    --q-sunken: var(--quire-sunken, light-dark(#f3efe8, #121110));
    --q-line: var(--quire-line, light-dark(#e3ddd2, #37332e));
    --q-edge: var(--quire-edge, light-dark(#8d8578, #7d766c));
    --q-text: var(--quire-text, light-dark(#23201c, #ece7de));
    --q-muted: var(--quire-muted, light-dark(#635c52, #aaa296));
    --q-accent: var(--quire-accent, light-dark(#1b5e57, #86cfc4));
    --q-on-accent: var(--quire-on-accent, light-dark(#ffffff, #0e1f1d));
    --q-accent-soft: var(--quire-accent-soft, light-dark(#e1efec, #1d3633));
    --q-mark: var(--quire-mark, light-dark(#ffe68f, #594710));
    --q-warn: light-dark(#7a4f00, #ecc474);
    --q-danger: light-dark(#9d2b1c, #f4a595);
    --q-shadow: 0 1px 2px light-dark(#3a2f1f14, #0006), 0 8px 28px light-dark(#3a2f1f1f, #0008);
    --q-sans: var(--quire-font, "Inter Variable", system-ui, -apple-system, "Segoe UI", sans-serif);
    --q-serif: var(--quire-reading-font, "Source Serif 4 Variable", "Iowan Old Style", Charter, Georgia, serif);
    --q-mono: var(--quire-mono-font, ui-monospace, "SF Mono", "Cascadia Code", Menlo, "DejaVu Sans Mono", monospace);
    --q-radius: var(--quire-radius, 12px);
    --q-nastaliq: "Noto Nastaliq Urdu", "Jameel Noori Nastaleeq", "Urdu Typesetting", "Noto Naskh Arabic", var(--q-serif);
    --q-naskh: "Noto Naskh Arabic", "Geeza Pro", "Segoe UI", var(--q-serif);
  }
`;

/** What every element starts from: boxes, focus, buttons. */
export const base = css`
  :host { box-sizing: border-box; font-family: var(--q-sans); color: var(--q-text); }
  *, *::before, *::after { box-sizing: inherit; }
  [hidden] { display: none !important; }
  :focus-visible { outline: 2px solid var(--q-accent); outline-offset: 2px; }
  button, select, input, textarea { font: inherit; color: inherit; }
  button { cursor: pointer; }
  button:disabled, button[aria-disabled="true"] { cursor: default; }
  svg.icon { width: 1.15em; height: 1.15em; flex: none; display: block; }
  .plain {
    display: inline-flex; align-items: center; gap: 6px; min-height: 32px; min-width: 32px; justify-content: center;
    border: 0; background: none; border-radius: 8px; padding: 4px 8px; color: var(--q-muted); font-size: 13px;
    text-decoration: none;
  }
  .plain:hover { background: var(--q-sunken); color: var(--q-text); }
  .plain[aria-pressed="true"] { color: var(--q-accent); background: var(--q-accent-soft); }
  .solid {
    display: inline-flex; align-items: center; justify-content: center; gap: 8px; min-height: 36px;
    border: 1px solid transparent; border-radius: 9px; padding: 6px 14px; font-size: 14px; font-weight: 550;
    background: var(--q-accent); color: var(--q-on-accent);
  }
  .solid:hover { filter: brightness(1.08); }
  .outline {
    display: inline-flex; align-items: center; justify-content: center; gap: 8px; min-height: 36px;
    border: 1px solid var(--q-edge); border-radius: 9px; padding: 6px 14px; font-size: 14px; font-weight: 500;
    background: var(--q-surface); color: var(--q-text); text-decoration: none;
  }
  .outline:hover { background: var(--q-sunken); }
  .hush {
    position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden;
    clip-path: inset(50%); white-space: nowrap; border: 0;
  }
  .field {
    width: 100%; min-height: 38px; border: 1px solid var(--q-edge); border-radius: 9px; padding: 7px 11px;
    background: var(--q-surface); font-size: 14px;
  }
  @media (prefers-reduced-motion: reduce) {
    *, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; }
  }
`;

/** Rendered Markdown: answers, quotes and lessons. */
export const prose = css`
  .prose { font-family: var(--q-serif); font-size: var(--q-prose-size, 17.5px); line-height: 1.62; overflow-wrap: break-word; }
  .prose:lang(ur), .prose :is(p, li, td, th, h3, h4):lang(ur) { font-family: var(--q-nastaliq); line-height: 2.2; }
  .prose:lang(ar), .prose :is(p, li, td, th, h3, h4):lang(ar) { font-family: var(--q-naskh); line-height: 1.9; }
  .prose :is(p, ul, ol, blockquote, .scroll, hr) { margin: 0 0 0.85em; }
  .prose > :last-child, .prose > :last-child > :last-child { margin-bottom: 0; }
  .prose :is(h3, h4, h5, h6) {
    font-family: var(--q-sans); font-weight: 620; line-height: 1.3; letter-spacing: -0.006em; margin: 1.35em 0 0.5em; font-size: 1em;
  }
  .prose h3 { font-size: 1.14em; }
  .prose :is(ul, ol) { padding-inline-start: 1.45em; }
  .prose li { margin: 0.25em 0; }
  .prose li > :is(ul, ol) { margin: 0.25em 0; }
  .prose li::marker { color: var(--q-muted); }
  .prose a { color: var(--q-accent); text-underline-offset: 0.16em; text-decoration-thickness: 1px; }
  .prose code {
    font-family: var(--q-mono); font-size: 0.82em; background: var(--q-sunken); border-radius: 5px; padding: 0.12em 0.36em;
    direction: ltr; unicode-bidi: isolate;
  }
  .prose .scroll { overflow-x: auto; border: 1px solid var(--q-line); border-radius: 10px; background: var(--q-sunken); }
  .prose pre { margin: 0; padding: 13px 16px; line-height: 1.5; width: max-content; min-width: 100%; direction: ltr; text-align: left; }
  .prose pre code { background: none; padding: 0; font-size: 13px; }
  .prose table { border-collapse: collapse; font-family: var(--q-sans); font-size: 13.5px; line-height: 1.45; width: 100%; background: var(--q-surface); }
  .prose :is(th, td) { text-align: start; padding: 7px 12px; border-bottom: 1px solid var(--q-line); vertical-align: top; }
  .prose tr:last-child td { border-bottom: 0; }
  .prose th { font-weight: 600; background: var(--q-sunken); white-space: nowrap; }
  .prose blockquote { border-inline-start: 3px solid var(--q-line); padding-inline-start: 14px; margin-inline: 0; color: var(--q-muted); }
  .prose hr { border: 0; border-top: 1px solid var(--q-line); }
  mark { background: var(--q-mark); color: inherit; border-radius: 3px; padding: 0.06em 0; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
`;
