"use strict";
// What every part of the page shares: the data, the colours, which laps are shown, where the cursor is.
const report = JSON.parse(document.getElementById("data").textContent);
const KMH = 3.6, G = 9.80665;

// Okabe and Ito's colours, which people with any colour vision can tell apart; lighter on a dark page.
const LAP_COLOURS = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b0568c", "#a67500", "#3a8fc4", "#5c5c5c"],
  dark: ["#56b4e9", "#ff8c42", "#2fd0a0", "#e69ac6", "#f0c04a", "#a5d4f3", "#bdbdbd"],
};
// Viridis: even in lightness, so it also reads in grey. The ends that would vanish in the page are left out.
const VIRIDIS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137],
  [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
const RAMP_RANGE = { light: [0.0, 0.88], dark: [0.22, 1.0] };

const view = {
  theme: "light",
  shown: new Set(),
  focus: 0,      // the lap of the map and of the g-g diagram
  cursor: null,  // index into the grid
  zoom: null,    // [first, last] distance shown, null for all
};
const listeners = { shown: [], cursor: [], theme: [] };
const on = (what, call) => listeners[what].push(call);
const tell = (what) => listeners[what].forEach((call) => call());

const distances = Array.from({ length: report.count }, (_, i) => i * report.step);

function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
function lapColour(index) {
  const colours = LAP_COLOURS[view.theme];
  return colours[index % colours.length];
}
function ramp(share) {
  const [from, to] = RAMP_RANGE[view.theme];
  const at = (from + (to - from) * Math.min(1, Math.max(0, share))) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const mix = VIRIDIS[i].map((c, k) => Math.round(c + (VIRIDIS[i + 1][k] - c) * (at - i)));
  return `rgb(${mix.join(",")})`;
}

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
function clock(seconds) {
  if (seconds === null || !isFinite(seconds)) return "-";
  const thousandths = Math.round(seconds * 1000), minutes = Math.floor(thousandths / 60000);
  const rest = ((thousandths % 60000) / 1000).toFixed(3);
  return minutes ? `${minutes}:${rest.padStart(6, "0")}` : rest;
}
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
function setCursor(index) {
  if (index === view.cursor) return;
  view.cursor = index;
  tell("cursor");
}

// A canvas in CSS pixels that is sharp on any screen.
function prepare(canvas, width, height) {
  const dense = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * dense);
  canvas.height = Math.round(height * dense);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
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
