"use strict";
// The track map, the close-up around the cursor, and the g-g diagram.
const place = { scale: 1, dx: 0, dy: 0 };  // of the map: world to canvas
const toMap = (x, y) => [x * place.scale + place.dx, -y * place.scale + place.dy];

function bounds() {
  let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
  const take = (xs, ys) => xs && ys && xs.forEach((x, i) => {
    if (x === null || ys[i] === null) return;
    x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, ys[i]); y1 = Math.max(y1, ys[i]);
  });
  for (const lap of report.laps) take(lap.x, lap.y);
  if (report.map) for (const edge of [report.map.left, report.map.right]) take(edge.x, edge.y);
  return x0 <= x1 ? [x0, x1, y0, y1] : null;
}
const extent = bounds();

function ring(pen, points, to, first, close) {
  points.x.forEach((x, i) => {
    const [px, py] = to(x, points.y[i]);
    if (i || !first) pen.lineTo(px, py); else pen.moveTo(px, py);
  });
  if (close) pen.closePath();
}
function drawRoad(pen, to, edgeWidth) {
  const { left, right, closed } = report.map;
  if (!left.x || !right.x) return;
  pen.beginPath();
  ring(pen, left, to, true, closed);
  if (closed) ring(pen, right, to, true, true);
  else ring(pen, { x: [...right.x].reverse(), y: [...right.y].reverse() }, to, false, true);
  pen.fillStyle = css("--road");
  pen.fill("evenodd");
  pen.strokeStyle = css("--edge");
  pen.lineWidth = edgeWidth;
  for (const edge of [left, right]) { pen.beginPath(); ring(pen, edge, to, true, closed); pen.stroke(); }
}
function drawPath(pen, xs, ys, to, colour, width, dash) {
  pen.beginPath();
  let down = false;
  for (let i = 0; i < xs.length; i++) {
    if (xs[i] === null || ys[i] === null) { down = false; continue; }
    const [px, py] = to(xs[i], ys[i]);
    if (down) pen.lineTo(px, py); else pen.moveTo(px, py);
    down = true;
  }
  pen.strokeStyle = colour; pen.lineWidth = width; pen.setLineDash(dash || []);
  pen.stroke();
  pen.setLineDash([]);
}
// One stroke per stretch of about the same colour: thousands of single strokes would be slow.
function drawBySpeed(pen, lap, to, width, first = 0, last = lap.x.length - 1) {
  const levels = 32, span = speedRange[1] - speedRange[0];
  const level = (i) => Math.max(0, Math.round(((lap.speed[i] - speedRange[0]) / span) * levels));
  pen.lineWidth = width; pen.lineCap = "round"; pen.lineJoin = "round";
  let i = first;
  while (i < last) {
    if (lap.x[i] === null || lap.x[i + 1] === null || lap.speed[i] === null) { i++; continue; }
    const now = level(i);
    pen.beginPath();
    pen.moveTo(...to(lap.x[i], lap.y[i]));
    while (i < last && lap.x[i + 1] !== null && lap.speed[i] !== null && level(i) === now) {
      i++;
      pen.lineTo(...to(lap.x[i], lap.y[i]));
    }
    pen.strokeStyle = ramp(now / levels);
    pen.stroke();
  }
  pen.lineCap = "butt";
}

let mapPicture = null;  // the map without the cursor
function drawMap(width) {
  if (!extent) { document.getElementById("map-box").hidden = true; document.getElementById("close-box").hidden = true; return; }
  const [x0, x1, y0, y1] = extent, margin = 14;
  const wide = Math.max(x1 - x0, 1), high = Math.max(y1 - y0, 1);
  const height = Math.round(Math.min(Math.max((width * high) / wide, 160), Math.min(440, width * 1.1)));
  place.scale = Math.min((width - 2 * margin) / wide, (height - 2 * margin) / high);
  place.dx = width / 2 - ((x0 + x1) / 2) * place.scale;
  place.dy = height / 2 + ((y0 + y1) / 2) * place.scale;
  const canvas = document.getElementById("map");
  const pen = prepare(canvas, width, height);
  if (report.map) drawRoad(pen, toMap, 1);
  const lap = report.laps[view.focus];
  if (lap.x && lap.speed && view.zoom) {  // what the charts show stands out
    drawBySpeed(pen, lap, toMap, 1.5);
    drawBySpeed(pen, lap, toMap, 6, ...view.zoom.map((d) => Math.round(d / report.step)));
  } else if (lap.x && lap.speed) drawBySpeed(pen, lap, toMap, 3.5);
  else if (lap.x) drawPath(pen, lap.x, lap.y, toMap, lapColour(view.focus), 2);
  if (report.plan) drawPath(pen, report.plan.x, report.plan.y, toMap, css("--text"), 1, [4, 5]);
  drawStart(pen, lap);
  mapPicture = document.createElement("canvas");
  mapPicture.width = canvas.width; mapPicture.height = canvas.height;
  mapPicture.getContext("2d").drawImage(canvas, 0, 0);
}
function drawStart(pen, lap) {
  const a = lap.x ? lap.x.findIndex((x) => x !== null) : -1;
  if (a < 0 || a + 3 >= lap.x.length || lap.x[a + 3] === null) return;
  const [px, py] = toMap(lap.x[a], lap.y[a]), [qx, qy] = toMap(lap.x[a + 3], lap.y[a + 3]);
  const size = Math.hypot(qx - px, qy - py) || 1, ux = (qx - px) / size, uy = (qy - py) / size;
  pen.beginPath();
  pen.moveTo(px - uy * 11, py + ux * 11); pen.lineTo(px + uy * 11, py - ux * 11);
  pen.strokeStyle = css("--text"); pen.lineWidth = 2.5;
  pen.stroke();
  pen.beginPath();  // an arrowhead beside the line tells which way the car goes
  const bx = px + uy * 16, by = py - ux * 16;
  pen.moveTo(bx + ux * 12, by + uy * 12); pen.lineTo(bx - uy * 5, by + ux * 5); pen.lineTo(bx + uy * 5, by - ux * 5);
  pen.fillStyle = css("--text");
  pen.fill();
}
function dot(pen, px, py, colour) {
  pen.beginPath(); pen.arc(px, py, 5.5, 0, 2 * Math.PI);
  pen.fillStyle = colour; pen.fill();
  pen.strokeStyle = css("--back"); pen.lineWidth = 2; pen.stroke();
}
function shownLaps() {
  return report.laps.map((lap, index) => [lap, index]).filter(([, index]) => view.shown.has(index));
}
function drawMapCursor() {
  if (!mapPicture) return;
  const canvas = document.getElementById("map"), pen = canvas.getContext("2d");
  pen.save(); pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(mapPicture, 0, 0);
  pen.restore();
  if (view.cursor === null) return;
  for (const [lap, index] of shownLaps()) {
    if (lap.x && lap.x[view.cursor] !== null) dot(pen, ...toMap(lap.x[view.cursor], lap.y[view.cursor]), lapColour(index));
  }
}

const AROUND = 45;  // m from the cursor to the edge of the close-up
function drawClose(width) {
  const lap = report.laps[view.focus], canvas = document.getElementById("close");
  if (!extent || !lap.x) return;
  const pen = prepare(canvas, width, width);
  let at = view.cursor === null ? lap.x.findIndex((x) => x !== null) : view.cursor;
  if (at < 0 || lap.x[at] === null) return;
  const ahead = Math.min(at + 3, lap.x.length - 1), behind = Math.max(at - 3, 0);
  const known = (i) => (lap.x[i] === null ? at : i);
  const course = Math.atan2(lap.y[known(ahead)] - lap.y[known(behind)], lap.x[known(ahead)] - lap.x[known(behind)]);
  const c = Math.cos(course), s = Math.sin(course), scale = width / (2 * AROUND), cx = lap.x[at], cy = lap.y[at];
  const to = (x, y) => {  // the car drives upwards
    const forward = (x - cx) * c + (y - cy) * s, left = -(x - cx) * s + (y - cy) * c;
    return [width / 2 - left * scale, width * 0.6 - forward * scale];
  };
  if (report.map) drawRoad(pen, to, 1.5);
  if (report.plan) drawPath(pen, report.plan.x, report.plan.y, to, css("--plan"), 1.5, [6, 5]);
  for (const [other, index] of shownLaps()) if (other.x) drawPath(pen, other.x, other.y, to, lapColour(index), 2);
  for (const [other, index] of shownLaps()) {
    if (view.cursor !== null && other.x && other.x[at] !== null) dot(pen, ...to(other.x[at], other.y[at]), lapColour(index));
  }
  pen.strokeStyle = pen.fillStyle = css("--quiet");
  pen.lineWidth = 1.5;
  pen.beginPath(); pen.moveTo(8, width - 8); pen.lineTo(8 + 20 * scale, width - 8); pen.stroke();
  pen.font = "12px system-ui, sans-serif"; pen.textAlign = "left";
  pen.fillText("20 m", 8, width - 13);
}

function drawDiagram(width) {
  const lap = report.laps[view.focus], ax = lap.acceleration_x, ay = lap.acceleration_y;
  if (!ax || !ay) { document.getElementById("gg-box").hidden = true; return; }
  document.getElementById("gg-box").hidden = false;
  const pen = prepare(document.getElementById("gg"), width, width);
  const sizes = ax.map((a, i) => (a === null || ay[i] === null ? 0 : Math.hypot(a, ay[i]) / G)).sort((a, b) => a - b);
  const reach = Math.max(0.5, Math.ceil(sizes[Math.floor(sizes.length * 0.998)] * 2 + 0.2) / 2);
  const middle = width / 2, scale = (middle - 8) / reach, quiet = css("--quiet");
  pen.font = "11px system-ui, sans-serif"; pen.lineWidth = 1;
  const ringStep = reach > 2 ? 1 : 0.5;
  for (let g = ringStep; g <= reach + 1e-9; g += ringStep) {
    pen.beginPath(); pen.arc(middle, middle, g * scale, 0, 2 * Math.PI);
    pen.strokeStyle = css("--line"); pen.stroke();
  }
  pen.beginPath();
  pen.moveTo(middle, 8); pen.lineTo(middle, width - 8); pen.moveTo(8, middle); pen.lineTo(width - 8, middle); pen.stroke();
  for (let i = 0; i < ax.length; i++) {
    if (ax[i] === null || ay[i] === null) continue;
    pen.fillStyle = lap.speed && lap.speed[i] !== null ? speedColour(lap.speed[i]) : lapColour(view.focus);
    pen.fillRect(middle - (ay[i] / G) * scale - 1.2, middle - (ax[i] / G) * scale - 1.2, 2.4, 2.4);
  }
  pen.fillStyle = quiet; pen.textAlign = "center";
  pen.fillText("accelerate", middle, 12); pen.fillText("brake", middle, width - 3);
  pen.textAlign = "left"; pen.fillText("left", 2, middle - 4);
  pen.textAlign = "right"; pen.fillText("right", width - 2, middle - 4);
  for (let g = ringStep; g <= reach + 1e-9; g += ringStep) pen.fillText(`${g}`, middle - 3 + g * scale * 0.7071, middle + g * scale * 0.7071 + 4);
  const at = view.cursor;
  if (at !== null && ax[at] !== null && ay[at] !== null) dot(pen, middle - (ay[at] / G) * scale, middle - (ax[at] / G) * scale, lapColour(view.focus));
}

// The sample of the lap in focus that is nearest to a place on the map, if that is near enough.
function sampleAt(px, py) {
  const lap = report.laps[view.focus];
  let best = null, least = 40 * 40;
  if (lap.x) lap.x.forEach((x, i) => {
    if (x === null) return;
    const [qx, qy] = toMap(x, lap.y[i]), d = (qx - px) ** 2 + (qy - py) ** 2;
    if (d < least) { least = d; best = i; }
  });
  return best;
}
