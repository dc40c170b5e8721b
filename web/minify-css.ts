/** Takes the white space out of the style sheets inside the elements. */
import type { Plugin } from "vite";

export function minifyCss(): Plugin {
  return {
    name: "quire-minify-css",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      if (!id.includes("/src/") || !code.includes("css`")) return null;
      const small = code.replace(/\bcss`([^`]*)`/g, (_, sheet: string) =>
        `css\`${sheet.replace(/\s+/g, " ").replace(/\s*([{};,])\s*/g, "$1").replace(/;}/g, "}")}\``);
      return { code: small, map: null };
    },
  };
}
