/** Follows the site's light or dark look, however the site switches it. */

/** Calls `changed` now and whenever the page's background turns light or dark; returns a stop. */
export function followScheme(changed: (scheme: "light" | "dark") => void): () => void {
  let last: string | undefined;
  const look = (): void => {
    const scheme = pageScheme();
    if (scheme !== last) changed((last = scheme) as "light" | "dark");
  };
  const soon = (): void => void setTimeout(look, 60);
  const observer = new MutationObserver(soon);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-md-color-scheme", "data-bs-theme"] });
  }
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", soon);
  look();
  return () => {
    observer.disconnect();
    media.removeEventListener("change", soon);
  };
}

/** By the brightness of what stands behind the text. */
function pageScheme(): "light" | "dark" {
  for (const element of [document.querySelector("main"), document.body, document.documentElement]) {
    if (!element) continue;
    const [red, green, blue, alpha] = channels(getComputedStyle(element).backgroundColor);
    if (alpha > 0.5) return (red * 299 + green * 587 + blue * 114) / 1000 < 128 ? "dark" : "light";
  }
  return getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

let canvas: CanvasRenderingContext2D | null | undefined;

function channels(color: string): [number, number, number, number] {
  canvas ??= document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!canvas) return [255, 255, 255, 1];
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
  return [red!, green!, blue!, alpha! / 255];
}
