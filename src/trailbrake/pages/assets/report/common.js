"use strict";
// What every part of the page shares: the data, the colours, which laps are shown, where the cursor is.
const report = JSON.parse(document.getElementById("data").textContent);
const G = 9.80665;

const view = {
  theme: "light",
  shown: new Set(),
  focus: 0,      // the lap of the map and of the g-g diagram
  cursor: null,  // index into the grid
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
  return lap.finished ? `Lap ${lap.number}` : "Unfinished";
}
function setCursor(index) {
  if (index === view.cursor) return;
  view.cursor = index;
  notify("cursor");
}

// Which lap the others are compared with: the best, or the plan where there is one lap only.
const reference = (() => {
  const finished = report.laps.filter((lap) => lap.finished);
  const best = finished.find((lap) => lap.number === report.best) || finished[0];
  if (best && report.laps.length > 1) return { name: `lap ${best.number}`, time: best.time };
  return report.plan ? { name: "the plan", time: report.plan.time } : null;
})();
function delta(lap) {
  if (!reference || !reference.time || !lap.time) return null;
  return lap.time.map((t, i) => (t === null || reference.time[i] === null ? null : t - reference.time[i]));
}
