"use strict";
// What the report's page and the live page share: colours, clocks, elements, and drawing on canvases.
const KMH = 3.6;
// Okabe and Ito's colours, which people with any colour vision can tell apart; lighter on a dark page.
const LAP_COLOURS = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b0568c", "#a67500", "#3a8fc4", "#5c5c5c"],
  dark: ["#56b4e9", "#ff8c42", "#2fd0a0", "#e69ac6", "#f0c04a", "#a5d4f3", "#bdbdbd"],
};
// Viridis: even in lightness, so it also reads in grey. The ends that would vanish in the page are left out.
const VIRIDIS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137],
  [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
const RAMP_RANGE = { light: [0.0, 0.88], dark: [0.22, 1.0] };

const byId = (id) => document.getElementById(id);
function css(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
function rampColour(share, theme) {
  const [from, to] = RAMP_RANGE[theme];
  const at = (from + (to - from) * Math.min(1, Math.max(0, share))) * (VIRIDIS.length - 1);
  const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  const mix = VIRIDIS[i].map((c, k) => Math.round(c + (VIRIDIS[i + 1][k] - c) * (at - i)));
  return `rgb(${mix.join(",")})`;
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
