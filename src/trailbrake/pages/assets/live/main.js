"use strict";
// Joins the parts: what is drawn, when, and the words around it.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const STRIPS_EVERY = 50, VALUES_EVERY = 200;  // ms
const OLD = 0.25;  // s without a sample that are worth a warning: as long as the drive's own dead-man waits
const WARMING = 20;  // frames after which it is known what the simulator tells
let fresh = false, stripsAt = 0, valuesAt = 0, chosen = false, lastTime = NaN;

heard.header = () => {
  const { about } = live.header;
  const words = ["driver", "car", "track", "sim"].map((key) => about[key]).filter(Boolean);
  byId("title").textContent = words.join(" · ") || "trailbrake, live";
  document.title = `${words[0] || "trailbrake"}, live`;
  takeRoad(live.header);
  clearPath();
  forgetValues();
  live.frames = 0;
  if (about && live.header.replay) live.laps = live.header.replay.laps.map((lap) => ({ ...lap, reason: "" }));
  forgetPanels();
  buildControls();
  chosen = false;
  lastTime = NaN;
  if (sceneView.kind !== "map") chooseView(sceneView.kind);
  drawWords();
};
heard.path = (doubles) => takePath(doubles);
let waitingHistory = null;  // until it is known what is charted
heard.history = (doubles) => {
  takeAccelerations(doubles);
  if (chosen) recordHistory(doubles); else waitingHistory = doubles;
  lastTime = NaN;
  fresh = true;
};
heard.controls = () => drawControls();
heard.frame = () => {
  fresh = true;
  followCoach();
  if (!chosen && (live.frames === 1 || live.frames === WARMING)) {
    firstStrips();
    if (waitingHistory) recordHistory(waitingHistory);
    buildStrips();
    chosen = live.frames === WARMING;
    if (chosen) waitingHistory = null;
  }
  const time = value("state", "time");
  if (time === lastTime) return;
  lastTime = time;
  record(time);
  addAcceleration(time);
  const x = value("state", "x"), y = value("state", "y"), speed = value("state", "speed");
  if (Number.isFinite(x + y + speed)) addPoint(x, y, speed);
};
const decoding = { camera: false, debug: false };
heard.picture = async (which, blob) => {
  if (decoding[which]) return;  // the next one will do
  decoding[which] = true;
  try {
    const picture = await createImageBitmap(blob), canvas = byId(which);
    if (canvas.width !== picture.width || canvas.height !== picture.height) { canvas.width = picture.width; canvas.height = picture.height; }
    canvas.getContext("2d").drawImage(picture, 0, 0);
    picture.close();
    byId(`${which}-box`).hidden = false;
  } catch { /* a damaged picture; the last good one stays */ } finally {
    decoding[which] = false;
  }
};
heard.text = () => drawWords();

function drawWords() {
  const silent = value("health", "silent"), status = byId("status");
  const phase = ["driving", "paused", "the simulator is gone", "finished"][value("state", "phase")] || "driving";
  let words = phase, bad = phase === "the simulator is gone";
  if (live.over !== null) { words = live.over ? `the drive has ended: ${live.over}` : "the drive is over"; bad = live.over !== ""; }
  else if (live.gone) { words = "another drive is there now: open the address that the terminal shows"; bad = true; }
  else if (!live.connected) { words = "no connection to the drive; trying again"; bad = true; }
  else if (!live.header) { words = live.log.length ? live.log[live.log.length - 1] : "the drive has not begun yet"; }
  else if (!live.frame) words = "waiting for the first sample";
  else if (live.header.replay) words = live.controls.replay && live.controls.replay.playing ? "replay" : "replay, paused";
  else if (silent > OLD) { words = `the simulator has been silent for ${silent.toFixed(1)} s`; bad = true; }
  if (live.watchesOnly && live.over === null) words += ", this device watches";
  document.body.classList.toggle("watches-only", live.watchesOnly);
  if (status.textContent !== words) status.textContent = words;
  status.classList.toggle("bad", bad);
  if (live.header) drawHands();
  byId("refused").hidden = !live.refused;
  byId("refused").textContent = live.refused;
  drawCorners();
  const best = live.laps.filter((lap) => lap.valid).reduce((least, lap) => Math.min(least, lap.time_s), Infinity);
  const kept = (live.header && live.header.coach && live.header.coach.best_s) || Infinity;
  const own = value("state", "best_lap_time");
  const place = value("health", "position"), past = live.header && live.header.replay ? live.laps.filter((lap) => lap.end <= place) : live.laps;
  byId("last-time").textContent = past.length ? clock(past[past.length - 1].time_s) : "-";
  byId("best-time").textContent = clock(Math.min(best, kept) < Infinity ? Math.min(best, kept) : own > 0 ? own : null);
  byId("laps-box").hidden = !live.laps.length;
  if (byId("laps").childElementCount !== live.laps.length) {
    byId("laps").replaceChildren(...live.laps.map((lap) => element("tr", {},
      element("td", { textContent: lap.number }), element("td", { textContent: clock(lap.time_s), className: lap.time_s === best ? "best" : "" }),
      element("td", { textContent: lap.valid ? "yes" : `no: ${lap.reason}` }))));
  }
  byId("log").textContent = live.log.join("\n");
}
const count = (name) => (Number.isFinite(value("health", name)) ? value("health", name).toFixed(0) : "-");
const OF_RECORDINGS = ["to this page", "frames skipped"];  // the other rows tell of a wire
const ROWS = [
  ["silent", () => `${(1000 * value("health", "silent")).toFixed(0)} ms`, () => value("health", "silent") > OLD],
  ["loop", () => (Number.isFinite(value("health", "loop_rate")) ? `${value("health", "loop_rate").toFixed(0)}/s` : "-")],
  ["received", () => count("received")],
  ["lost", () => count("lost")],
  ["stale", () => count("stale"), () => value("health", "stale") > 0],
  ["restarts", () => count("resyncs")],
  ["to this page", () => `${Math.max(0, 1000 * live.latency).toFixed(1)} ms`],
  ["frames skipped", () => value("health", "skipped").toFixed(0)],
];
const outputs = ROWS.map(([name]) => {
  const output = element("dd", { textContent: "-" }), row = element("div", {}, element("dt", { textContent: name }), output);
  byId("health").append(row);
  return [row, output];
});
function drawHealth() {
  byId("health-box").classList.toggle("bad", ROWS.some(([, , bad]) => bad !== undefined && bad()));
  ROWS.forEach(([, text, bad], i) => {
    outputs[i][1].textContent = text();
    outputs[i][0].classList.toggle("bad", bad !== undefined && bad());
    outputs[i][0].hidden = Boolean(live.header.replay) && !OF_RECORDINGS.includes(ROWS[i][0]);
  });
}
const inner = (box) => Math.max(120, Math.floor(box.clientWidth - 16));
function draw(at) {
  requestAnimationFrame(draw);
  if (!fresh || !live.frame || !live.header) return;
  fresh = false;
  drawScene(at);
  drawMap(inner(byId("map-box")));
  if (!byId("close-box").hidden || value("state", "x") === value("state", "x")) drawClose(inner(byId("close-box")));
  drawDash();
  drawCoach();
  drawReplay();
  if (at - stripsAt >= STRIPS_EVERY) { stripsAt = at; drawStrips(); drawPanels(); }
  if (at - valuesAt >= VALUES_EVERY) { valuesAt = at; drawHealth(); drawValues(); drawWords(); }
  drawHands();
}
function dress() {
  theme = dark.matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  map.layer = null;
  fresh = true;
  if (strips.length) buildStrips();
  if (sceneView.view) sceneView.view.setTheme(theme);
}
dark.addEventListener("change", dress);
new ResizeObserver(() => { map.layer = null; resizeStrips(); resizeScene(); }).observe(document.querySelector("main"));
dress();
connect();
requestAnimationFrame(draw);
