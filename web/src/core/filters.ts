/** Filters in words, and the choices a book offers. */
import type { Filters, Taxonomy } from "./wire.ts";

export interface Choice {
  /** Which chip it belongs to. */
  name: "module" | "chapter" | "level" | "tier";
  label: string;
  any: string;
  options: { value: string; label: string; filters: Filters }[];
}

/** The chips for a book; a dimension with fewer than two values has none. */
export function choices(taxonomy: Taxonomy | undefined): Choice[] {
  const { modules = [], tiers = [], proficiency_levels: levels = [], chapters } = taxonomy ?? {};
  const [first, last] = chapters ?? [0, -1];
  const numbers = Array.from({ length: Math.max(0, Math.min(200, last - first + 1)) }, (_, i) => first + i);
  const all: Choice[] = [
    { name: "module", label: "Module", any: "All modules", options: modules.map((module) => ({ value: module, label: module, filters: { module } })) },
    { name: "chapter", label: "Chapter", any: "All chapters", options: numbers.map((n) => ({ value: String(n), label: `Chapter ${n}`, filters: { chapter_min: n, chapter_max: n } })) },
    { name: "level", label: "Level", any: "Any level", options: levels.slice(0, -1).map((level, i) => ({ value: level, label: i === 0 ? `${level} only` : `Up to ${level}`, filters: { proficiency_levels: levels.slice(0, i + 1) } })) },
    { name: "tier", label: "Tier", any: "Any tier", options: tiers.slice(0, -1).map((tier, i) => ({ value: String(tier), label: i === 0 ? `Tier ${tier} only` : `Up to tier ${tier}`, filters: { hardware_tier: tier } })) },
  ];
  return all.filter((choice) => choice.options.length > 1);
}

/** The filters of the chosen options, by chip name. */
export function filtersOf(all: Choice[], chosen: Record<string, string>): Filters {
  const filters: Filters = {};
  for (const choice of all) {
    const option = choice.options.find(({ value }) => value === chosen[choice.name]);
    Object.assign(filters, option?.filters);
  }
  return filters;
}

/** What the server says it applied, one phrase per condition. */
export function describeFilters(applied: Record<string, unknown>): string[] {
  const { chapter_min: min, chapter_max: max, ...rest } = applied;
  const words: string[] = [];
  if (min !== undefined || max !== undefined) {
    words.push(min === max ? `Chapter ${min}` : max === undefined ? `From chapter ${min}` : min === undefined ? `Up to chapter ${max}` : `Chapters ${min}–${max}`);
  }
  for (const [name, value] of Object.entries(rest)) {
    const values = Array.isArray(value) ? value.join(", ") : String(value);
    if (values) words.push(name === "hardware_tier" ? `Up to tier ${values}` : `${LABELS[name] ?? name.replaceAll("_", " ")}: ${values}`);
  }
  return words;
}

const LABELS: Record<string, string> = {
  module: "Module", proficiency_levels: "Level", layer: "Layer", lesson: "Lesson", page_title: "Page",
  section_heading: "Section", source_url: "Page", source_file: "File", parent_doc_id: "Lesson", language: "Language",
};
