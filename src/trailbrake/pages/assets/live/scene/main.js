// The three-dimensional view of the live page: loaded when it is first wanted.
import * as THREE from "../vendor/three.module.min.js";
import { CameraPlacer } from "./cameras.js";
import { Car } from "./cars.js";
import { buildRoad } from "./road.js";

const SKY = { light: { top: 0x4d86c4, low: 0xcfe0ee, sun: 2.4, fill: 1.5 }, dark: { top: 0x0e1a30, low: 0x4a4f63, sun: 1.1, fill: 0.75 } };
const OWN = 0xd8402f, GHOST = 0x6fe0ff, OTHERS = [0x2f6fb0, 0xe2b23c, 0x3d9a5f, 0x8a5bb0, 0xd97a2b, 0x4ab3b8, 0xb0b4ba];
const SLOW_FRAME = 1 / 31, JUDGED = 24;  // s: more and it draws fewer pixels; frames of one judgement
const LEAST_WIDTH = 420;  // px that are drawn in any case, where the picture has as many
const SCALES = [1, 0.8, 0.65, 0.5];

// Whether a processor does the work of a graphics chip; throws where there is no WebGL.
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) throw new Error("this browser has no WebGL 2");
  const names = gl.getExtension("WEBGL_debug_renderer_info"), name = names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  const lose = gl.getExtension("WEBGL_lose_context");
  if (lose) lose.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class SceneView {
  // Throws where there is no WebGL.
  constructor(canvas) {
    this.canvas = canvas;
    const slow = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !slow && window.devicePixelRatio < 1.5, powerPreference: "low-power" });
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(60, 16 / 9, 0.25, 1800);
    this.fill = new THREE.HemisphereLight(0xffffff, 0x5c6b4a, 1.5);
    this.sun = new THREE.DirectionalLight(0xfff3dd, 2.4);
    this.sun.position.set(-0.5, 0.35, 0.8);
    this.scene.add(this.fill, this.sun);
    this.cars = new Map();
    this.placer = new CameraPlacer(this.camera, []);
    this.heightAt = () => 0;
    this.measures = null;
    this.last = null;
    this.drawn = 0;      // frames
    this.scale = slow ? 2 : 0;  // index into SCALES
    this.durations = [];
  }
  setRoad(description) {
    if (this.road) this.scene.remove(this.road.group);
    this.road = buildRoad(description);
    this.scene.add(this.road.group);
    this.heightAt = this.road.heightAt;
    this.placer = new CameraPlacer(this.camera, this.road.posts);
    this.measures = description.car;
    for (const { car } of this.cars.values()) this.scene.remove(car.group);
    this.cars.clear();
  }
  setTheme(theme) {
    const sky = SKY[theme], canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
    canvas.width = 2; canvas.height = 128;
    const fade = pen.createLinearGradient(0, 0, 0, 128), hex = (value) => `#${value.toString(16).padStart(6, "0")}`;
    fade.addColorStop(0, hex(sky.top)); fade.addColorStop(0.62, hex(sky.low)); fade.addColorStop(1, hex(sky.low));
    pen.fillStyle = fade; pen.fillRect(0, 0, 2, 128);
    this.scene.background = new THREE.CanvasTexture(canvas);
    this.scene.background.colorSpace = THREE.SRGBColorSpace;
    this.scene.fog = new THREE.Fog(sky.low, 160, 1100);
    this.fill.intensity = sky.fill;
    this.sun.intensity = sky.sun;
  }
  resize(width) {
    const height = Math.round((width * 9) / 16);
    const ratio = Math.min(window.devicePixelRatio || 1, 1.5) * SCALES[this.scale];
    this.renderer.setPixelRatio(Math.max(ratio, Math.min(1, LEAST_WIDTH / width)));  // a small picture is quick anyway
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.width = width;
  }
  // A slow machine draws fewer pixels rather than fewer frames.
  judge(dt) {
    this.durations.push(dt);
    if (this.durations.length < JUDGED) return;
    const middle = this.durations.sort((a, b) => a - b)[JUDGED / 2];
    this.durations = [];
    if (middle > SLOW_FRAME && this.scale < SCALES.length - 1) { this.scale += 1; this.resize(this.width); }
  }
  carFor(key, colour, ghost) {
    if (!this.cars.has(key)) {
      const car = new Car(this.measures, colour, ghost);
      this.scene.add(car.group);
      this.cars.set(key, { car });
    }
    return this.cars.get(key);
  }
  // `own` and each of `others`: { key, x, y, z, yaw, pitch, roll, steer, speed, braking, ghost }.
  draw(kind, own, others, at) {
    const dt = this.last === null ? 0 : Math.min((at - this.last) / 1000, 0.25);
    this.last = at;
    if (dt > 0) this.judge(dt);
    const seen = new Set();
    [own, ...others].forEach((pose, i) => {
      const { car } = this.carFor(pose.key, pose.ghost ? GHOST : i ? OTHERS[pose.key % OTHERS.length] : OWN, pose.ghost);
      const z = Number.isFinite(pose.z) ? pose.z : this.heightAt(pose.x, pose.y) + car.measures.height;
      car.place({ ...pose, z, steer: pose.steer * car.measures.lock }, dt);
      seen.add(pose.key);
    });
    for (const [key, { car }] of this.cars) if (!seen.has(key)) { this.scene.remove(car.group); this.cars.delete(key); }
    const mine = this.cars.get(own.key).car;
    mine.cabin.visible = kind !== "cockpit";
    this.placer.place(kind, mine, own.yaw, dt);
    this.renderer.render(this.scene, this.camera);
    this.drawn += 1;
  }
}
