// The words of a query, marked in a text.

import { make } from "./elements.js";

const COMMON = new Set(
  ("a an and are as at be by can do does for from has have how i if in is it its me my not of on or our should so that " +
    "the their there these they this to was we what when where which who why will with you your").split(" "),
);
const WORD = /[\p{L}\p{N}]+/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

// Endings come off, so that “rankings” finds “ranking” and “ranked”; accents and capitals do not count.
function stem(word) {
  const plain = word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.length > 4 ? plain.replace(/(ings?|edly|ed|es|s)$/u, "") : plain;
}

export function marked(text, query) {
  const words = query.match(WORD) ?? [];
  const wanted = new Set(words.filter((word) => !COMMON.has(word.toLowerCase())).map(stem));
  const pieces = new Set(words.filter((word) => UNSPACED.test(word)).flatMap((word) => pairs(word)));
  const found = [];
  for (const match of text.matchAll(WORD)) {
    if (wanted.has(stem(match[0]))) found.push([match.index, match.index + match[0].length]);
  }
  // One pass, however long the query is: a piece has one letter or two.
  let [at, before] = [0, ""];
  for (const letter of pieces.size ? text : "") {
    if (pieces.has(before + letter)) found.push([at - before.length, at + letter.length]);
    if (pieces.has(letter)) found.push([at, at + letter.length]);
    [at, before] = [at + letter.length, letter];
  }
  found.sort((one, other) => one[0] - other[0]);
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const [start, stop] of found) {
    if (stop <= end) continue;
    fragment.append(text.slice(end, Math.max(start, end)), make("mark", {}, text.slice(Math.max(start, end), stop)));
    end = stop;
  }
  fragment.append(text.slice(end));
  return fragment;
}

function pairs(word) {
  const letters = [...word];
  return letters.length < 3 ? [word] : letters.slice(1).map((letter, at) => letters[at] + letter);
}
