// Puts Quire's widget on every page of a Docusaurus site.
//
//   plugins: [["./plugins/quire", { server: "https://quire.example.org", key: "pk_…", book: "my-book" }]]

/** @param {{ server: string, key?: string, book?: string, label?: string }} options */
module.exports = function quire(_context, { server, key, book, label }) {
  const settings = { "data-key": key, "data-book": book, "data-label": label };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    name: "docusaurus-plugin-quire",
    injectHtmlTags() {
      return {
        postBodyTags: [
          {
            tagName: "script",
            attributes: { src: new URL("widget.js", server).href, async: true, ...Object.fromEntries(given) },
          },
        ],
      };
    },
  };
};

module.exports.validateOptions = function validateOptions({ options }) {
  const known = new Set(["id", "server", "key", "book", "label"]);
  const unknown = Object.keys(options).filter((name) => !known.has(name));
  if (unknown.length > 0) throw new Error(`docusaurus-plugin-quire: unknown option ${unknown.join(", ")}`);
  if (!options.server) throw new Error("docusaurus-plugin-quire: the option `server` is missing (the address of your Quire)");
  if (options.key && !options.key.startsWith("pk_")) {
    throw new Error("docusaurus-plugin-quire: `key` must be a publishable key (pk_…); a secret key would be readable by everyone");
  }
  const server = options.server.endsWith("/") ? options.server : `${options.server}/`;
  return { ...options, server: new URL(server).href };
};
