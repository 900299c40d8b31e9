// What one controller made of the scenario: ports and flows at any time.

class Run {
  constructor(content, data, place) {
    Object.assign(this, data);
    this.place = place;
    this.step = content.interval * content.factor;
    this.rates = content.links.flatMap(([, , rate]) => [rate, rate]);
    this.rowOf = new Map(Array.from(this.changing, (port, row) => [port, row]));
    this.capacitySoFar = this.sums(this.capacity);
    this.flowCount = this.flowEnd.length;
    this.flowsOn = this.flowsByPort();
    this.sentSoFar = this.sums(this.sent);
    this.everPaused = new Set(Array.from(this.pausedAt, (at) => Math.floor(at / this.samples)));
    this.pausedNs = new Map();
    this.pausedAt.forEach((at, i) => this.pausedNs.set(at, this.paused[i]));
    this.lossesBy = new Map();
    this.lossAt.forEach((sample, i) => {
      if (!this.lossesBy.has(sample)) this.lossesBy.set(sample, []);
      this.lossesBy.get(sample).push(i);
    });
  }

  /** The last sample at a time or before. */
  sampleAt(ns) {
    return ns >= this.end ? this.samples - 1 : Math.max(0, Math.min(this.samples - 2, Math.floor(ns / this.step)));
  }

  timeOf(sample) { return sample === this.samples - 1 ? this.end : sample * this.step; }

  /** By port, of all samples until each. */
  sums(values) {
    const found = new Float64Array(values.length);
    for (let i = 0; i < values.length; i++) found[i] = values[i] + (i % this.samples ? found[i - 1] : 0);
    return found;
  }

  /** ns that `over` samples up to this one take. */
  spanOf(sample, over) { return Math.max(1, this.timeOf(sample) - this.timeOf(Math.max(0, sample - over))); }

  queueOf(port, sample) { return this.queue[port * this.samples + sample]; }
  /** bit/s over the last `over` samples. */
  sentRate(port, sample, over) {
    const at = port * this.samples;
    const bytes = this.sentSoFar[at + sample] - (sample ? this.sentSoFar[at + Math.max(0, sample - over)] : 0);
    return bytes * 8e9 / this.spanOf(sample, over);
  }
  /** bit/s that a port's link could send over the last `over` samples. */
  capacityOf(port, sample, over) {
    if (!this.rowOf.has(port)) return this.rates[port];
    const at = this.rowOf.get(port) * this.samples;
    const first = Math.max(0, sample - over);
    return sample ? (this.capacitySoFar[at + sample] - this.capacitySoFar[at + first]) / (sample - first) : this.capacity[at];
  }
  loadOf(port, sample, over) {
    const capacity = this.capacityOf(port, sample, over);
    return capacity > 0 ? Math.min(1, this.sentRate(port, sample, over) / capacity) : 0;
  }
  /** The part of that time that a port was held back. */
  pausedPart(port, sample, over) {
    if (!this.everPaused.has(port)) return 0;
    let ns = 0;
    for (let i = Math.max(0, sample - over + 1); i <= sample; i++) ns += this.pausedNs.get(port * this.samples + i) ?? 0;
    return Math.min(1, ns / this.spanOf(sample, over));
  }

  /** bit/s at each sample over the last `over`, of bytes at each sample. */
  averaged(bytes, over) {
    const found = new Float64Array(this.samples);
    let sum = 0;
    for (let sample = 0; sample < this.samples; sample++) {
      sum += bytes[sample] - (sample >= over ? bytes[sample - over] : 0);
      found[sample] = Math.max(0, sum) * 8e9 / this.spanOf(sample, over);
    }
    return found;
  }

  /** What was lost in the samples first to last: [sample, port, packets, cause]. */
  lossesIn(first, last) {
    const found = [];
    for (let sample = Math.max(0, first); sample <= last; sample++) {
      for (const i of this.lossesBy.get(sample) ?? []) found.push([sample, this.lossPort[i], this.lost[i], this.lossCause[i]]);
    }
    return found;
  }

  /** Where a flow's values of a sample are, or -1 while it is not under way. */
  flowIndex(flow, sample) {
    const at = sample - this.flowFirst[flow];
    const values = this.flowOffset[flow + 1] - this.flowOffset[flow];
    return at >= 0 && at < values ? this.flowOffset[flow] + at : -1;
  }

  /** Ports on a flow's way, its host's first. */
  wayOf(flow) { return this.way.subarray(this.wayOffset[flow], this.wayOffset[flow + 1]); }

  flowsByPort() {
    const found = new Map();
    for (let flow = 0; flow < this.flowCount; flow++) {
      for (const port of this.wayOf(flow)) {
        if (!found.has(port)) found.set(port, []);
        found.get(port).push(flow);
      }
    }
    return found;
  }
}
