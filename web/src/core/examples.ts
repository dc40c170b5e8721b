/** Questions to start with, from the author or from the book's own page titles. */
import { cleanLine } from "./cleantext.ts";
import { plainText } from "./markdown.ts";

const SHOWN = 4;

export function examplesFromTitles(titles: string[]): string[] {
  const topics = titles.map(topicOf).filter((topic) => topic.length > 2 && topic.length < 60);
  const unique = [...new Set(topics)];
  const step = Math.max(1, Math.floor(unique.length / SHOWN));
  return unique.filter((_, index) => index % step === Math.floor(step / 2)).slice(0, SHOWN).map(questionAbout);
}

/** "Lesson 2.4: Quality of service" → "Quality of service". */
function topicOf(title: string): string {
  return plainText(cleanLine(title)).replace(/^(?:(?:lesson|chapter|module|part|section|unit)\s+)?\d+(?:\.\d+)*\s*[:.–—-]\s*/i, "").trim();
}

function questionAbout(topic: string): string {
  if (topic.endsWith("?")) return topic;
  if (/^(?:what|why|how|when|where|which|who)\b/i.test(topic)) return `${topic}?`;
  return `What does the book say about ${inSentence(topic)}?`;
}

/** Lower-cases what is a phrase ("Quality of service"); names ("Isaac Sim", "Gazebo") stay. */
function inSentence(topic: string): string {
  if (/^(?:The|An?) /.test(topic)) return topic[0]!.toLowerCase() + topic.slice(1);
  return /^[A-Z][a-z]+(?: [a-z0-9-]+)+$/.test(topic) ? topic[0]!.toLowerCase() + topic.slice(1) : topic;
}
