/** The icons: 24 × 24, drawn with the text's colour. */
import { html, svg, type TemplateResult } from "lit";

const draw = (d: string): TemplateResult =>
  html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${svg`<path d=${d}></path>`}</svg>`;

export const icons = {
  menu: draw("M4 7h16M4 12h16M4 17h16"),
  plus: draw("M12 5v14M5 12h14"),
  close: draw("M6 6l12 12M18 6L6 18"),
  send: draw("M12 19V6M6 11.5L12 5.5l6 6"),
  stop: draw("M7.5 7.5h9v9h-9z"),
  retry: draw("M19 12a7 7 0 1 1-2.2-5.1M19 4.5v4h-4"),
  copy: draw("M9 9h10v11H9zM5 15V4h10"),
  link: draw("M10 13.5a4 4 0 0 0 6 .4l2.5-2.5a4 4 0 0 0-5.7-5.7L11.6 7M14 10.5a4 4 0 0 0-6-.4L5.5 12.6a4 4 0 0 0 5.7 5.7L12.4 17"),
  up: draw("M7 11v9H4v-9zM7 11l4-7.5a2 2 0 0 1 2.5 2.4L12.8 9.5H18a2 2 0 0 1 2 2.4l-1.2 6.2A2.4 2.4 0 0 1 16.5 20H7"),
  down: draw("M17 13V4h3v9zM17 13l-4 7.5a2 2 0 0 1-2.5-2.4l.7-3.6H6a2 2 0 0 1-2-2.4L5.2 5.9A2.4 2.4 0 0 1 7.5 4H17"),
  out: draw("M14 5h5v5M19 5l-8.5 8.5M17 13.5V19H5V7h5.5"),
  pencil: draw("M4.5 19.5l.9-4L16 4.9l3.1 3.1L8.5 18.6zM14 7l3 3"),
  trash: draw("M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7"),
  sun: draw("M12 8.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6L7 7M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4"),
  moon: draw("M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z"),
  auto: draw("M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16"),
  keyboard: draw("M3 7h18v10.5H3zM7 10.8h.01M10.3 10.8h.01M13.7 10.8h.01M17 10.8h.01M8 14.2h8"),
  check: draw("M5 12.5l4.5 4.5L19 7.5"),
  book: draw("M12 6.5C10 5 7 4.5 4 4.8v13.4c3-.3 6 .2 8 1.8 2-1.6 5-2.1 8-1.8V4.8C17 4.5 14 5 12 6.5zM12 6.5V20"),
  chevron: draw("M7 10l5 5 5-5"),
  alert: draw("M12 8v5M12 16.2v.1M12 3.5l9 16.5H3z"),
  compass: draw("M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM15.5 8.5l-2 5-5 2 2-5z"),
  down_arrow: draw("M12 5v13M6.5 12.5L12 18l5.5-5.5"),
};

/** The mark: a quire, sheets folded into one another. */
export const logo = html`<svg class="logo" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linejoin="round" stroke-linecap="round" aria-hidden="true"><path d="M12 20.5L3.5 17V5.5L12 9zM12 20.5l8.5-3.5V5.5L12 9z"></path><path d="M6.5 6.7V3.8L12 6.1l5.5-2.3v2.9"></path></svg>`;
