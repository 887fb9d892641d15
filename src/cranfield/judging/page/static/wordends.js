// Where words begin and end, also in languages that write them without spaces.

const NEAR = 300; // characters to each side: a text may be long, and only the words around a place matter
const SEGMENTER = globalThis.Intl?.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;

// The words around a place: where each begins and ends.
function wordsNear(text, place) {
  const first = Math.max(0, place - NEAR);
  const piece = text.slice(first, place + NEAR);
  if (!SEGMENTER) return [...piece.matchAll(/[\p{L}\p{N}]+/gu)].map((found) => [first + found.index, first + found.index + found[0].length]);
  const words = [...SEGMENTER.segment(piece)].filter((each) => each.isWordLike);
  return words.map((each) => [first + each.index, first + each.index + each.segment.length]);
}

// A selection without blanks at its ends, and with whole words; null and null if nothing is left of it.
export function snapped(text, from, to) {
  const quote = text.slice(from, to).trim();
  if (!quote) return [null, null];
  const start = from + text.slice(from, to).indexOf(quote);
  const end = start + quote.length;
  const inside = (place) => wordsNear(text, place).find((word) => word[0] < place && place < word[1]);
  return [inside(start)?.[0] ?? start, inside(end)?.[1] ?? end];
}

// The same passage with its start or its end one word further (1) or back (-1); never empty.
export function moved(text, from, to, end, by) {
  const place = end === "start" ? from : to;
  const ends = wordsNear(text, place).map((word) => word[end === "start" ? 0 : 1]);
  const next = by > 0 ? ends.find((each) => each > place) : ends.findLast((each) => each < place);
  if (next === undefined) return [from, to];
  const [start, stop] = end === "start" ? [next, to] : [from, next];
  return start < stop ? [start, stop] : [from, to];
}
