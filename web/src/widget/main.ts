/** Reads the script tag's settings and puts the widget on the page, once. */
import type { QuireWidget } from "./widget.ts";
import "./widget.ts";

const script = document.currentScript as HTMLScriptElement | null;

function mount(): void {
  if (document.querySelector("quire-widget")) return;
  const settings = script?.dataset ?? {};
  const widget = document.createElement("quire-widget") as QuireWidget;
  widget.api = settings["api"] ?? (script ? new URL(".", script.src).href : document.baseURI);
  widget.key = settings["key"] ?? "";
  widget.book = settings["book"] ?? "";
  widget.label = settings["label"] ?? widget.label;
  widget.theme = settings["theme"] ?? widget.theme;
  document.body.append(widget);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mount);
else mount();
