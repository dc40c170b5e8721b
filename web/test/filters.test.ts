import { expect, test } from "vitest";
import { parsePlace, placeHash } from "../src/core/address.ts";
import { examplesFromTitles } from "../src/core/examples.ts";
import { choices, describeFilters, filtersOf } from "../src/core/filters.ts";
import { languageOf } from "../src/core/language.ts";

const all = choices({ modules: ["ros2", "vla"], tiers: [1, 2, 3], proficiency_levels: ["A1", "A2", "B1"], chapters: [0, 3] });

test("chips follow the book's taxonomy; a book without one has none", () => {
  expect(all.map((choice) => choice.name)).toEqual(["module", "chapter", "level", "tier"]);
  expect(choices(undefined)).toEqual([]);
  expect(choices({ modules: ["only"], tiers: [1], chapters: null })).toEqual([]);
});
test("chosen chips become the API's filters", () => {
  expect(filtersOf(all, { module: "ros2", chapter: "2", level: "A2", tier: "1" })).toEqual({
    module: "ros2", chapter_min: 2, chapter_max: 2, proficiency_levels: ["A1", "A2"], hardware_tier: 1,
  });
  expect(filtersOf(all, { module: "" })).toEqual({});
});
test("applied filters in words", () => {
  expect(describeFilters({ module: "ros2", chapter_min: 2, chapter_max: 2, hardware_tier: 3 })).toEqual(["Chapter 2", "Module: ros2", "Up to tier 3"]);
});
test("an address survives the round trip and stays behind the #", () => {
  const place = { kind: "ask" as const, question: "Why & how? #1", bookId: "b", filters: { module: "ros2" } };
  expect(parsePlace(placeHash(place))).toEqual(place);
  expect(placeHash(place)).toMatch(/^#/);
  expect(parsePlace("#t=not-an-id")).toEqual({ kind: "home" });
  expect(parsePlace("#q=x&f=%5B1")).toEqual({ kind: "ask", question: "x", bookId: undefined, filters: {} });
});
test("examples come from page titles", () => {
  expect(examplesFromTitles(["Lesson 2.4: Quality of service", "Isaac Sim", "What is physical AI", "tf2"])).toEqual([
    "What does the book say about quality of service?", "What does the book say about Isaac Sim?", "What is physical AI?", "What does the book say about tf2?"]);
});
test("Urdu, Arabic and English are told apart", () => {
  expect(languageOf("کوالٹی آف سروس کیا ہے؟")).toBe("ur");
  expect(languageOf("ما هذا")).toBe("ar");
  expect(languageOf("What is QoS?")).toBeUndefined();
});
