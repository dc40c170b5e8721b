/** Scrolling one box and nothing around it. */

const calm = (): ScrollBehavior => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth");

/** Brings `target` to the top of `box`; `scrollIntoView` would move the page around the box, too. */
export function scrollToTop(box: Element | null, target: Element | null, behavior: ScrollBehavior = calm()): void {
  if (!box || !target) return;
  const distance = target.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTo({ top: box.scrollTop + distance + 1, behavior });
}

/** Brings `target` to the middle of `box`. */
export function scrollToMiddle(box: Element | null, target: Element | null): void {
  if (!box || !target) return;
  const [outer, inner] = [box.getBoundingClientRect(), target.getBoundingClientRect()];
  box.scrollTo({ top: box.scrollTop + inner.top - outer.top - (outer.height - inner.height) / 2, behavior: "instant" });
}
