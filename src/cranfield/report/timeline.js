// The chart of a line over time: values with their intervals, what was accepted, breaks, marks, notes; latency below.
// Results are evenly spaced in order of time: what counts is which came before which.
const HEIGHT = 300, LATENCY = 96, TOP = 34, FOOT = 30, RIGHT = 46, LEFT = 12, DENSE = 150;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const dayOf = (text) => { const at = new Date(text); return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`; };
const monthOf = (text) => { const at = new Date(text); return `${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`; };
const known = (values) => values.filter((value) => value !== null && value !== undefined);

// Round numbers between two values: 1, 2 or 5 times a power of ten apart.
const ticks = (low, high, most) => {
  const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough) ?? rough;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9; at += step) found.push([at, at.toFixed(digits)]);
  return found;
};
const path = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

const timeline = (line, limit, width, go) => {
  const count = line.at.length, top = TOP, bottom = HEIGHT - FOOT, latency = known(line.p95).length > 0;
  const phone = width < 520, whole = HEIGHT + (latency ? LATENCY + 40 : 0) + 22;
  const x = (at) => LEFT + (at + 0.5) / count * (width - LEFT - RIGHT);
  const ends = known([...line.low, ...line.high, ...line.value, ...line.first, ...line.accepted.map((each) => each.value)]);
  const least = Math.min(...ends), most = Math.max(...ends), room = (most - least) * 0.12 || 0.01;
  const low = least - room, high = most + room;
  const y = (value) => bottom - (value - low) / (high - low) * (bottom - top);
  const svg = shape("svg", { width, height: whole, viewBox: `0 0 ${width} ${whole}` });
  const add = (tag, settings, ...children) => svg.appendChild(shape(tag, settings, ...children));

  for (const [value, text] of ticks(low, high, phone ? 4 : 6)) {
    if (y(value) < top - 1) continue;
    add("path", { class: "grid", d: `M${LEFT} ${y(value)}H${width - RIGHT}` });
    add("text", { class: "scale", x: width - RIGHT + 6, y: y(value) + 4 }, text);
  }
  // Where the line breaks there is a gap; where it is joined, only a rule.
  let free = -Infinity;
  for (const found of line.breaks) {
    const at = (x(found.before - 1) + x(found.before)) / 2;
    add("path", { class: found.joined ? "joined-at" : "broken-at", d: `M${at} ${top - 8}V${bottom}` });
    const text = phone ? found.what : `${found.what} · ${found.joined ? "joined" : "broken"}`, wide = text.length * 6.2;
    const start = Math.min(Math.max(at - wide / 2, LEFT), width - RIGHT - wide);
    if (start > free) { add("text", { class: "scale", x: start, y: 12 }, text); free = start + wide + 8; }
  }
  line.stretch.forEach((number, at) => {
    if (number !== null && at && line.stretch[at - 1] !== null && line.stretch[at - 1] !== number && line.first[at] === null) {
      const left = x(at - 1) + 6, right = x(at) - 6;
      if (right > left) svg.prepend(shape("rect", { class: "gap", x: left, y: top - 8, width: right - left, height: bottom - top + 8 }));
    }
  });

  const stretches = [...new Set(line.stretch.filter((number) => number !== null))];
  for (const number of stretches) {
    const its = line.stretch.flatMap((each, at) => (each === number ? [at] : []));
    const banded = its.filter((at) => line.low[at] !== null);
    if (banded.length > 1) {
      const above = banded.map((at) => [x(at), y(line.high[at])]), below = banded.map((at) => [x(at), y(line.low[at])]).reverse();
      add("path", { class: "band", d: `${path([...above, ...below])}Z` });
    } else if (banded.length) add("path", { class: "bar", d: `M${x(its[0])} ${y(line.low[its[0]])}V${y(line.high[its[0]])}` });
  }
  // What results were worth before they were measured again, with the line that they continue.
  const again = line.first.flatMap((value, at) => (value !== null ? [at] : []));
  if (again.length) {
    const start = again[0], before = start > 0 && line.stretch[start - 1] !== null ? [[x(start - 1), y(line.value[start - 1])]] : [];
    add("path", { class: "was", d: path([...before, ...again.map((at) => [x(at), y(line.first[at])])]) });
    for (const at of again) add("circle", { class: "was-dot", cx: x(at), cy: y(line.first[at]), r: 2 });
  }
  let previous = null;
  for (const each of line.accepted) {
    const from = x(each.from), to = x(each.to), height = y(each.value);
    const rise = previous && previous.to === each.from ? `M${from} ${y(previous.value)}V${height}` : "";
    add("path", { class: "step", d: `${rise}M${from - (each.from === each.to ? 5 : 0)} ${height}H${to + (each.from === each.to ? 5 : 0)}` });
    previous = each;
  }
  for (const number of stretches) {
    const its = line.stretch.flatMap((each, at) => (each === number ? [[x(at), y(line.value[at])]] : []));
    add("path", { class: "line-1", d: path(its) });
  }
  const radius = count > DENSE ? 0 : count > 60 ? 2 : 3.5;
  line.value.forEach((value, at) => {
    const hollow = line.first[at] !== null, apart = line.apart[at] !== undefined;
    if (apart) add("path", { class: "apart", d: `M${x(at) - 4} ${y(value) - 4}l8 8m0-8l-8 8` });
    else if (radius || hollow) add("circle", { class: hollow ? "ring" : "dot", cx: x(at), cy: y(value), r: Math.max(radius, hollow ? 2 : 0) });
  });
  // Marks, the largest first: one that finds no room loses its number, and then is a small sign alone.
  const taken = [], marks = line.sign.flatMap((sign, at) => (sign ? [at] : []));
  marks.sort((one, other) => Math.abs(line.difference[other]) - Math.abs(line.difference[one]));
  for (const at of marks) {
    const better = line.sign[at] > 0, number = better ? line.better[at] : line.worse[at], sign = better ? "▲" : "▼";
    const text = phone ? sign : `${sign} ${number}`, wide = 14 + text.length * 6.6, edge = line[better ? "high" : "low"][at];
    const height = better ? Math.max(y(line.value[at]) - 26, top + 2) : Math.min(y(line.value[at]) + 26, bottom - 12);
    const left = Math.min(Math.max(x(at) - wide / 2, 0), width - wide - 2);
    const clear = taken.every(([start, end, place]) => left > end + 2 || left + wide < start - 2 || Math.abs(place - height) > 20);
    const link = shape("a", { href: `#${line.moves[at] ?? ""}`, class: better ? "mark better" : "mark worse", tabindex: -1 });
    link.append(shape("title", {}, `${line.subject[at] || line.commit[at] || dayOf(line.at[at])}: ${signed(line.difference[at])}, ${line.better[at]} better, ${line.worse[at]} worse`));
    if (clear) {
      taken.push([left, left + wide, height]);
      link.append(shape("rect", { x: left, y: height - 9, width: wide, height: 18, rx: 9 }), shape("text", { x: left + wide / 2, y: height + 4, "text-anchor": "middle" }, text));
    } else {
      const tip = better ? -1 : 1, base = y(line.value[at]) + tip * 7;
      link.append(shape("path", { d: `M${x(at) - 4} ${base}h8l-4 ${tip * 6}z` }));
    }
    svg.append(link);
  }
  line.notes.forEach((note, number) => {
    const at = (x(Math.max(note.place, 0)) + x(Math.min(note.place + 1, count - 1))) / 2;
    svg.insertBefore(shape("path", { class: "note-line", d: `M${at} ${top - 8}V${bottom + 4}` }), svg.firstChild);
    const chip = shape("g", { class: "note-chip" }, shape("title", {}, note.text));
    chip.append(shape("rect", { x: at - 9, y: bottom + 4, width: 18, height: 18, rx: 5 }), shape("text", { x: at, y: bottom + 17, "text-anchor": "middle" }, String(number + 1)));
    svg.append(chip);
  });

  let foot = HEIGHT;
  if (latency) {
    const start = HEIGHT + 34, end = start + LATENCY, largest = Math.max(...known([...line.p95, limit])) * 1.08 || 1;
    const z = (value) => end - value / largest * LATENCY;
    add("text", { class: "title", x: LEFT, y: start - 14 }, "Latency, ms: p95, and p50 dashed");
    for (const [value, text] of ticks(0, largest, 2)) {
      add("path", { class: "grid", d: `M${LEFT} ${z(value)}H${width - RIGHT}` });
      add("text", { class: "scale", x: width - RIGHT + 6, y: z(value) + 4 }, text);
    }
    if (limit !== null) {
      add("path", { class: "limit", d: `M${LEFT} ${z(limit)}H${width - RIGHT}` });
      add("text", { class: "limit-text", x: width - RIGHT, y: start - 14, "text-anchor": "end" }, `limit ${plain(limit)}`);
    }
    const of = (values) => values.flatMap((value, at) => (value === null ? [] : [[x(at), z(value)]]));
    const slow = of(line.p95);
    add("path", { class: "slow-area", d: `${path(slow)}L${slow.at(-1)[0]} ${end}L${slow[0][0]} ${end}Z` });
    add("path", { class: "slow", d: path(slow) });
    if (known(line.p50).length) add("path", { class: "usual", d: path(of(line.p50)) });
    foot = end + 6;
  }
  const days = Math.max(1, Math.ceil(count / Math.max(2, Math.floor((width - RIGHT) / 110))));
  const named = new Date(line.at.at(-1)) - new Date(line.at[0]) > 300 * 86400000 ? monthOf : dayOf;
  for (let at = 0; at < count; at += days) {
    const last = at + days >= count;
    add("text", { class: "scale", x: x(at), y: foot + 16, "text-anchor": at === 0 ? "start" : last && x(at) > width - 90 ? "end" : "middle" }, named(line.at[at]));
  }
  const cursor = add("path", { class: "cursor", d: "", visibility: "hidden" });
  return {
    svg,
    nearest: (place) => Math.min(count - 1, Math.max(0, Math.round((place - LEFT) / (width - LEFT - RIGHT) * count - 0.5))),
    point: (at) => {
      cursor.setAttribute("visibility", at === null ? "hidden" : "visible");
      if (at !== null) cursor.setAttribute("d", `M${x(at)} ${top - 8}V${foot}`);
      return at === null ? null : [x(at), y(line.value[at])];
    },
  };
};
