/** Small charts as SVG, each with its figures in a table for those who can't see it. */
import { html, svg, type TemplateResult } from "lit";

export interface Series {
  name: string;
  values: number[];
}

const WIDTH = 640;
const HEIGHT = 150;

/** Stacked bars, one per label; the first series stands at the bottom. */
export function bars(title: string, labels: string[], series: Series[]): TemplateResult {
  const totals = labels.map((_, i) => series.reduce((sum, s) => sum + (s.values[i] ?? 0), 0));
  const top = nice(Math.max(1, ...totals));
  const step = WIDTH / Math.max(1, labels.length);
  const drawn = labels.flatMap((_, i) => {
    let y = HEIGHT;
    return series.map((s, which) => {
      const height = ((s.values[i] ?? 0) / top) * HEIGHT;
      y -= height;
      return svg`<rect class="s${which}" x=${i * step + step * 0.15} y=${y} width=${step * 0.7} height=${height} rx="1.5"></rect>`;
    });
  });
  return figure(title, labels, series, top, drawn);
}

/** One line per series. */
export function lines(title: string, labels: string[], series: Series[], unit: string): TemplateResult {
  const top = nice(Math.max(1, ...series.flatMap((s) => s.values)));
  const step = WIDTH / Math.max(1, labels.length - 1);
  const drawn = series.map((s, which) => {
    const points = s.values.map((value, i) => `${(i * step).toFixed(1)},${(HEIGHT - (value / top) * HEIGHT).toFixed(1)}`);
    return svg`<polyline class="l${which}" points=${points.join(" ")}></polyline>`;
  });
  return figure(title, labels, series, top, drawn, unit);
}

function figure(title: string, labels: string[], series: Series[], top: number, drawn: unknown, unit = ""): TemplateResult {
  return html`
    <figure class="chart">
      <figcaption><strong>${title}</strong><span class="legend">${series.map((s, i) => html`<span><i class="s${i}"></i>${s.name}</span>`)}</span></figcaption>
      <svg viewBox="-62 -10 ${WIDTH + 70} ${HEIGHT + 38}" aria-hidden="true">
        ${[0, 0.5, 1].map((part) => svg`
          <line class="grid" x1="0" x2=${WIDTH} y1=${HEIGHT - part * HEIGHT} y2=${HEIGHT - part * HEIGHT}></line>
          <text x="-8" y=${HEIGHT - part * HEIGHT + 4} text-anchor="end">${(top * part).toLocaleString("en")}${unit}</text>`)}
        ${drawn}
        <text x="0" y=${HEIGHT + 20}>${labels[0] ?? ""}</text>
        <text x=${WIDTH} y=${HEIGHT + 20} text-anchor="end">${labels.at(-1) ?? ""}</text>
      </svg>
      <details><summary>Figures</summary>
        <div class="wide" tabindex="0" role="group" aria-label=${`${title}: figures`}><table><thead><tr><th scope="col">Day</th>${series.map((s) => html`<th scope="col">${s.name}</th>`)}</tr></thead>
          <tbody>${labels.map((label, i) => html`<tr><th scope="row">${label}</th>${series.map((s) => html`<td>${s.values[i] ?? 0}${unit}</td>`)}</tr>`)}</tbody></table></div>
      </details>
    </figure>`;
}

/** The next round number at or above `value`. */
function nice(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 10].map((n) => n * unit).find((n) => n >= value) ?? value;
}
