// The time that is shown, the stretch of the run on the axis, and playing.

const SPEEDS = [[0.25, "¼ ×"], [1, "1 ×"], [4, "4 ×"], [16, "16 ×"]];
/** Seconds that playing the axis takes at speed 1. */
const SECONDS = 12.5;

class Clock {
  constructor(end, step) {
    Object.assign(this, { end, step, now: 0, from: 0, to: end, playing: false, speed: 1, listeners: [], last: 0, fps: 0 });
  }

  listen(listener) { this.listeners.push(listener); }
  tell(what) { for (const listener of this.listeners) listener(what); }

  seek(ns) {
    this.now = Math.min(this.end, Math.max(0, ns));
    if (this.now < this.from || this.now > this.to) this.pan(this.now - (this.from + this.to) / 2);
    this.tell("now");
  }

  pan(by) {
    const width = this.to - this.from;
    this.from = Math.min(this.end - width, Math.max(0, this.from + by));
    this.to = this.from + width;
    this.tell("span");
  }

  /** The time at `ns` keeps its place on the axis. */
  zoom(factor, ns = this.now) {
    const width = Math.min(this.end, Math.max(4 * this.step, (this.to - this.from) * factor));
    const part = (ns - this.from) / (this.to - this.from);
    this.from = Math.min(this.end - width, Math.max(0, ns - part * width));
    this.to = this.from + width;
    this.tell("span");
  }

  show(from, to) {
    this.from = Math.max(0, from);
    this.to = Math.min(this.end, Math.max(to, this.from + 4 * this.step));
    this.tell("span");
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.now >= this.end) this.now = 0;
    this.last = performance.now();
    this.tell("playing");
    if (this.playing) requestAnimationFrame((at) => this.tick(at));
  }

  tick(at) {
    if (!this.playing) return;
    const passed = Math.min(0.25, Math.max(0, at - this.last) / 1000);
    this.last = at;
    this.fps = this.fps * 0.9 + (passed > 0 ? 0.1 / passed : 0);
    this.seek(this.now + passed * this.speed * (this.to - this.from) / SECONDS);
    if (this.now >= this.end) {
      this.playing = false;
      this.tell("playing");
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}
