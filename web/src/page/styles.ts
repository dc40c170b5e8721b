/** The page's layout: conversations, the talk, the lesson. */
import { css } from "lit";

export const layout = css`
  :host { display: grid; grid-template-columns: 272px minmax(0, 1fr) auto; height: 100dvh; background: var(--q-bg); overflow: clip; }
  .side { display: flex; flex-direction: column; min-height: 0; border-inline-end: 1px solid var(--q-line); background: var(--q-sunken); }
  .brand { display: flex; align-items: center; gap: 9px; padding: 15px 16px 10px; font-weight: 660; font-size: 17px; letter-spacing: -0.02em; }
  .logo { width: 24px; height: 24px; color: var(--q-accent); }
  .new { margin: 4px 12px 0; justify-content: flex-start; }
  .list { flex: 1; min-height: 0; overflow: hidden auto; padding: 0 8px 12px; }
  .side footer { display: flex; gap: 2px; padding: 8px 12px; border-top: 1px solid var(--q-line); align-items: center; }
  .side footer .plain:hover { background: light-dark(#00000009, #ffffff0c); }
  .spread { flex: 1; }

  main { min-width: 0; min-height: 0; position: relative; }
  .talk { display: flex; flex-direction: column; height: 100%; }
  .top { display: flex; align-items: center; gap: 8px; padding: 10px 20px; min-height: 56px; }
  .top .title { font: 600 14.5px/1.3 var(--q-sans); margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; min-width: 0; }
  .bookselect { position: relative; min-width: 0; display: inline-flex; align-items: center; }
  .bookselect select { appearance: none; border: 0; background: none; font-weight: 600; font-size: 14.5px; padding: 6px 28px 6px 8px; margin-inline-start: -8px; border-radius: 8px; cursor: pointer; max-width: 100%; text-overflow: ellipsis; }
  .bookselect select:hover { background: var(--q-sunken); }
  .bookselect option { background: var(--q-surface); color: var(--q-text); }
  .bookselect .icon { position: absolute; inset-inline-end: 8px; width: 14px; pointer-events: none; color: var(--q-muted); }
  .narrow { display: none; }

  .scroll { flex: 1; min-height: 0; overflow-y: auto; container-type: size; scrollbar-gutter: stable; overscroll-behavior: contain; }
  .scroll:focus-visible { outline-offset: -3px; }
  .column { max-width: 740px; margin: 0 auto; padding: 0 24px; }
  .turns { display: grid; grid-template-columns: minmax(0, 1fr); }
  quire-turn { scroll-margin-top: -1px; padding: 18px 0 34px; }
  quire-turn + quire-turn { border-top: 1px solid var(--q-line); }
  quire-turn.last { min-height: calc(100cqh - 24px); }

  .dock { position: relative; padding: 4px 24px 14px; }
  .dock::before { content: ""; position: absolute; inset: -26px 16px 100% 0; background: linear-gradient(to bottom, transparent, var(--q-bg)); pointer-events: none; }
  .dock > div { max-width: 740px; margin: 0 auto; }
  .fine { font-size: 12px; color: var(--q-muted); text-align: center; margin: 8px 0 0; line-height: 1.4; }
  .banner { position: absolute; inset: auto 0 calc(100% + 8px); display: flex; justify-content: center; pointer-events: none; padding: 0 24px; }
  .banner > div { pointer-events: auto; display: flex; gap: 10px; align-items: center; background: var(--q-surface); border: 1px solid var(--q-line); border-radius: 99px; box-shadow: var(--q-shadow); padding: 6px 8px 6px 16px; font-size: 13.5px; min-height: 40px; }
  .banner .ok { width: 8px; height: 8px; border-radius: 50%; background: var(--q-accent); }
  .banner .gone { width: 8px; height: 8px; border-radius: 50%; background: var(--q-danger); animation: blink 1.2s ease-in-out infinite; }
  @keyframes blink { 50% { opacity: 0.3; } }

  .welcome { min-height: 100cqh; display: flex; flex-direction: column; justify-content: center; padding: 24px 0 40px; }
  .welcome .kicker { color: var(--q-accent); font-weight: 600; font-size: 13.5px; margin: 0 0 8px; }
  .welcome h2 { font: 400 clamp(28px, 5.2cqw, 42px)/1.14 var(--q-serif); letter-spacing: -0.018em; margin: 0 0 14px; text-wrap: balance; overflow-wrap: break-word; }
  .welcome .lead { font-size: 16.5px; line-height: 1.55; color: var(--q-muted); margin: 0 0 30px; max-width: 54ch; text-wrap: pretty; }
  .welcome .lead mark { background: var(--q-mark); color: var(--q-text); border-radius: 3px; padding: 0.05em 0.15em; }
  .examples { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 290px), 1fr)); gap: 10px; list-style: none; margin: 0; padding: 0; align-content: start; }
  .examples.waiting { min-height: 134px; }
  .examples button { width: 100%; height: 100%; min-height: 60px; text-align: start; padding: 12px 16px; border: 1px solid var(--q-line); border-radius: var(--q-radius); background: var(--q-surface); font-size: 14.5px; line-height: 1.45; transition: border-color 0.12s, transform 0.12s; }
  .examples button:hover { border-color: var(--q-accent); }
  .facts { display: flex; flex-wrap: wrap; gap: 4px 16px; color: var(--q-muted); font-size: 13px; margin: 22px 0 0; }

  .panel { width: min(46vw, 560px); border-inline-start: 1px solid var(--q-line); min-width: 0; height: 100dvh; }
  .shade { display: none; }
  .skip { position: fixed; inset: 8px auto auto 8px; z-index: 9; transform: translateY(-200%); }
  .skip:focus { transform: none; }

  dialog { border: 1px solid var(--q-line); border-radius: 16px; background: var(--q-surface); color: var(--q-text); padding: 22px 24px; width: min(440px, calc(100vw - 32px)); box-shadow: var(--q-shadow); }
  dialog::backdrop { background: #1b160e66; }
  dialog h2 { font: 620 17px/1.3 var(--q-sans); margin: 0 0 12px; }
  dialog p { font-size: 14.5px; line-height: 1.55; color: var(--q-muted); margin: 0 0 14px; }
  dialog dl { display: grid; grid-template-columns: auto 1fr; gap: 9px 18px; margin: 0 0 18px; font-size: 14px; align-items: baseline; }
  dialog dd { margin: 0; }
  kbd { font: 12px var(--q-sans); border: 1px solid var(--q-line); border-bottom-width: 2px; border-radius: 6px; padding: 2px 7px; background: var(--q-sunken); white-space: nowrap; }
  dialog .buttons { display: flex; gap: 8px; justify-content: flex-end; margin-top: 16px; }

  @media (max-width: 1100px) {
    .panel { position: fixed; inset: 0 0 0 auto; z-index: 4; width: min(560px, 92vw); box-shadow: var(--q-shadow); }
    .shade.lesson { display: block; position: fixed; inset: 0; background: #1b160e55; z-index: 3; border: 0; }
  }
  @media (max-width: 860px) {
    :host { grid-template-columns: minmax(0, 1fr); }
    .narrow { display: inline-flex; }
    .side { position: fixed; inset: 0 auto 0 0; width: min(300px, 84vw); z-index: 6; transform: translateX(-102%); visibility: hidden; transition: transform 0.18s ease-out, visibility 0.18s; }
    .side:dir(rtl) { inset: 0 0 0 auto; transform: translateX(102%); }
    .side.shown { transform: none; visibility: visible; box-shadow: var(--q-shadow); }
    .shade.menu { display: block; position: fixed; inset: 0; background: #1b160e55; z-index: 5; border: 0; }
    .top { padding: 8px 10px; }
    .column { padding: 0 18px; }
    .dock { padding: 4px 10px max(10px, env(safe-area-inset-bottom)); }
  }
  @media (max-width: 600px) {
    .panel { inset: 0; width: 100vw; }
    .fine { display: none; }
    .welcome { padding-top: 8px; justify-content: flex-end; }
    .welcome .lead { font-size: 15.5px; margin-bottom: 22px; }
    .examples button { min-height: 48px; padding: 10px 14px; }
  }
  @media (max-height: 560px) { .welcome { justify-content: flex-start; } .fine { display: none; } }
`;
