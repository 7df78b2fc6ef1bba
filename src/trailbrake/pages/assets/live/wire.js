"use strict";
// The connection: the header once, then little-endian doubles. Every frame is answered with what the person here asks for.
const FRAME = 0, PATH = 1, CAMERA = 2, DEBUG = 3, HISTORY = 4, DOUBLE = 8;
const GHOSTS_FROM = 1000;  // `index` of an other car that is the ghost of a lap: this plus the lap's number
const RETRY = 1000;  // ms

const live = {
  header: null,
  columns: [],     // of a frame, in order: { name, unit, meaning, lo, hi, part }
  at: {},          // "state.speed" -> index into the frame
  frame: null,     // the newest, a Float64Array without its kind
  frames: 0,       // seen by this page
  latency: null,   // s from the server's clock to ours, of the newest frame
  seat: "free",
  sound: "free",   // which page beeps and speaks: "you", "another", or "free"
  laps: [],
  log: [],
  lines: [],       // what the driver draws: [x, y, x, y, 0xRRGGBB] each
  controls: {},    // what a page can request, and what is set
  corners: [],     // { lap, corners: [{ number, apex_m, slowest, time_s, lost_s }] } of each finished lap
  refused: "",     // why the last request was refused
  watchesOnly: false,  // on another device without the right to control
  gone: false,     // another drive is there now, with another token
  over: null,      // why the drive has ended; null while it goes on
  connected: false,
};
// What a frame or a message does elsewhere; filled in by main.js.
const heard = { header() {}, frame() {}, path() {}, picture() {}, history() {}, controls() {}, text() {} };
let wire = null;     // the open socket
function request(action, values = [], name = "") {
  live.refused = "";
  if (wire && wire.readyState === WebSocket.OPEN) wire.send(JSON.stringify({ action, values, name }));
}

const value = (part, name) => {
  const index = live.at[`${part}.${name}`];
  return live.frame === null || index === undefined ? NaN : live.frame[index];
};
// State first; where the simulator does not supply it, the command.
const supplied = (name) => {
  const own = value("state", name);
  return Number.isNaN(own) ? value("controls", name) : own;
};
function otherCars() {
  const names = live.header.other, cars = [];
  for (let i = live.columns.length; i + names.length <= live.frame.length; i += names.length) {
    cars.push(Object.fromEntries(names.map((name, k) => [name, live.frame[i + k]])));
  }
  return cars;
}

function takeHeader(header) {
  live.header = header;
  live.columns = ["state", "controls", "health", "derived", "pace"].flatMap((part) => header[part].map((column) => ({ ...column, part })));
  live.at = Object.fromEntries(live.columns.map((column, i) => [`${column.part}.${column.name}`, i]));
  heard.header();
}
function takeText(message) {
  if (message.header) return takeHeader(message.header);
  if (message.watches_only) live.watchesOnly = true;
  if (message.sound) live.sound = message.sound;
  if (message.seat) live.seat = message.seat;
  if (message.lap) live.laps.push(message.lap);
  if (message.said) live.log.push(message.said);
  if (message.lines) live.lines = message.lines;
  if (message.undone_laps) {
    const undone = live.laps.splice(-message.undone_laps).map((lap) => lap.number);
    while (live.corners.length && undone.includes(live.corners[live.corners.length - 1].lap)) live.corners.pop();
  }
  if (message.corners) live.corners.push(message.corners);
  if (message.refused) live.refused = message.refused;
  if (message.controls) { live.controls = message.controls; heard.controls(); }
  if (message.over !== undefined) live.over = message.over;
  heard.text();
}
function takeBytes(socket, buffer) {
  const kind = new DataView(buffer).getFloat64(0, true);
  if (kind === FRAME) {
    live.frame = new Float64Array(buffer, DOUBLE);
    live.frames += 1;
    live.latency = (performance.timeOrigin + performance.now()) / 1000 - value("health", "sent");
    const answer = new DataView(new ArrayBuffer(7 * DOUBLE));
    [value("health", "frame"), ...wishes()].forEach((number, i) => answer.setFloat64(i * DOUBLE, number, true));
    socket.send(answer.buffer);
    heard.frame();
  } else if (kind === PATH) heard.path(new Float64Array(buffer, DOUBLE));
  else if (kind === HISTORY) heard.history(new Float64Array(buffer, DOUBLE));
  else heard.picture(kind === CAMERA ? "camera" : "debug", new Blob([new Uint8Array(buffer, DOUBLE)]));
}
function connect() {
  const socket = new WebSocket(`ws://${location.host}${location.pathname}live`);
  socket.binaryType = "arraybuffer";
  wire = socket;
  socket.onopen = () => {
    Object.assign(live, { header: null, frame: null, laps: [], log: [], lines: [], corners: [], controls: {}, seat: "free", connected: true, watchesOnly: false });
    heard.text();
  };
  socket.onmessage = (event) => {
    if (typeof event.data === "string") takeText(JSON.parse(event.data)); else takeBytes(socket, event.data);
  };
  socket.onclose = async () => {
    live.connected = false;
    live.gone = await fetch("scene.json").then(({ status }) => status === 403, () => false);
    heard.text();
    if (live.over === null) setTimeout(connect, RETRY);
  };
}
