"use strict";
// The map with the cars and the path driven, and the close-up in which the car drives upwards.
const MOVED = 1.0, JUMP = 40;           // m: between points of the path; beyond this the car was put somewhere else
const AHEAD = 95, BEHIND = 30;          // m of road in the close-up
const CLOSE_HEIGHT = 380;               // px at most
const LEVELS = 32, SPEED_STEP = 10;     // m/s: the colours' range grows in such steps
const driven = { x: [], y: [], speed: [], fastest: SPEED_STEP };
const map = { road: null, line: null, box: null, view: null, layer: null, drawn: 0, width: 0 };
let theme = "light";
const ramp = (share) => rampColour(share, theme);

function clearPath() {
  Object.assign(driven, { x: [], y: [], speed: [] });
  map.layer = null;
}
function addPoint(x, y, speed) {
  const n = driven.x.length;
  if (n && Math.hypot(x - driven.x[n - 1], y - driven.y[n - 1]) < MOVED) return;
  driven.x.push(x); driven.y.push(y); driven.speed.push(speed);
  if (speed > driven.fastest) { driven.fastest = Math.ceil(speed / SPEED_STEP) * SPEED_STEP; map.layer = null; }
  const box = map.box;
  if (box && (x < box[0] || x > box[1] || y < box[2] || y > box[3])) map.layer = null;  // it has left the map
}
function takePath(doubles) {
  clearPath();
  for (let i = 0; i + 2 < doubles.length; i += 3) addPoint(doubles[i], doubles[i + 1], doubles[i + 2]);
}

function takeRoad(header) {
  map.road = roadPaths(header.map);
  map.line = header.line ? pathOf(header.line, header.map !== null && header.map.closed) : null;
  map.layer = null;
}
function paintRoadAndLine(pen, view, width) {
  paintRoad(pen, view, map.road, width);
  paintDashed(pen, view, map.line, css("--plan"), width, [5, 5]);
}
function paintDriven(pen, view, first) {
  const { x, y, speed } = driven;
  strokeByLevel(pen, view, driven, {
    first, last: x.length - 1, width: 3,
    level: (i) => Math.min(LEVELS, Math.round((speed[i] / driven.fastest) * LEVELS)),
    colour: (level) => ramp(level / LEVELS),
    gap: (i) => Math.hypot(x[i] - x[i - 1], y[i] - y[i - 1]) > JUMP,
  });
}
function mapBox() {
  const box = boundsOf([...(live.header.map ? [live.header.map.left, live.header.map.right] : []), driven]);
  if (!box) return null;
  const [x0, x1, y0, y1] = box;
  // Without a road the car would leave the map at every metre: a margin prevents that.
  const room = live.header.map ? 5 : Math.max(60, 0.15 * Math.max(x1 - x0, y1 - y0));
  return [x0 - room, x1 + room, y0 - room, y1 + room];
}
function paintLayer(width) {
  map.box = mapBox();
  if (!map.box) return;
  map.view = fitView(map.box, width, 10, 200, Math.min(460, width));
  map.layer = document.createElement("canvas");
  paintRoadAndLine(prepare(map.layer, width, map.view.height), map.view, 1);
  map.drawn = 0;
  map.width = width;
  prepare(document.getElementById("map"), width, map.view.height);
  paintLegend();
}
function paintLegend() {
  const bar = element("span", { className: "ramp" });
  bar.style.background = `linear-gradient(to right,${Array.from({ length: 11 }, (_, i) => ramp(i / 10)).join(",")})`;
  const parts = [element("span", {}, "path: 0", bar, `${Math.round(driven.fastest * KMH)} km/h`)];
  if (map.line) parts.push(element("span", { textContent: "- - planned line" }));
  document.getElementById("legend").replaceChildren(...parts);
}
function carShape(pen, px, py, angle, size, colour) {
  pen.save();
  pen.translate(px, py); pen.rotate(-angle);
  pen.beginPath();
  pen.moveTo(size, 0); pen.lineTo(-0.8 * size, 0.62 * size); pen.lineTo(-0.45 * size, 0); pen.lineTo(-0.8 * size, -0.62 * size);
  pen.closePath();
  pen.fillStyle = colour; pen.fill();
  pen.strokeStyle = css("--back"); pen.lineWidth = 1.5; pen.stroke();
  pen.restore();
}
function paintLines(pen, view, width) {
  pen.lineWidth = width;
  for (const [x0, y0, x1, y1, colour] of live.lines) {
    pen.strokeStyle = `#${colour.toString(16).padStart(6, "0")}`;
    pen.beginPath(); pen.moveTo(...view.to(x0, y0)); pen.lineTo(...view.to(x1, y1)); pen.stroke();
  }
}
const heading = (yaw) => (Number.isFinite(yaw) ? yaw : 0);
function drawMap(width) {
  if (!live.header) return;
  if (!map.layer || map.width !== width) paintLayer(width);
  if (!map.layer) return;
  const above = map.layer.getContext("2d");
  if (map.drawn < driven.x.length) { paintDriven(above, map.view, map.drawn); map.drawn = driven.x.length; }
  const pen = restoreCanvas(document.getElementById("map"), map.layer), toMap = map.view.to;
  paintLines(pen, map.view, 1.5);
  for (const car of otherCars()) {
    if (Number.isFinite(car.x + car.y)) carShape(pen, ...toMap(car.x, car.y), heading(car.yaw), 7, css("--quiet"));
  }
  const x = value("state", "x"), y = value("state", "y");
  if (Number.isFinite(x + y)) carShape(pen, ...toMap(x, y), heading(value("state", "yaw")), 10, css("--text"));
}
function drawClose(width) {
  const x = value("state", "x"), y = value("state", "y"), yaw = value("state", "yaw");
  document.getElementById("close-box").hidden = !Number.isFinite(x + y + yaw);
  if (!Number.isFinite(x + y + yaw)) return;
  const height = Math.min(width, CLOSE_HEIGHT), scale = height / (AHEAD + BEHIND);
  const pen = prepare(document.getElementById("close"), width, height);
  const base = AHEAD * scale, view = followView(x, y, yaw, scale, width / 2, base), to = view.to;
  paintRoadAndLine(pen, view, 1.5);
  paintDriven(pen, view, driven.x.length - 150);
  paintLines(pen, view, 2.5);
  for (const car of otherCars()) {
    if (Number.isFinite(car.x + car.y)) carShape(pen, ...to(car.x, car.y), Math.PI / 2 + heading(car.yaw) - yaw, 9, css("--quiet"));
  }
  carShape(pen, width / 2, base, Math.PI / 2, 11, css("--text"));
  paintScaleBar(pen, view, height);
}
