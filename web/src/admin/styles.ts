/** The author's view. */
import { css } from "lit";

export const look = css`
  :host { display: block; min-height: 100dvh; background: var(--q-bg); font-size: 14.5px; line-height: 1.5; }
  .top { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 18px; padding: 12px 24px 0; max-width: 1120px; margin: 0 auto; }
  .brand { display: flex; align-items: center; gap: 9px; font-weight: 660; font-size: 17px; letter-spacing: -0.02em; }
  .brand small { font-weight: 500; font-size: 13.5px; color: var(--q-muted); letter-spacing: 0; }
  .logo { width: 24px; height: 24px; color: var(--q-accent); }
  .spread { flex: 1; }
  [role="tablist"] { display: flex; gap: 2px; overflow-x: auto; max-width: 1120px; margin: 10px auto 0; padding: 3px 20px 0; border-bottom: 1px solid var(--q-line); scrollbar-width: none; }
  [role="tab"] { border: 0; background: none; padding: 9px 12px 11px; font-size: 14px; color: var(--q-muted); white-space: nowrap; border-bottom: 2px solid transparent; border-radius: 6px 6px 0 0; }
  [role="tab"]:hover { color: var(--q-text); }
  [role="tab"][aria-selected="true"] { color: var(--q-text); font-weight: 600; border-bottom-color: var(--q-accent); }
  [role="tabpanel"] { max-width: 1120px; margin: 0 auto; padding: 24px 24px 64px; display: grid; gap: 28px; grid-template-columns: minmax(0, 1fr); }
  [role="tabpanel"]:focus-visible { outline-offset: -2px; }
  h1, h2 { margin: 0; }
  h2 { font: 620 17px/1.3 var(--q-sans); letter-spacing: -0.008em; }
  h2 + p { margin: 4px 0 14px; color: var(--q-muted); max-width: 70ch; }
  h3 { font: 600 14.5px/1.4 var(--q-sans); margin: 0; }
  .card { border: 1px solid var(--q-line); border-radius: var(--q-radius); background: var(--q-surface); padding: 16px 18px; }
  .cards { display: grid; gap: 12px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); margin-top: 12px; }
  .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); border: 1px solid var(--q-line); border-radius: var(--q-radius); background: var(--q-surface); margin: 0; overflow: hidden; }
  .figures div { padding: 13px 18px; border-inline-end: 1px solid var(--q-line); margin-inline-end: -1px; }
  .figures dt { font-size: 13px; color: var(--q-muted); }
  .figures dd { margin: 2px 0 0; font: 400 25px/1.2 var(--q-serif); font-variant-numeric: lining-nums tabular-nums; }
  .cards.wider { grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr)); }
  .quiet { color: var(--q-muted); font-size: 13.5px; margin: 0; }
  form.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; margin-top: 12px; }
  form.row label { display: grid; gap: 4px; font-size: 13px; font-weight: 550; flex: 1 1 160px; }
  form.row label.narrow { flex: 0 1 170px; }
  select.field { appearance: auto; }
  .wide { overflow-x: auto; border: 1px solid var(--q-line); border-radius: var(--q-radius); background: var(--q-surface); margin-top: 12px; }
  table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
  th, td { text-align: start; padding: 9px 14px; border-bottom: 1px solid var(--q-line); vertical-align: top; }
  tbody tr:last-child > * { border-bottom: 0; }
  thead th { font-weight: 600; color: var(--q-muted); font-size: 12.5px; white-space: nowrap; background: var(--q-sunken); }
  tbody th { font-weight: 500; }
  td.n, th.n { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
  progress { appearance: none; width: 120px; height: 6px; border: 0; border-radius: 3px; overflow: hidden; background: var(--q-line); vertical-align: middle; }
  progress::-webkit-progress-bar { background: var(--q-line); }
  progress::-webkit-progress-value { background: var(--q-accent); transition: inline-size 0.3s; }
  progress::-moz-progress-bar { background: var(--q-accent); }
  .status { font-weight: 600; white-space: nowrap; }
  .status.failed { color: var(--q-danger); } .status.completed { color: var(--q-accent); } .status.low { color: var(--q-warn); }
  .gap { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 4px 16px; border-top: 1px solid var(--q-line); padding: 14px 0; }
  .gap:first-of-type { border-top: 0; }
  .gap .count { font: 400 26px/1.1 var(--q-serif); min-width: 2ch; text-align: end; color: var(--q-accent); font-variant-numeric: lining-nums tabular-nums; grid-row: span 2; }
  .gap ul { margin: 4px 0 0; padding-inline-start: 18px; color: var(--q-muted); }
  .rank { display: inline-block; min-width: 26px; text-align: center; border-radius: 6px; background: var(--q-sunken); font-weight: 600; padding: 1px 6px; }
  .rank.first { background: var(--q-accent); color: var(--q-on-accent); }
  .score { display: block; font-size: 12px; color: var(--q-muted); }
  .passage { max-width: 72ch; }
  .passage p { margin: 2px 0 0; color: var(--q-muted); font: 13.5px/1.45 var(--q-serif); display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
  .chart { margin: 0; border: 1px solid var(--q-line); border-radius: var(--q-radius); background: var(--q-surface); padding: 14px 18px; }
  .chart figcaption { display: flex; flex-wrap: wrap; gap: 4px 16px; justify-content: space-between; margin-bottom: 8px; }
  .chart svg { width: 100%; height: auto; display: block; font: 13px var(--q-sans); }
  .chart text { fill: var(--q-muted); }
  .chart .grid { stroke: var(--q-line); stroke-width: 1; }
  .legend { display: flex; gap: 14px; font-size: 12.5px; color: var(--q-muted); }
  .legend i { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-inline-end: 6px; }
  .s0 { fill: var(--q-accent); background: var(--q-accent); } .s1 { fill: #d3a13a; background: #d3a13a; } .s2 { fill: var(--q-danger); background: var(--q-danger); }
  .l0, .l1 { fill: none; stroke-width: 2; stroke-linejoin: round; stroke: var(--q-accent); } .l1 { stroke: #d3a13a; }
  .chart details { margin-top: 8px; font-size: 13px; } .chart summary { cursor: pointer; color: var(--q-muted); border-radius: 6px; width: max-content; padding: 2px 4px; }
  code { font-family: var(--q-mono); font-size: 0.88em; background: var(--q-sunken); border-radius: 5px; padding: 0.1em 0.35em; overflow-wrap: anywhere; }
  .once { border-color: var(--q-accent); background: var(--q-accent-soft); margin-top: 12px; }
  .gate { max-width: 420px; margin: 15vh auto 0; padding: 0 20px; }
  .gate h1 { font: 400 30px/1.2 var(--q-serif); margin-bottom: 8px; }
  .gate p { color: var(--q-muted); }
  a { color: var(--q-accent); text-underline-offset: 3px; text-decoration-thickness: 1px; }
`;
