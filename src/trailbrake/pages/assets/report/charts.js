"use strict";
// The charts over distance, one below the other, with one cursor and one zoom.
const scaled = (values, factor) => values && values.map((v) => (v === null ? null : v * factor));
// `short` and `digits` are those of the readout; charts with `more` are shown when they are chosen.
const CHARTS = [
  { title: "Speed", unit: "km/h", short: "km/h", digits: 1, height: 210, of: (lap) => scaled(lap.speed, KMH), plan: (plan) => scaled(plan.speed, KMH) },
  { title: "Time behind " + (reference ? reference.name : ""), unit: "s, up is slower", short: "behind s", digits: 3, height: 110, of: delta, zero: true },
  { title: "Throttle", unit: "%", short: "throttle %", height: 90, of: (lap) => scaled(lap.throttle, 100), range: [-4, 104] },
  { title: "Brake", unit: "%", short: "brake %", height: 90, of: (lap) => scaled(lap.brake, 100), range: [-4, 104] },
  { title: "Steer", unit: "% of lock, up is left", short: "steer %", digits: 1, height: 110, of: (lap) => scaled(lap.steer, 100), zero: true, both: true },
  { title: "Engine speed", unit: "rpm", short: "rpm", more: true, height: 90, of: (lap) => scaled(lap.engine_speed, 30 / Math.PI) },
  { title: "Gear", unit: "", short: "gear", height: 90, of: (lap) => lap.gear, stepped: true },
  { title: "Lateral", unit: "g, up is left", short: "lateral g", digits: 2, more: true, height: 110, of: (lap) => scaled(lap.acceleration_y, 1 / G), zero: true, both: true },
  { title: "Longitudinal", unit: "g, up is forward", short: "forward g", digits: 2, more: true, height: 110, of: (lap) => scaled(lap.acceleration_x, 1 / G), zero: true, both: true },
  { title: "Slip", unit: "of the tyre that slips most, 1 is the peak of its grip", short: "slip", digits: 2, more: true, height: 90, of: (lap) => lap.combined_slip },
  { title: "Slip ratio", unit: "% of the wheel that slips most", short: "slip %", digits: 1, more: true, height: 90, of: (lap) => scaled(lap.slip_ratio, 100) },
  { title: "Tyre temperature", unit: "°C, the hottest", short: "tyre °C", more: true, height: 90, of: (lap) => lap.core_temperature },
  { title: "Brake temperature", unit: "°C, the hottest disc", short: "disc °C", more: true, height: 90, of: (lap) => lap.disc_temperature },
  { title: "Bends", unit: "radius of the path in m, up is left", short: "radius m", more: true, height: 110, of: (lap) => scaled(lap.curvature, 1000), zero: true, both: true,
    ticks: (v) => (v ? `${+(1000 / Math.abs(v)).toPrecision(2)}` : "") },
  { title: "Driving line", unit: "% of half the road, up is left of it", short: "driving line %", height: 110, of: (lap) => scaled(lap.driving_line, 100), zero: true, both: true },
  { title: "Off the " + report.basis, unit: "m, up is left", short: "off line m", digits: 2, height: 110, of: (lap) => lap.error, zero: true },
  ...report.signals.map((signal) => ({ title: signal.name, unit: signal.unit === "1" ? "" : signal.unit, short: signal.name, digits: 2, height: 90,
    of: (lap) => lap.signals[signal.name] || null })),
].filter((chart) => report.laps.some((lap) => chart.of(lap)) && !(chart.of === delta && !reference));
const chosen = new Set(CHARTS.filter((chart) => !chart.more));
const charts = [];

function chartOptions(chart, width, last) {
  const series = [{}];
  report.laps.forEach((lap, index) => {
    const look = { label: lapName(lap), show: view.shown.has(index), stroke: lapColour(index), width: 1.6, pxAlign: 0, points: { show: false } };
    if (chart.stepped) look.paths = uPlot.paths.stepped({ align: 1 });
    series.push(look);
  });
  if (chart.plan && report.plan) {
    series.push({ label: "planned", stroke: css("--plan"), width: 1.4, dash: [5, 4], pxAlign: 0, points: { show: false } });
  }
  const axis = { stroke: css("--quiet"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1 },
    font: "12px system-ui, sans-serif" };
  const y = { ...axis, size: 50, space: chart.stepped ? 14 : 24 };
  if (chart.stepped) y.incrs = [1, 2, 5];
  if (chart.ticks) y.values = (u, ticks) => ticks.map(chart.ticks);
  const scales = { x: { time: false, range: (u, lo, hi) => view.zoom || [lo, hi] } };
  scales.y = chart.range ? { range: chart.range } : { range: (u, lo, hi) => padded(lo, hi, chart) };
  return {
    width, height: chart.height + (last ? 26 : 0), scales, series, legend: { show: false }, padding: [6, 12, 0, 0],
    axes: [{ ...axis, size: last ? 34 : 8, values: last ? (u, ticks) => ticks.map((v) => `${v} m`) : () => [] }, y],
    cursor: { sync: { key: "distance" }, drag: { x: true, y: false, setScale: false }, y: false, points: { size: 6 } },
    hooks: {
      drawClear: corners.length ? [(u) => drawCornerBands(u)] : [],
      setCursor: [(u) => { if (u.cursor.event) setCursor(u.cursor.idx); }],
      setSelect: [(u) => selected(u)],
      ready: [(u) => {
        u.over.addEventListener("mousedown", () => { dragged = u; });
        u.over.addEventListener("dblclick", () => zoomTo(null));
      }],
    },
  };
}
// The bends as bands behind the curves, named where there is room.
function drawCornerBands(u) {
  const pen = u.ctx, { left, top, width, height } = u.bbox;
  pen.save();
  pen.beginPath(); pen.rect(left, top, width, height); pen.clip();
  pen.font = `${Math.round(11 * devicePixelRatio)}px system-ui, sans-serif`; pen.textAlign = "center"; pen.textBaseline = "top";
  const bends = corners.filter((corner) => corner.number).map((corner) =>
    [corner, u.valToPos(corner.entry, "x", true), u.valToPos(corner.exit, "x", true)]);
  pen.fillStyle = css("--panel");
  for (const [, a, b] of bends) pen.fillRect(a, top, Math.max(1, b - a), height);
  pen.fillStyle = css("--quiet");
  let taken = -Infinity;  // where the last name ends
  for (const [corner, a, b] of u === charts[0]?.plot ? bends : []) {
    const name = pen.measureText(corner.title).width < b - a ? corner.title : corner.name;
    const half = pen.measureText(name).width / 2 + 2 * devicePixelRatio, middle = (a + b) / 2;
    if (middle - half < taken) continue;
    pen.fillText(name, middle, top + 2 * devicePixelRatio);
    taken = middle + half;
  }
  pen.restore();
}
// A drag reaches every chart; the one it was made in decides, once all the others have heard of it.
let dragged = null;
function selected(u) {
  if (u !== dragged) return;
  dragged = null;
  if (u.select.width <= 4) return;
  const ends = [u.select.left, u.select.left + u.select.width].map((px) => u.posToVal(px, "x"));
  setTimeout(() => zoomTo(...ends));
}
function padded(lo, hi, chart) {
  if (lo === null || hi === null) return [0, 1];
  if (chart.stepped) return [Math.min(0, lo) - 0.4, hi + 0.6];
  if (chart.zero) {
    const reach = Math.max(Math.abs(lo), Math.abs(hi), 0.05) * 1.08;
    return lo < 0 || chart.both ? [-reach, reach] : [-0.1 * reach, reach];
  }
  const room = Math.max((hi - lo) * 0.06, 1e-3);
  return [Math.max(Math.min(0, lo), lo - room), hi + room];
}
function zoomTo(first, last) {
  view.zoom = first === null ? null : [Math.max(0, first), Math.min(distances[distances.length - 1], last)];
  for (const { plot } of charts) {
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    plot.setScale("x", { min: view.zoom ? view.zoom[0] : distances[0], max: view.zoom ? view.zoom[1] : distances[distances.length - 1] });
  }
  notify("shown");
}

function buildCharts(box, width) {
  for (const { plot, holder } of charts) { plot.destroy(); holder.remove(); }
  charts.length = 0;
  const wanted = CHARTS.filter((chart) => chosen.has(chart));
  wanted.forEach((chart, i) => {
    const holder = element("div", { className: "chart" });
    holder.append(element("h2", {}, element("b", { textContent: chart.title }), chart.unit ? `  ${chart.unit}` : ""));
    const data = [distances, ...report.laps.map((lap) => chart.of(lap) || new Array(report.count).fill(null))];
    if (chart.plan && report.plan) data.push(chart.plan(report.plan));
    box.append(holder);
    charts.push({ holder, chart, last: i === wanted.length - 1, plot: new uPlot(chartOptions(chart, width, i === wanted.length - 1), data, holder) });
  });
}
function resizeCharts(width) {
  for (const { plot, chart, last } of charts) plot.setSize({ width, height: chart.height + (last ? 26 : 0) });
}
function showInCharts() {
  for (const { plot } of charts) {
    plot.batch(() => report.laps.forEach((lap, index) => {
      if (plot.series[index + 1].show !== view.shown.has(index)) plot.setSeries(index + 1, { show: view.shown.has(index) });
    }));
  }
}
// Put the charts' cursor where the map's is.
function moveCharts() {
  for (const { plot } of charts) {
    if (view.cursor === null) plot.setCursor({ left: -10, top: -10 }, false);
    else plot.setCursor({ left: plot.valToPos(distances[view.cursor], "x"), top: plot.over.clientHeight / 2 }, false);
  }
}
function buildChannels() {
  byId("channels").replaceChildren(...CHARTS.map((chart) => {
    const box = element("input", { type: "checkbox", checked: chosen.has(chart) });
    box.onchange = () => {
      if (!chosen.delete(chart)) chosen.add(chart);
      buildCharts(byId("charts"), byId("charts").clientWidth);
      drawReadout(); moveCharts();
    };
    return element("label", { title: chart.unit }, box, ` ${chart.title}`);
  }));
}
