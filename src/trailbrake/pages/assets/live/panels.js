"use strict";
// Accelerations, wheels, and corner by corner: what the simulator supplies of them.
const G = 9.81;                    // m/s² in the panels' unit
const GG_SPAN = 30, GG_EVERY = 1 / 30;  // s of simulator time shown, and between its points
const WHEELS = ["fl", "fr", "rl", "rr"];
const gg = { time: [], x: [], y: [] };

function forgetPanels() {
  gg.time = []; gg.x = []; gg.y = [];
  for (const id of ["gg-box", "wheels-box"]) byId(id).hidden = true;
}
function addAcceleration(time) {
  const x = value("state", "acceleration_x"), y = value("state", "acceleration_y"), last = gg.time[gg.time.length - 1];
  if (time < last) { gg.time = []; gg.x = []; gg.y = []; }
  if (!Number.isFinite(x + y) || time - last < GG_EVERY) return;
  gg.time.push(time); gg.x.push(x / G); gg.y.push(y / G);
  while (gg.time.length && gg.time[0] < time - GG_SPAN) { gg.time.shift(); gg.x.shift(); gg.y.shift(); }
}
function takeAccelerations(rows) {
  const width = live.columns.length, newest = live.frame;
  gg.time = []; gg.x = []; gg.y = [];
  for (let i = 0; i + width <= rows.length; i += width) {
    live.frame = rows.subarray(i, i + width);
    addAcceleration(value("state", "time"));
  }
  live.frame = newest;
}
function drawPanels() {
  drawAccelerations();
  drawWheels();
}
function drawAccelerations() {
  const box = byId("gg-box");
  box.hidden = !gg.time.length;
  if (box.hidden) return;
  const size = Math.min(box.clientWidth - 16, 260), pen = prepare(byId("gg"), size, size), middle = size / 2;
  const reach = Math.max(1, Math.ceil(2 * Math.max(...gg.x.map(Math.abs), ...gg.y.map(Math.abs))) / 2);
  const scale = (middle - 14) / reach;
  pen.strokeStyle = css("--grid"); pen.fillStyle = css("--quiet"); pen.lineWidth = 1; pen.font = "11px system-ui, sans-serif";
  for (let ring = reach > 3 ? 1 : 0.5; ring <= reach; ring += reach > 3 ? 1 : 0.5) {
    pen.beginPath(); pen.arc(middle, middle, ring * scale, 0, 2 * Math.PI); pen.stroke();
    pen.fillText(String(ring), middle + ring * scale * 0.71 + 2, middle - ring * scale * 0.71);
  }
  pen.beginPath(); pen.moveTo(8, middle); pen.lineTo(size - 8, middle); pen.moveTo(middle, 8); pen.lineTo(middle, size - 8); pen.stroke();
  pen.fillStyle = LAP_COLOURS[theme][0];
  const newest = gg.time[gg.time.length - 1];
  gg.time.forEach((time, i) => {
    pen.globalAlpha = 0.15 + 0.6 * (1 - (newest - time) / GG_SPAN);
    pen.fillRect(middle - gg.y[i] * scale - 1, middle - gg.x[i] * scale - 1, 2.4, 2.4);
  });
  pen.globalAlpha = 1;
  const x = value("state", "acceleration_x") / G, y = value("state", "acceleration_y") / G;
  if (Number.isFinite(x + y)) {
    pen.fillStyle = LAP_COLOURS[theme][1];
    pen.beginPath(); pen.arc(middle - y * scale, middle - x * scale, 5, 0, 2 * Math.PI); pen.fill();
  }
}
// Each wheel as a bar of its load beside one of its slip, in the place where it is on the car.
function drawWheels() {
  const box = byId("wheels-box"), of = (name) => WHEELS.map((wheel) => value("state", `${wheel}_${name}`));
  const loads = of("load"), ratios = of("slip_ratio"), angles = of("slip_angle"), combined = of("combined_slip");
  const known = (list) => list.some(Number.isFinite);
  box.hidden = !known([...loads, ...ratios, ...angles, ...combined]);
  if (box.hidden) return;
  const width = Math.min(box.clientWidth - 16, 300), height = 260, pen = prepare(byId("wheels"), width, height);
  const colours = LAP_COLOURS[theme], most = Math.max(1, 0.6 * loads.filter(Number.isFinite).reduce((sum, load) => sum + load, 0));
  WHEELS.forEach((name, i) => {
    const left = (i % 2) * (width / 2), top = Math.floor(i / 2) * (height / 2) + 6, high = height / 2 - 22;
    const bar = (share, at, colour, text) => {
      pen.fillStyle = css("--grid"); pen.fillRect(left + at, top, 20, high);
      pen.fillStyle = colour; pen.fillRect(left + at, top + high * (1 - share), 20, high * share);
      pen.fillStyle = css("--text"); pen.font = "11px system-ui, sans-serif"; pen.textAlign = "center";
      pen.fillText(text, left + at + 10, top + high + 12);
    };
    let at = 6;
    if (Number.isFinite(loads[i])) { bar(Math.min(1, loads[i] / most), at, colours[0], `${(loads[i] / 1000).toFixed(1)}`); at += 34; }
    if (Number.isFinite(combined[i])) { bar(Math.min(1, combined[i] / 2), at, combined[i] > 1 ? colours[1] : colours[2], combined[i].toFixed(1)); at += 34; }
    pen.textAlign = "left"; pen.fillStyle = css("--quiet");
    pen.fillText(name.toUpperCase(), left + at, top + 10);
    pen.fillStyle = css("--text");
    if (Number.isFinite(ratios[i])) pen.fillText(`κ ${(100 * ratios[i]).toFixed(0)} %`, left + at, top + 28);
    if (Number.isFinite(angles[i])) pen.fillText(`α ${((180 / Math.PI) * angles[i]).toFixed(1)}°`, left + at, top + 44);
  });
  const words = [known(loads) && "load, kN", known(combined) && "slip over that of the tyre's peak", known(ratios) && "κ slip ratio", known(angles) && "α slip angle"];
  byId("wheels-text").textContent = words.filter(Boolean).join("; ");
}
let cornersDrawn = null;
function drawCorners() {
  const newest = live.header && live.header.replay ? (live.controls.replay || {}).corners : live.corners[live.corners.length - 1];
  byId("corners-box").hidden = !newest || !newest.corners.length;
  if (!newest || newest === cornersDrawn) return;
  cornersDrawn = newest;
  byId("corners-box").querySelector("summary").textContent = `Corner by corner, lap ${newest.lap}`;
  byId("corners").replaceChildren(...newest.corners.map((corner) => element("tr", {},
    element("td", { textContent: corner.number }), element("td", { textContent: `${corner.apex_m.toFixed(0)} m` }),
    element("td", { textContent: corner.slowest === null ? "-" : `${(corner.slowest * KMH).toFixed(0)} km/h` }),
    element("td", { textContent: corner.time_s === null ? "-" : `${corner.time_s.toFixed(3)} s` }),
    element("td", { textContent: corner.lost_s === null ? "-" : `${corner.lost_s > 0 ? "+" : ""}${corner.lost_s.toFixed(3)} s`,
      className: corner.lost_s > 0.005 ? "lost" : "" }))));
}
