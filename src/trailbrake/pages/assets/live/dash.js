"use strict";
// The dash: what a driver reads while driving. Speed, gear, shift light, time to the best lap, pedals, tyres.
const SHIFT_NEAR = 0.88, SHIFT_NOW = 0.96;  // shares of the limiter's engine speed
const TYRES = ["fl", "fr", "rl", "rr"];

function lapNumber(own) {
  const place = value("health", "position");
  if (!live.header.replay) return Number.isFinite(own) ? own : live.laps.length + 1;
  const lap = live.laps.find(({ start, end }) => start <= place && place < end);
  return lap ? lap.number : "-";
}
function showDelta(box, delta) {
  box.textContent = Number.isFinite(delta) ? `${delta < 0 ? "\u2212" : "+"}${Math.abs(delta).toFixed(2)}` : "-";
  box.className = delta > 0 ? "lost" : "best";
}
function drawDash() {
  const speed = value("state", "speed"), gear = value("state", "gear"), time = value("health", "lap_clock"), delta = value("pace", "delta");
  byId("speed").textContent = Number.isFinite(speed) ? (speed * KMH).toFixed(0) : "-";
  byId("gear").textContent = gear === -1 ? "R" : gear === 0 ? "N" : Number.isFinite(gear) ? gear : "-";
  byId("lap-number").textContent = lapNumber(value("state", "lap"));
  byId("lap-time").textContent = clock(Number.isFinite(time) ? time : null);
  byId("delta-box").hidden = !Number.isFinite(delta) && !byId("delta").textContent.includes(".");
  showDelta(byId("delta"), delta);
  drawEngine(value("state", "engine_speed"), value("state", "max_engine_speed") || (live.header.limiter_rpm * Math.PI) / 30);
  const steer = supplied("steer");
  for (const name of ["throttle", "brake"]) byId(`${name}-bar`).style.transform = `scaleY(${supplied(name) || 0})`;
  byId("steer-bar").style.transform = `translateX(${Number.isFinite(steer) ? -50 * steer : 0}%)`;  // positive left
  drawTyres();
}
function drawEngine(turns, most) {
  const share = most > 0 ? Math.min(1, turns / most) : NaN, bar = byId("shift");
  bar.hidden = !Number.isFinite(share);
  byId("rpm").textContent = Number.isFinite(turns) ? `${(turns * 30 / Math.PI).toFixed(0)} rpm` : "gear";
  if (bar.hidden) return;
  bar.firstElementChild.style.transform = `scaleX(${share})`;
  bar.className = share > SHIFT_NOW ? "shift now" : share > SHIFT_NEAR ? "shift near" : "shift";
}
// Each tyre's temperature where it is supplied, else its slip; the ground turns with the share of the grip that is used.
function drawTyres() {
  const of = (name) => TYRES.map((tyre) => value("state", `${tyre}_${name}`));
  const heat = of("core_temperature"), ratio = of("slip_ratio"), used = of("combined_slip");
  const isHot = heat.some(Number.isFinite), box = byId("tyres");
  box.hidden = ![...heat, ...ratio, ...used].some(Number.isFinite);
  if (box.hidden) return;
  TYRES.forEach((tyre, i) => {
    const tile = box.children[i], known = [[heat[i], (v) => `${v.toFixed(0)}°`], [ratio[i], (v) => `${(100 * v).toFixed(0)} %`], [used[i], (v) => v.toFixed(1)]];
    const [shown, form] = known.find(([v]) => Number.isFinite(v)) || [NaN, () => "-"];
    tile.textContent = form(shown);
    tile.style.setProperty("--used", `${100 * Math.min(1, used[i] || 0)}%`);
    tile.classList.toggle("slides", used[i] > 1);
  });
  byId("tyres-text").textContent = isHot ? "tyres, °C" : "tyres, slip";
}
byId("full").onclick = () => byId("dash").requestFullscreen();
