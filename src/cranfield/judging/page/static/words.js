// The words of a query, marked in a text. Both are read once, however long they are.

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
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const [start, stop] of places(text, query)) {
    fragment.append(text.slice(end, start), make("mark", {}, text.slice(start, stop)));
    end = stop;
  }
  fragment.append(text.slice(end));
  return fragment;
}

// Where the words are, in order. Places that touch are one: a text can repeat a letter of the query 100,000 times.
function places(text, query) {
  const words = query.match(WORD) ?? [];
  const wanted = new Set(words.filter((word) => !COMMON.has(word.toLowerCase())).map(stem));
  const pieces = new Set(words.filter((word) => UNSPACED.test(word)).flatMap((word) => pairs(word)));
  const stems = new Map(); // of words of the text, most of which come again
  const isWanted = (word) => {
    if (!stems.has(word)) stems.set(word, wanted.has(stem(word)));
    return stems.get(word);
  };
  const found = [];
  for (const match of wanted.size ? text.matchAll(WORD) : []) {
    if (isWanted(match[0])) found.push([match.index, match.index + match[0].length]);
  }
  // A piece has one letter or two.
  let [at, before] = [0, ""];
  for (const letter of pieces.size ? text : "") {
    if (pieces.has(before + letter)) found.push([at - before.length, at + letter.length]);
    else if (pieces.has(letter)) found.push([at, at + letter.length]);
    [at, before] = [at + letter.length, letter];
  }
  found.sort((one, other) => one[0] - other[0]);
  const joined = [];
  for (const [start, stop] of found) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], stop);
    else joined.push([start, stop]);
  }
  return joined;
}

function pairs(word) {
  const letters = [...word];
  return letters.length < 3 ? [word] : letters.slice(1).map((letter, at) => letters[at] + letter);
}
