"use strict";
// The map with the cars and the path driven, and the close-up in which the car drives upwards.
const MOVED = 1.0, JUMP = 40;           // m: between points of the path; beyond this the car was put somewhere else
const AHEAD = 95, BEHIND = 30;          // m of road in the close-up
const CLOSE_HEIGHT = 380;               // px at most
const LEVELS = 32, SPEED_STEP = 10;     // m/s: the colours' range grows in such steps
const driven = { x: [], y: [], speed: [], fastest: SPEED_STEP };
const map = { road: null, line: null, edges: null, box: null, scale: 1, dx: 0, dy: 0, layer: null, drawn: 0 };
let theme = "light";
const ramp = (share) => rampColour(share, theme);
const toMap = (x, y) => [x * map.scale + map.dx, -y * map.scale + map.dy];

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

// In metres: scaled by the pen, so that even the close-up of a long road is drawn at once.
function pathOf(points, close) {
  const made = new Path2D();
  points.x.forEach((x, i) => { if (i) made.lineTo(x, points.y[i]); else made.moveTo(x, points.y[i]); });
  if (close) made.closePath();
  return made;
}
function takeRoad(header) {
  const road = header.map;
  map.road = map.edges = null;
  map.line = header.line ? pathOf(header.line, road !== null && road.closed) : null;
  map.layer = null;
  if (!road) return;
  map.edges = new Path2D();
  map.edges.addPath(pathOf(road.left, road.closed));
  map.edges.addPath(pathOf(road.right, road.closed));
  map.road = new Path2D();
  if (road.closed) map.road.addPath(map.edges);
  else map.road.addPath(pathOf({ x: [...road.left.x, ...[...road.right.x].reverse()], y: [...road.left.y, ...[...road.right.y].reverse()] }, true));
}
// `pen` is in metres here; `scale` says how many pixels one is.
function paintRoad(pen, scale, edgeWidth, lineWidth) {
  if (map.road) {
    pen.fillStyle = css("--road"); pen.fill(map.road, "evenodd");
    pen.strokeStyle = css("--edge"); pen.lineWidth = edgeWidth / scale; pen.stroke(map.edges);
  }
  if (map.line) {
    pen.setLineDash([5 / scale, 5 / scale]);
    pen.strokeStyle = css("--plan"); pen.lineWidth = lineWidth / scale; pen.stroke(map.line);
    pen.setLineDash([]);
  }
}
const level = (i) => Math.min(LEVELS, Math.round((driven.speed[i] / driven.fastest) * LEVELS));
function paintPath(pen, to, width, first) {
  pen.lineWidth = width; pen.lineCap = "round"; pen.lineJoin = "round";
  let i = Math.max(1, first);
  while (i < driven.x.length) {
    const now = level(i);
    pen.beginPath();
    pen.moveTo(...to(driven.x[i - 1], driven.y[i - 1]));
    for (; i < driven.x.length && level(i) === now; i++) {
      const jump = Math.hypot(driven.x[i] - driven.x[i - 1], driven.y[i] - driven.y[i - 1]) > JUMP;
      if (jump) pen.moveTo(...to(driven.x[i], driven.y[i])); else pen.lineTo(...to(driven.x[i], driven.y[i]));
    }
    pen.strokeStyle = ramp(now / LEVELS);
    pen.stroke();
  }
}
function bounds() {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  const take = (points) => points.x.forEach((x, i) => {
    x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, points.y[i]); y1 = Math.max(y1, points.y[i]);
  });
  if (live.header.map) { take(live.header.map.left); take(live.header.map.right); }
  take(driven);
  if (x0 > x1) return null;
  // Without a map the car would leave the picture at every metre: leave it room.
  const room = live.header.map ? 5 : Math.max(60, 0.15 * Math.max(x1 - x0, y1 - y0));
  return [x0 - room, x1 + room, y0 - room, y1 + room];
}
function paintLayer(width) {
  map.box = bounds();
  if (!map.box) return;
  const [x0, x1, y0, y1] = map.box, margin = 10;
  const height = Math.round(Math.min(Math.max((width * (y1 - y0)) / (x1 - x0), 200), Math.min(460, width)));
  map.scale = Math.min((width - 2 * margin) / (x1 - x0), (height - 2 * margin) / (y1 - y0));
  map.dx = width / 2 - ((x0 + x1) / 2) * map.scale;
  map.dy = height / 2 + ((y0 + y1) / 2) * map.scale;
  map.layer = document.createElement("canvas");
  const pen = prepare(map.layer, width, height);
  pen.save();
  pen.translate(map.dx, map.dy); pen.scale(map.scale, -map.scale);
  paintRoad(pen, map.scale, 1, 1);
  pen.restore();
  map.drawn = 0;
  map.width = width; map.height = height;
  prepare(document.getElementById("map"), width, height);
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
const heading = (yaw) => (Number.isFinite(yaw) ? yaw : 0);
function drawMap(width) {
  if (!live.header) return;
  if (!map.layer || map.width !== width) paintLayer(width);
  if (!map.layer) return;
  const above = map.layer.getContext("2d");
  if (map.drawn < driven.x.length) { paintPath(above, toMap, 3, map.drawn); map.drawn = driven.x.length; }
  const canvas = document.getElementById("map"), pen = canvas.getContext("2d");
  pen.save(); pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(map.layer, 0, 0);
  pen.restore();
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
  const c = Math.cos(yaw), s = Math.sin(yaw), base = AHEAD * scale;
  const to = (px, py) => {
    const forward = (px - x) * c + (py - y) * s, left = -(px - x) * s + (py - y) * c;
    return [width / 2 - left * scale, base - forward * scale];
  };
  pen.save();
  const [ox, oy] = to(0, 0);
  // Columns: where a metre along world X and world Y goes.
  pen.transform(s * scale, -c * scale, -c * scale, -s * scale, ox, oy);
  paintRoad(pen, scale, 1.5, 1.5);
  pen.restore();
  paintPath(pen, to, 3, driven.x.length - 150);
  for (const car of otherCars()) {
    if (Number.isFinite(car.x + car.y)) carShape(pen, ...to(car.x, car.y), Math.PI / 2 + heading(car.yaw) - yaw, 9, css("--quiet"));
  }
  carShape(pen, width / 2, base, Math.PI / 2, 11, css("--text"));
  pen.strokeStyle = pen.fillStyle = css("--quiet"); pen.lineWidth = 1.5;
  pen.beginPath(); pen.moveTo(8, height - 8); pen.lineTo(8 + 20 * scale, height - 8); pen.stroke();
  pen.font = "12px system-ui, sans-serif"; pen.fillText("20 m", 8, height - 13);
}
