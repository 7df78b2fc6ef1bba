"use strict";
// The charts over time, and the table of all fields. Labels and units are the header's.
const SPAN = 30;       // s of simulator time in a strip
const HEIGHT = 96;
const strips = [];     // { names, plot, holder, readings, data }
let charted = [];      // groups of "part.name"
const history_ = { time: [], values: {} };  // per charted column

// For people: km/h, degrees, per cent. [factor, unit, decimals]
function shownAs(column) {
  if (column.unit === "m/s") return [KMH, "km/h", 0];
  if (column.unit === "1/m") return [1000, "1/km", 1];
  if (column.unit === "rad") return [180 / Math.PI, "°", 1];
  if (column.unit === "1" && column.hi === 1) return [100, "%", 0];
  const unit = { 1: "", degC: "°C", "m/s^2": "m/s²" }[column.unit];
  return [1, unit === undefined ? column.unit : unit, 2];
}
const label = (name) => name.replaceAll("_", " ");
const columnOf = (key) => live.columns[live.at[key]];
const number = (key) => {
  const column = columnOf(key), [factor, unit, digits] = shownAs(column), raw = live.frame ? live.frame[live.at[key]] : NaN;
  if (!Number.isFinite(raw)) return "-";
  const whole = digits === 2 && Number.isInteger(raw);
  return `${(raw * factor).toFixed(whole ? 0 : digits)} ${unit}`.trim();
};
// The simulator's own word where it tells one, else what was commanded.
function keyFor(name) {
  const known = live.frame && Number.isFinite(live.frame[live.at[`state.${name}`]]);
  return known || live.at[`controls.${name}`] === undefined ? `state.${name}` : `controls.${name}`;
}
function firstStrips() {
  charted = live.header.strips.map((group) => group.map(keyFor));
  forget();
}
function forget() {
  history_.time = [];
  history_.values = Object.fromEntries(charted.flat().map((key) => [key, []]));
}
function toggleStrip(key) {
  const found = charted.some((group) => group.includes(key));
  charted = found ? charted.map((group) => group.filter((k) => k !== key)).filter((group) => group.length) : [...charted, [key]];
  const length = history_.time.length;
  for (const k of charted.flat()) history_.values[k] = history_.values[k] || new Array(length).fill(null);
  buildStrips();
}

// Frames from before this page was opened, or of another place in a recording: they replace what is charted.
function recordHistory(rows) {
  const width = live.columns.length, newest = live.frame;
  forget();
  for (let i = 0; i + width <= rows.length; i += width) {
    live.frame = rows.subarray(i, i + width);
    record(value("state", "time"));
  }
  live.frame = newest;
}
function record(time) {
  const times = history_.time, last = times[times.length - 1];
  if (!Number.isFinite(time) || time === last) return;
  if (time < last) forget();
  history_.time.push(time);
  for (const key of charted.flat()) {
    const raw = live.frame[live.at[key]];
    history_.values[key].push(Number.isFinite(raw) ? raw * shownAs(columnOf(key))[0] : null);
  }
  let old = 0;
  while (history_.time[old] < time - SPAN) old++;
  if (old > 60) {  // now and then: an array that is shortened at every frame would be copied at every frame
    history_.time.splice(0, old);
    for (const key of charted.flat()) history_.values[key].splice(0, old);
  }
}
function rangeOf(group) {
  const columns = group.map(columnOf), [factor] = shownAs(columns[0]);
  const los = columns.map((c) => c.lo), his = columns.map((c) => c.hi);
  if (los.every((v) => v !== null) && his.every((v) => v !== null)) {
    const lo = Math.min(...los) * factor, hi = Math.max(...his) * factor, room = 0.05 * (hi - lo);
    if (lo >= 0) return () => [lo - room, hi + room];
    // Both signs: about zero, and no wider than what there is. At speed a tenth of the lock is a lot.
    return (u, least, most) => {
      const reach = Math.min(1.1 * Math.max(Math.abs(least || 0), Math.abs(most || 0), 0.1 * hi), 1.05 * hi);
      return [-reach, reach];
    };
  }
  return (u, lo, hi) => {
    if (lo === null || !Number.isFinite(lo)) return [0, 1];
    const bottom = Math.min(0, lo), room = Math.max(0.08 * (hi - bottom), 0.5);
    return [bottom < 0 ? bottom - room : 0, hi + room];
  };
}
function buildStrips() {
  const box = document.getElementById("strips"), colours = LAP_COLOURS[theme];
  for (const { plot } of strips) plot.destroy();
  strips.length = 0;
  box.replaceChildren();
  charted.forEach((group, index) => {
    const holder = element("div", { className: "strip" }), readings = [];
    const title = element("h2");
    group.forEach((key, i) => {
      const swatch = element("span", { className: "swatch" }), reading = element("b");
      swatch.style.background = colours[i % colours.length];
      title.append(element("span", { title: columnOf(key).meaning }, swatch, `${label(columnOf(key).name)} `, reading));
      readings.push([key, reading]);
    });
    holder.append(title);
    box.append(holder);
    const isLast = index === charted.length - 1, whole = group.every((key) => columnOf(key).name === "gear");
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1 }, font: "12px system-ui, sans-serif" };
    const series = group.map((key, i) => ({
      stroke: colours[i % colours.length], width: 1.6, points: { show: false }, spanGaps: false,
      ...(whole ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
    }));
    const options = {
      width: box.clientWidth, height: HEIGHT + (isLast ? 24 : 0), legend: { show: false }, cursor: { show: false }, padding: [6, 8, 0, 0],
      scales: { x: { time: false, range: (u, lo, hi) => [hi === null ? 0 : hi - SPAN, hi === null ? SPAN : hi] }, y: { range: rangeOf(group) } },
      series: [{}, ...series],
      axes: [{ ...axis, size: isLast ? 32 : 6, values: isLast ? (u, ticks) => ticks.map((v) => (v < 0 ? "" : `${v} s`)) : () => [] },
        { ...axis, size: 46, space: 22, ...(whole ? { incrs: [1, 2, 5] } : {}) }],
    };
    strips.push({ group, holder, readings, plot: new uPlot(options, dataOf(group), holder) });
  });
}
const dataOf = (group) => [history_.time, ...group.map((key) => history_.values[key])];
function drawStrips() {
  for (const { group, plot, readings } of strips) {
    plot.setData(dataOf(group));
    for (const [key, reading] of readings) reading.textContent = number(key);
  }
}
function resizeStrips() {
  const width = document.getElementById("strips").clientWidth;
  strips.forEach(({ plot }, i) => plot.setSize({ width, height: HEIGHT + (i === strips.length - 1 ? 24 : 0) }));
}

// The table: only what the simulator tells or the driver commands is listed.
const listed = new Map();  // key -> output
function drawValues() {
  if (!document.getElementById("values-box").open || !live.frame) return;
  const box = document.getElementById("values");
  for (const column of live.columns) {
    const key = `${column.part}.${column.name}`;
    if (listed.has(key) || column.part === "health" || !Number.isFinite(live.frame[live.at[key]])) continue;
    const check = element("input", { type: "checkbox", checked: charted.some((group) => group.includes(key)) });
    check.onchange = () => { toggleStrip(key); check.blur(); };
    const output = element("output"), name = column.part === "controls" ? `${label(column.name)} (asked)` : label(column.name);
    box.append(element("label", { title: column.meaning }, check, element("span", { textContent: name }), output));
    listed.set(key, output);
  }
  for (const [key, output] of listed) output.textContent = number(key);
}
function forgetValues() {
  listed.clear();
  document.getElementById("values").replaceChildren();
}
