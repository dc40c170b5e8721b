/** Which language a text is written in, as far as fonts and screen readers need to know. */

/** A `lang` value for texts in Arabic script, else nothing (the page's own language holds). */
export function languageOf(text: string): "ur" | "ar" | undefined {
  const arabic = text.match(/\p{Script=Arabic}/gu)?.length ?? 0;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (arabic * 2 < letters || arabic === 0) return undefined;
  return /[ٹڈڑںےۓہھگچپکی]/u.test(text) ? "ur" : "ar";
}
