"use strict";
// The track map, the close-up around the cursor, and the g-g diagram.
const extent = boundsOf([...report.laps, ...(report.map ? [report.map.left, report.map.right] : [])]);
const road = roadPaths(report.map);
const plan = report.plan ? pathOf(report.plan) : null;
let mapView = null;  // where the map's metres go

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
// In a comparison, the lap in focus is coloured by the time that it gains or loses against the reference.
function drawByLoss(pen, map, lap, width, first = 0, last = lap.x.length - 1) {
  const levels = 12, rates = lossRate(lap);
  strokeByLevel(pen, map, lap, {
    first: first + 1, last, width,
    level: (i) => Math.round(Math.min(1, Math.max(-1, rates[i - 1] / lossRange)) * levels),
    colour: (level) => lossColour(level / levels),
    gap: (i) => lap.x[i - 1] === null || lap.x[i] === null || rates[i - 1] === null,
  });
}
function drawCornerNames(pen, map) {
  if (!corners.length) return;
  const lap = report.laps[compared ? report.reference : view.focus];
  if (!lap.x) return;
  const [x0, x1, y0, y1] = extent, [mx, my] = map.to((x0 + x1) / 2, (y0 + y1) / 2);
  pen.font = "600 12px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle"; pen.fillStyle = css("--text");
  for (const corner of corners) {
    if (!corner.number) continue;
    const i = Math.min(report.count - 1, Math.round(corner.apex / report.step));
    if (lap.x[i] === null) continue;
    const [px, py] = map.to(lap.x[i], lap.y[i]), away = Math.hypot(px - mx, py - my) || 1;
    const tx = px + ((px - mx) / away) * 15, ty = py + ((py - my) / away) * 15;
    const half = pen.measureText(corner.name).width / 2;
    pen.fillText(corner.name, Math.min(map.width - half, Math.max(half, tx)), Math.min(map.height - 7, Math.max(7, ty)));
  }
  pen.textBaseline = "alphabetic";
}
function drawBySpeed(pen, view, lap, width, first = 0, last = lap.x.length - 1) {
  if (compared) { drawByLoss(pen, view, lap, width, first, last); return; }
  const levels = 32, span = speedRange[1] - speedRange[0];
  strokeByLevel(pen, view, lap, {
    first: first + 1, last, width,
    level: (i) => Math.max(0, Math.round(((lap.speed[i - 1] - speedRange[0]) / span) * levels)),
    colour: (level) => ramp(level / levels),
    gap: (i) => lap.x[i - 1] === null || lap.x[i] === null || lap.speed[i - 1] === null,
  });
}

let mapPicture = null;  // the map without the cursor
function drawMap(width) {
  if (!extent) { document.getElementById("map-box").hidden = true; document.getElementById("close-box").hidden = true; return; }
  mapView = fitView(extent, width, 14, 160, Math.min(440, width * 1.1));
  const canvas = document.getElementById("map");
  const pen = prepare(canvas, width, mapView.height);
  paintRoad(pen, mapView, road, 1);
  const lap = report.laps[view.focus];
  if (lap.x && lap.speed && view.zoom) {  // what the charts show stands out
    drawBySpeed(pen, mapView, lap, 1.5);
    drawBySpeed(pen, mapView, lap, 6, ...view.zoom.map((d) => Math.round(d / report.step)));
  } else if (lap.x && lap.speed) drawBySpeed(pen, mapView, lap, 3.5);
  else if (lap.x) drawPath(pen, lap.x, lap.y, mapView.to, lapColour(view.focus), 2);
  paintDashed(pen, mapView, plan, css("--text"), 1, [4, 5]);
  drawStart(pen, lap);
  drawCornerNames(pen, mapView);
  mapPicture = copyCanvas(canvas);
}
function drawStart(pen, lap) {
  const a = lap.x ? lap.x.findIndex((x) => x !== null) : -1;
  if (a < 0 || a + 3 >= lap.x.length || lap.x[a + 3] === null) return;
  const [px, py] = mapView.to(lap.x[a], lap.y[a]), [qx, qy] = mapView.to(lap.x[a + 3], lap.y[a + 3]);
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
// Where a lap's dot stands: at the cursor, or, while the laps are played, where its car was at that time.
function placeOf(lap) {
  if (!lap.x) return null;
  if (view.time === null || !lap.time) return view.cursor !== null && lap.x[view.cursor] !== null ? [lap.x[view.cursor], lap.y[view.cursor]] : null;
  const i = indexAt(lap, view.time);
  if (i < 0 || lap.x[i] === null) return null;
  const next = Math.min(i + 1, lap.x.length - 1), span = lap.time[next] - lap.time[i];
  const share = lap.x[next] === null || !(span > 0) ? 0 : Math.min(1, (view.time - lap.time[i]) / span);
  return [lap.x[i] + share * ((lap.x[next] ?? lap.x[i]) - lap.x[i]), lap.y[i] + share * ((lap.y[next] ?? lap.y[i]) - lap.y[i])];
}
function drawMapCursor() {
  if (!mapPicture) return;
  const pen = restoreCanvas(document.getElementById("map"), mapPicture);
  for (const [lap, index] of shownLaps()) {
    const place = placeOf(lap);
    if (place) dot(pen, ...mapView.to(...place), lapColour(index));
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
  // The car drives upwards.
  const close = followView(lap.x[at], lap.y[at], course, width / (2 * AROUND), width / 2, width * 0.6), to = close.to;
  paintRoad(pen, close, road, 1.5);
  paintDashed(pen, close, plan, css("--plan"), 1.5, [6, 5]);
  for (const [other, index] of shownLaps()) if (other.x) drawPath(pen, other.x, other.y, to, lapColour(index), 2);
  for (const [other, index] of shownLaps()) {
    const place = view.cursor === null ? null : placeOf(other);
    if (place) dot(pen, ...to(...place), lapColour(index));
  }
  paintScaleBar(pen, close, width);
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
  pen.fillStyle = quiet; pen.strokeStyle = css("--back"); pen.lineWidth = 4; pen.lineJoin = "round";
  const write = (text, x, y) => { pen.strokeText(text, x, y); pen.fillText(text, x, y); }; // legible upon the points
  pen.textAlign = "center"; write("accelerate", middle, 12); write("brake", middle, width - 3);
  pen.textAlign = "left"; write("left", 2, middle - 4);
  pen.textAlign = "right"; write("right", width - 2, middle - 4);
  for (let g = ringStep; g <= reach + 1e-9; g += ringStep) write(`${g}`, middle - 3 + g * scale * 0.7071, middle + g * scale * 0.7071 + 4);
  const at = view.cursor;
  if (at !== null && ax[at] !== null && ay[at] !== null) dot(pen, middle - (ay[at] / G) * scale, middle - (ax[at] / G) * scale, lapColour(view.focus));
}

// The sample of the lap in focus that is nearest to a place on the map, if that is near enough.
function sampleAt(px, py) {
  const lap = report.laps[view.focus];
  let best = null, least = 40 * 40;
  if (lap.x) lap.x.forEach((x, i) => {
    if (x === null) return;
    const [qx, qy] = mapView.to(x, lap.y[i]), d = (qx - px) ** 2 + (qy - py) ** 2;
    if (d < least) { least = d; best = i; }
  });
  return best;
}
