// Charts of many runs name those that have a colour, at the ends of their lines or in a legend. They come with the names
// of the runs of the verdict; the names follow the choice.
const apart = (places, gap) => {
  const order = places.map((_, index) => index).sort((one, other) => places[one] - places[other]);
  const first = (group) => group.reduce((total, index, after) => total + places[index] - gap * after, 0) / group.length;
  const groups = [];
  for (const index of order) {
    groups.push([index]);
    while (groups.length > 1 && first(groups.at(-2)) + gap * groups.at(-2).length > first(groups.at(-1))) groups.splice(-2, 2, groups.slice(-2).flat());
  }
  const found = [];
  for (const group of groups) group.forEach((index, after) => { found[index] = first(group) + gap * after; });
  order.forEach((index, below) => { found[index] = Math.max(Math.min(found[index], 1 - gap * (order.length - 1 - below)), gap * below); });
  return found;
};
const others = (number) => `${number.toLocaleString("en")} other run${number === 1 ? "" : "s"}`;
const isName = (layer) => layer.data?.values?.[0]?.end !== undefined;
const runChannels = (part) => [...Object.values(part.encoding ?? {}).filter((channel) => channel?.field === "run" && channel.scale), ...(part.layer ?? []).flatMap(runChannels)];
// Rows for the names of some runs, none too near to another; nothing if there is no room.
const namedEnds = (rows, shown, across, up, [low, high]) => {
  const last = new Map(rows.map((row) => [row.run, row]));
  const grey = [...last.values()].filter((row) => !shown.includes(row.run)).sort((one, other) => one[up] - other[up]);
  const labelled = shown.map((name) => [name, last.get(name)]);
  if (grey.length) labelled.push([others(grey.length), grey[Math.floor(grey.length / 2)]]);
  const wanted = labelled.map(([, row]) => (row[up] - low) / (high - low));
  const places = apart(wanted, data.names.gap);
  if (shown.some((name) => name.length > data.names.long) || places.some((place, index) => Math.abs(place - wanted[index]) > data.names.far)) return [];
  return labelled.map(([name, row], index) => ({ run: row.run, [across]: row[across], end: row[up], name, [up]: low + places[index] * (high - low) }));
};
const renamed = (spec) => {
  const channels = runChannels(spec), colours = channels.find((channel) => tokens.has(channel.scale.range?.[0]))?.scale;
  if (!colours?.range.includes(data.colours["run-0"])) return;
  const shown = colours.domain.filter((_, index) => colours.range[index] !== data.colours["run-0"])
    .sort((one, other) => hue(data.runs.indexOf(one)) - hue(data.runs.indexOf(other)));
  const names = spec.layer.filter(isName);
  if (!names.length && !channels.some((channel) => channel.legend)) return;  // all of them are named beside it
  for (const part of [spec, ...spec.layer]) {  // what is drawn later lies on top
    const rows = part.data?.values;
    if (rows && !isName(part)) part.data.values = [...rows.filter((row) => !shown.includes(row.run)), ...rows.filter((row) => shown.includes(row.run))];
  }
  let rows = [];
  if (names.length) {
    const [lead, text] = names, across = lead.encoding.x2.field, up = lead.encoding.y2.field;
    rows = namedEnds(spec.data.values, shown, across, up, spec.encoding.y.scale.domain);
    const parts = [[rows.filter((row) => shown.includes(row.name)), {}], [rows.filter((row) => !shown.includes(row.name)), { color: { value: data.colours.faint } }]];
    const written = parts.filter(([its]) => its.length).flatMap(([its, colour]) => [lead, text].map((layer) => ({ ...layer, data: { values: its }, encoding: { ...layer.encoding, ...colour } })));
    spec.layer = [...spec.layer.filter((layer) => !isName(layer)), ...written];
  }
  const grey = spec.layer.find((layer) => layer.mark.text?.startsWith?.("in grey: "));
  if (grey) grey.mark.text = `in grey: ${others(colours.domain.length - shown.length)}`;
  if (!rows.length) for (const channel of channels) if (channel.legend !== undefined) channel.legend = { orient: "bottom", columns: shown.some((name) => name.length > 24) ? 1 : 2, ...channel.legend, values: shown };
};
