/** How the widget looks on someone else's page. */
import { css } from "lit";

export const look = css`
  :host { all: initial; box-sizing: border-box; position: static; font-size: 16px; line-height: 1.5; color-scheme: light; --q-prose-size: 16px; }
  :host([scheme="dark"]) { color-scheme: dark; }
  .frame { font-family: var(--q-sans); color: var(--q-text); -webkit-font-smoothing: antialiased; text-align: start; }
  .launch {
    position: fixed; inset: auto var(--quire-inset-inline, 20px) var(--quire-inset-block, 20px) auto; z-index: var(--quire-z-index, 2147483000);
    display: inline-flex; align-items: center; gap: 9px; height: 46px; padding: 0 18px 0 14px; border: 0; border-radius: 23px;
    background: var(--q-accent); color: var(--q-on-accent); font: 580 15px/1 var(--q-sans); box-shadow: var(--q-shadow);
  }
  .launch:hover { filter: brightness(1.08); }
  .launch .logo { width: 22px; height: 22px; }
  .bubble {
    position: absolute; z-index: var(--quire-z-index, 2147483000); display: inline-flex; align-items: center; gap: 8px; height: 36px; padding: 0 14px 0 11px;
    border: 1px solid var(--q-line); border-radius: 18px; background: var(--q-surface); color: var(--q-text); font: 560 13.5px/1 var(--q-sans);
    box-shadow: var(--q-shadow); white-space: nowrap;
  }
  .bubble:hover { background: var(--q-accent); color: var(--q-on-accent); }
  .bubble .logo { width: 18px; height: 18px; color: var(--q-accent); }
  .bubble:hover .logo { color: inherit; }
  .panel {
    position: fixed; inset: auto var(--quire-inset-inline, 20px) var(--quire-inset-block, 20px) auto; z-index: var(--quire-z-index, 2147483001);
    width: min(var(--quire-width, 430px), calc(100vw - 24px)); height: min(var(--quire-height, 680px), calc(100dvh - 40px));
    display: flex; flex-direction: column; overflow: hidden; border: 1px solid var(--q-line); border-radius: 18px; background: var(--q-bg); box-shadow: var(--q-shadow);
  }
  header { display: flex; align-items: center; gap: 8px; padding: 8px 8px 8px 16px; border-bottom: 1px solid var(--q-line); min-height: 52px; }
  header .logo { width: 21px; height: 21px; color: var(--q-accent); flex: none; }
  h2.name { flex: 1; min-width: 0; margin: 0; font: 620 14.5px/1.3 var(--q-sans); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; outline: 0; }
  .scroll { flex: 1; min-height: 0; overflow-y: auto; padding: 0 16px; container-type: size; overscroll-behavior: contain; }
  .scroll:focus-visible { outline-offset: -3px; }
  quire-turn { display: block; padding: 16px 0 20px; scroll-margin-top: -1px; }
  quire-turn + quire-turn { border-top: 1px solid var(--q-line); }
  quire-turn.last { min-height: 100cqh; }
  .dock { padding: 6px 12px 12px; }
  .hello { min-height: 100cqh; display: flex; flex-direction: column; justify-content: flex-end; padding: 16px 0 14px; }
  .hello h3 { font: 400 25px/1.2 var(--q-serif); letter-spacing: -0.01em; margin: 0 0 8px; text-wrap: balance; }
  .hello p { font-size: 14.5px; color: var(--q-muted); margin: 0; line-height: 1.55; }
  .chosen { border-inline-start: 3px solid var(--q-accent); background: var(--q-sunken); border-radius: 0 8px 8px 0; margin: 0 0 8px; padding: 8px 6px 8px 12px; display: flex; gap: 6px; align-items: flex-start; font: 13.5px/1.5 var(--q-serif); color: var(--q-muted); }
  .chosen q { quotes: none; flex: 1; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; white-space: pre-line; }
  .chosen small { display: block; font: 12px/1.4 var(--q-sans); color: var(--q-warn); margin-top: 2px; }
  .quick { display: flex; flex-wrap: wrap; gap: 6px; margin: 0 0 8px; }
  .quick button { border: 1px solid var(--q-edge); background: var(--q-surface); border-radius: 99px; min-height: 30px; padding: 3px 12px; font-size: 13px; }
  .quick button:hover { background: var(--q-sunken); }
  @media (max-width: 560px) {
    .panel { inset: 0; width: 100vw; height: 100dvh; border: 0; border-radius: 0; }
    .launch { height: 44px; }
  }
  @media print { .launch, .panel, .bubble { display: none; } }
`;
