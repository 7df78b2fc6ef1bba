"use strict";
// What every part of the page shares: the data, the colours, which laps are shown, where the cursor is.
const report = JSON.parse(document.getElementById("data").textContent);
const G = 9.80665;

const view = {
  theme: "light",
  shown: new Set(),
  focus: 0,      // the lap of the map and of the g-g diagram
  cursor: null,  // index into the grid
  time: null,    // s since each lap began, while the laps are played; null: all dots are at the cursor
  zoom: null,    // [first, last] distance shown, null for all
};
const listeners = { shown: [], cursor: [], theme: [] };
const on = (what, call) => listeners[what].push(call);
const notify = (what) => listeners[what].forEach((call) => call());

const distances = Array.from({ length: report.count }, (_, i) => i * report.step);

function lapColour(index) {
  const colours = LAP_COLOURS[view.theme];
  return colours[index % colours.length];
}
const ramp = (share) => rampColour(share, view.theme);

// Without the slowest hundredth: a standing start must not take half of the colours.
const speedRange = (() => {
  const speeds = report.laps.flatMap((lap) => (lap.speed || []).filter((v) => v !== null)).sort((a, b) => a - b);
  const lo = speeds[Math.floor(speeds.length / 100)], hi = speeds[speeds.length - 1];
  return lo < hi ? [lo, hi] : [0, Math.max(1, hi || 0)];
})();
function speedColour(speed) {
  return ramp((speed - speedRange[0]) / (speedRange[1] - speedRange[0]));
}

function lapName(lap) {
  if (lap.name) return lap.name;
  return lap.finished ? `Lap ${lap.number}` : "Unfinished";
}
function setCursor(index) {
  if (index === view.cursor) return;
  view.cursor = index;
  notify("cursor");
}

// Which lap the others are compared with: the best, or the plan where there is one lap only.
const reference = (() => {
  if (report.reference !== undefined) {  // a comparison says which
    const lap = report.laps[report.reference];
    return { name: lap.name, time: lap.time };
  }
  const finished = report.laps.filter((lap) => lap.finished);
  const best = finished.find((lap) => lap.number === report.best) || finished[0];
  if (best && report.laps.length > 1) return { name: `lap ${best.number}`, time: best.time };
  return report.plan ? { name: "the plan", time: report.plan.time } : null;
})();
function delta(lap) {
  if (!reference || !reference.time || !lap.time) return null;
  return lap.time.map((t, i) => (t === null || reference.time[i] === null ? null : t - reference.time[i]));
}

const corners = report.corners || [];
const compared = report.reference !== undefined;  // a comparison of drives, not the report of one
// The corner at a place of the grid; undefined between two.
const cornerAt = (i) => corners.find((corner) => corner.number && corner.entry <= i * report.step && i * report.step <= corner.exit);
// Time lost per metre around each place, s/m: the slope of the delta over a stretch that hides the noise of single samples.
const SLOPE_REACH = 12;  // m
function lossRate(lap) {
  if (lap.lossRate !== undefined) return lap.lossRate;
  const behind = delta(lap), reach = Math.max(1, Math.round(SLOPE_REACH / report.step));
  lap.lossRate = behind && behind.map((_, i) => {
    const a = Math.max(0, i - reach), b = Math.min(behind.length - 1, i + reach);
    return behind[a] === null || behind[b] === null ? null : (behind[b] - behind[a]) / ((b - a) * report.step);
  });
  return lap.lossRate;
}
// Blue gains, orange loses; quiet where nothing happens. `share` is -1..1.
function lossColour(share) {
  const [gain, even, lose] = view.theme === "dark" ? [[86, 180, 233], [88, 96, 106], [255, 140, 66]]
    : [[0, 114, 178], [176, 182, 190], [213, 94, 0]];
  const amount = Math.min(1, Math.abs(share)), to = share < 0 ? gain : lose;
  return `rgb(${even.map((c, k) => Math.round(c + (to[k] - c) * amount)).join(",")})`;
}
const lossRange = (() => {
  if (!compared) return 1;
  const rates = report.laps.flatMap((lap, i) => (i === report.reference ? [] : lossRate(lap) || []))
    .filter((v) => v !== null).map(Math.abs).sort((a, b) => a - b);
  return Math.max(rates[Math.floor(rates.length * 0.98)] || 0, 1e-4);
})();

// The last place of the grid that a lap had passed at a time since its beginning; -1 before the first one.
function indexAt(lap, time) {
  let lo = 0, hi = report.count - 1;
  while (lo < hi && lap.time[lo] === null) lo++;
  while (hi > lo && lap.time[hi] === null) hi--;
  if (lap.time[lo] === null || lap.time[lo] > time) return -1;
  while (lo < hi) {
    const middle = (lo + hi + 1) >> 1;
    if (lap.time[middle] !== null && lap.time[middle] <= time) lo = middle; else hi = middle - 1;
  }
  return lo;
}
