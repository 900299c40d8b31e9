// Draws one controller's network at one time.

/** Part of the axis for which a loss is seen. */
const FLASH = 0.03;

class Picture {
  constructor(film, run, canvas, stats) {
    Object.assign(this, { film, run, canvas, stats, geometry: null, every: Array.from(run.rates.keys()) });
    if (film.isLarge) this.every = this.every.filter((port) => port % 2 === 0);
    this.restyle();
  }

  restyle() {
    this.loads = loadColours();
    this.colours = Object.fromEntries(
      ["paused", "queue", "failed", "lost", "node", "idle", "ink", "card", "accent"].map((name) => [name, styled(name)]));
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    if (width < 2 || height < 2) return;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.geometry = geometryOf(this.film, width, height);
    this.ratio = ratio;
  }

  draw(now) {
    if (!this.geometry) this.resize();
    if (!this.geometry) return;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.geometry.width, this.geometry.height);
    pen.lineCap = "butt";
    const sample = this.run.sampleAt(now);
    const whole = this.film.chosen.kind === "network";
    pen.globalAlpha = whole ? 1 : 0.3;
    const paused = this.drawLinks(pen, sample, now, this.every);
    pen.globalAlpha = 1;
    if (!whole) this.drawWay(pen, sample, now);
    this.drawQueues(pen, sample);
    this.drawNodes(pen);
    this.drawLosses(pen, sample);
    this.tellStats(sample, paused);
  }

  /** A stroke for each: browsers without a graphics card take much longer for one that crosses itself. */
  strokeLanes(pen, ports, colour, width) {
    const { lanes } = this.geometry;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    for (const port of ports) {
      pen.beginPath();
      pen.moveTo(lanes[4 * port], lanes[4 * port + 1]);
      pen.lineTo(lanes[4 * port + 2], lanes[4 * port + 3]);
      pen.stroke();
    }
  }

  /** What is chosen stands out: a flow's way, a port, all ports of a node. */
  drawWay(pen, sample, now) {
    const { chosen } = this.film;
    const ports = chosen.kind === "flow" ? this.run.wayOf(chosen.id)
      : chosen.kind === "port" ? [chosen.id] : this.film.portsAt[chosen.id];
    pen.globalAlpha = 0.5;
    this.strokeLanes(pen, ports, this.colours.accent, this.geometry.size.lane + 7);
    pen.globalAlpha = 1;
    this.drawLinks(pen, sample, now, ports);
  }

  /** Returns how many of the ports are paused. In a large network a link is one line, of its busier direction. */
  drawLinks(pen, sample, now, ports) {
    const { size } = this.geometry;
    const { over } = this.film;
    const steps = this.loads.map(() => []);
    const [idle, paused, failed] = [[], [], []];
    for (const port of ports) {
      const both = this.film.isLarge;
      if (this.film.isDown(port, now)) failed.push(port);
      else if (this.run.pausedPart(port, sample, over) > 0 || (both && this.run.pausedPart(port ^ 1, sample, over) > 0)) paused.push(port);
      else {
        const load = Math.max(this.run.loadOf(port, sample, over), both ? this.run.loadOf(port ^ 1, sample, over) : 0);
        if (load <= 0.005) idle.push(port);
        else steps[Math.min(steps.length - 1, Math.floor(load * steps.length))].push(port);
      }
    }
    this.strokeLanes(pen, idle, this.colours.idle, size.lane);
    steps.forEach((of, i) => this.strokeLanes(pen, of, this.loads[i], size.lane + 0.3));
    this.strokeLanes(pen, paused, this.colours.paused, size.lane + 1.6);
    pen.setLineDash([3, 5]);
    this.strokeLanes(pen, failed, this.colours.failed, size.lane);
    pen.setLineDash([]);
    for (const port of failed) if (port % 2 === 0) this.cross(pen, ...this.middle(port, 0.5), 6, this.colours.failed);
    return paused.length;
  }

  middle(port, along) {
    const [ax, ay, bx, by] = this.geometry.lanes.subarray(4 * port, 4 * port + 4);
    return [ax + (bx - ax) * along, ay + (by - ay) * along];
  }

  cross(pen, x, y, size, colour) {
    pen.beginPath();
    pen.moveTo(x - size, y - size);
    pen.lineTo(x + size, y + size);
    pen.moveTo(x - size, y + size);
    pen.lineTo(x + size, y - size);
    pen.strokeStyle = colour;
    pen.lineWidth = 2.4;
    pen.stroke();
  }

  drawQueues(pen, sample) {
    const { queues, size, named } = this.geometry;
    pen.beginPath();
    for (let port = 0; port < queues.length / 5; port++) {
      const bytes = this.run.queueOf(port, sample);
      if (!bytes) continue;
      const [x, y, ux, uy, room] = queues.subarray(5 * port, 5 * port + 5);
      const length = Math.max(1.5, room * bytes / this.film.longestQueue);
      pen.moveTo(x, y);
      pen.lineTo(x + ux * length, y + uy * length);
    }
    pen.strokeStyle = this.colours.queue;
    pen.lineWidth = (named === "all" ? 2.2 : 1.4) * size.lane + 1.5;
    pen.stroke();
    if (this.film.isChain) this.labelQueues(pen, sample);
  }

  /** How long the longest ones are, where there is room to say it. */
  labelQueues(pen, sample) {
    const { queues, size } = this.geometry;
    pen.font = "10px system-ui, sans-serif";
    pen.fillStyle = this.colours.ink;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let port = 0; port < queues.length / 5; port++) {
      const bytes = this.run.queueOf(port, sample);
      const [x, y, ux, uy, room] = queues.subarray(5 * port, 5 * port + 5);
      if (bytes < 0.08 * this.film.longestQueue || room < 50) continue;
      const aside = 2.6 * size.lane + 5;
      pen.fillText(inBytes(bytes), x + ux * 22 - uy * aside, y + uy * 22 + ux * aside);
    }
  }

  drawNodes(pen) {
    const { x, y, size, named } = this.geometry;
    const { chosen } = this.film;
    const ends = chosen.kind === "flow" ? [this.film.flows.src[chosen.id], this.film.flows.dst[chosen.id]] : chosen.kind === "node" ? [chosen.id] : [];
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    this.film.nodes.forEach((node, id) => {
      const radius = size[node.kind];
      pen.beginPath();
      if (node.kind === "host") pen.arc(x[id], y[id], radius, 0, 2 * Math.PI);
      else pen.roundRect(x[id] - radius * 1.2, y[id] - radius * 0.85, radius * 2.4, radius * 1.7, 3);
      pen.fillStyle = ends.includes(id) ? this.colours.accent : node.kind === "host" ? this.colours.node : this.colours.ink;
      pen.fill();
      if (named === "all" || (named === "switches" && node.kind === "switch")) this.label(pen, node, id, radius);
    });
  }

  label(pen, node, id, radius) {
    const { x, y, size, height } = this.geometry;
    if (node.kind === "switch") {
      pen.font = `600 ${Math.max(8, radius * 0.95)}px system-ui, sans-serif`;
      pen.fillStyle = this.colours.card;
      pen.fillText(node.name, x[id], y[id] + 0.5, radius * 2.3);
      return;
    }
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = this.colours.ink;
    const middle = (Math.min(...y) + Math.max(...y)) / 2;
    if (this.film.isChain) {
      const left = x[id] < this.geometry.width / 2;
      pen.fillText(node.name, x[id] + (left ? -1 : 1) * (size.host + 12), y[id]);
    } else pen.fillText(node.name, x[id], Math.min(height - 6, y[id] + (y[id] >= middle ? 1 : -1) * (size.host + 8)));
  }

  drawLosses(pen, sample) {
    const shown = Math.max(1, Math.round(FLASH * (this.film.clock.to - this.film.clock.from) / this.run.step));
    const found = this.run.lossesIn(sample - shown, sample);
    const latest = new Map(found.map((loss) => [loss[1], loss]));
    for (const [at, port, , cause] of latest.values()) {
      const age = (sample - at) / (shown + 1);
      const [x, y] = this.middle(port, cause === 0 ? 0.14 : 0.5);
      pen.globalAlpha = 1 - age;
      pen.beginPath();
      pen.arc(x, y, 5 + 11 * age, 0, 2 * Math.PI);
      pen.strokeStyle = this.colours.lost;
      pen.lineWidth = 2;
      pen.stroke();
      this.cross(pen, x, y, 4, this.colours.lost);
    }
    pen.globalAlpha = 1;
  }

  tellStats(sample, paused) {
    const { rate, queue } = this.film.whole[this.run.place];
    const lost = this.film.lostBy[this.run.place][sample];
    const parts = [`<span>${inBits(rate[sample])} delivered</span>`, `<span>${inBytes(queue[sample])} queued</span>`];
    if (paused) parts.push(`<span class="alarm">${paused} ${paused === 1 ? "port" : "ports"} paused</span>`);
    if (lost) parts.push(`<span class="loss">${count(lost)} lost so far</span>`);
    if (sample === this.run.samples - 1) parts.push(`<span>over at ${inTime(this.run.end)}</span>`);
    const text = parts.join("");
    if (text !== this.shown) this.stats.innerHTML = this.shown = text;
  }
}
