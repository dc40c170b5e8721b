/** WCAG contrast of the colours, also where axe can't see what lies behind a text. */
import { expect, test } from "vitest";
import { tokens } from "../src/styles/tokens.ts";

type Scheme = 0 | 1;
const COLOURS = Object.fromEntries(
  [...tokens.cssText.matchAll(/--q-([\w-]+):[^;]*?light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name, light, dark]) => [name, [light, dark]]),
) as Record<string, [string, string]>;

function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}
function contrast(a: string, b: string, scheme: Scheme): number {
  const [light, dark] = [luminance(COLOURS[a]![scheme]), luminance(COLOURS[b]![scheme])].sort((x, y) => y - x);
  return (light! + 0.05) / (dark! + 0.05);
}

for (const scheme of [0, 1] as const) {
  const name = ["light", "dark"][scheme];
  test.each(["text", "muted", "accent", "warn", "danger"].flatMap((text) => ["bg", "surface", "sunken"].map((ground) => [text, ground])))(`${name}: %s on %s is readable`, (text, ground) => {
    expect(contrast(text!, ground!, scheme)).toBeGreaterThanOrEqual(4.5);
  });
  test.each([["on-accent", "accent"], ["accent", "accent-soft"], ["text", "accent-soft"], ["text", "mark"]])(`${name}: %s on %s is readable`, (text, ground) => {
    expect(contrast(text, ground, scheme)).toBeGreaterThanOrEqual(4.5);
  });
  test.each(["bg", "surface"])(`${name}: the edge of a field stands out from %s`, (ground) => expect(contrast("edge", ground, scheme)).toBeGreaterThanOrEqual(3));
}
