/** Takes out characters that are there to deceive: controls, bidi overrides, hidden text. */

const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g;
const HIDDEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\uffff\u{e0000}-\u{e0fff}]/gu;
/** Joiners spell words in Arabic and Indic scripts and compose emoji; elsewhere they only hide things. */
const LOOSE_JOINER =
  /(?<![\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Extended_Pictographic}\p{M}])[\u200c\u200d]|[\u200c\u200d](?![\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Extended_Pictographic}])/gu;

/** `text` with only what a reader can see, newlines as `\n`. */
export function clean(text: string): string {
  return String(text ?? "")
    .replace(/\r\n?/g, "\n")
    .replace(ANSI, "")
    .replace(HIDDEN, "")
    .replace(LOOSE_JOINER, "");
}

/** One line of it. */
export function cleanLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}
