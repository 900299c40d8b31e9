// The page: reads its content, builds its parts, and keeps them at one time.

class Film {
  constructor(content, flows, runs) {
    Object.assign(this, { content, flows, nodes: content.nodes, links: content.links, chosen: WHOLE });
    this.runs = runs;
    this.clock = new Clock(Math.max(...runs.map((run) => run.end)), runs[0].step);
    this.over = this.samplesOfRate();
    this.isLarge = this.links.length > 250;
    this.isChain = content.nodes.filter((node) => node.kind === "switch").every((node, _, all) => node.y === all[0].y)
      && content.links.some(([a, b]) => content.nodes[a].kind === "switch" && content.nodes[b].kind === "switch");
    this.portsAt = this.nodes.map(() => []);
    this.links.forEach(([a, b], i) => { this.portsAt[a].push(2 * i); this.portsAt[b].push(2 * i + 1); });
    // a host's queue is the switch's towards it
    this.nodes.forEach((node, id) => { if (node.kind === "host") this.portsAt[id].push(...this.portsAt[id].map((port) => port ^ 1)); });
    this.flowsAt = this.nodes.map(() => []);
    flows.src.forEach((src, flow) => { this.flowsAt[src].push(flow); this.flowsAt[flows.dst[flow]].push(flow); });
    this.longestQueue = Math.max(1, ...runs.map((run) => run.queue.reduce((most, bytes) => Math.max(most, bytes), 0)));
    this.whole = runs.map((run) => seriesOf(this, run, WHOLE));
    this.lostBy = runs.map((run) => {
      const sums = new Float64Array(run.samples);
      run.lossAt.forEach((sample, i) => { sums[sample] += run.lost[i]; });
      for (let sample = 1; sample < run.samples; sample++) sums[sample] += sums[sample - 1];
      return sums;
    });
    this.outages = new Map();
    for (const { a, b, at_ns: at, until_ns: until } of content.outages) {
      const link = this.links.findIndex(([x, y]) => (x === a && y === b) || (x === b && y === a));
      if (!this.outages.has(link)) this.outages.set(link, []);
      this.outages.get(link).push([at, until < 0 ? Infinity : until]);
    }
  }

  /** Rates are over so many samples: a 256th of the axis, or one sample where that is more. */
  samplesOfRate() {
    const { from, to, step } = this.clock;
    return 2 ** Math.max(0, Math.floor(Math.log2((to - from) / step / 256)));
  }

  /** One flow's packets are further apart than those of many. */
  overOf(chosen) { return chosen.kind === "flow" ? 4 * this.over : this.over; }

  fromOf(port) { return this.links[port >> 1][port & 1]; }
  toOf(port) { return this.links[port >> 1][1 - (port & 1)]; }
  /** Of a node to its neighbour. */
  portBetween(node, peer) { return this.portsAt[node].find((port) => this.fromOf(port) === node && this.toOf(port) === peer); }
  rateOf(port) { return this.links[port >> 1][2]; }
  nodeName(id) { return this.nodes[id].name; }
  isDown(port, now) { return (this.outages.get(port >> 1) ?? []).some(([at, until]) => at <= now && now < until); }
  safe(text) { return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`); }

  build() {
    this.colours = this.runs.map((_, i) => controllerColour(i));
    const { content } = this;
    document.getElementById("title").textContent = content.title;
    document.getElementById("facts").textContent =
      `${content.topology.replaceAll("_", " ")}, ${count(this.nodes.filter((node) => node.kind === "host").length)} hosts, ${count(this.flows.src.length)} flows, `
      + `seed ${content.seed}, a sample every ${inTime(this.runs[0].step)}`;
    showLegend(this);
    this.pictures = this.runs.map((run, i) => this.addPicture(run, i));
    document.getElementById("pictures").classList.toggle("single", this.runs.length === 1);
    this.panels = new Panels(this, document.getElementById("panels"));
    this.table = new FlowTable(this);
    this.buildTime();
    this.choose(WHOLE);
    listenToKeys(this);
    this.clock.listen((what) => this.follow(what));
    new ResizeObserver(() => { for (const picture of this.pictures) { picture.resize(); picture.draw(this.clock.now); } })
      .observe(document.getElementById("pictures"));
    DARK.addEventListener("change", () => this.restyle());
    this.follow("playing");
  }

  addPicture(run, i) {
    const card = document.createElement("article");
    card.className = "card picture";
    card.innerHTML = `<header><b><i class="swatch" style="background:${this.colours[i]}"></i>${this.safe(run.name)}</b></header><canvas class="network"></canvas>`;
    const stats = document.createElement("span");
    stats.style.display = "contents";
    card.firstChild.append(stats);
    document.getElementById("pictures").append(card);
    const picture = new Picture(this, run, card.querySelector("canvas"), stats);
    picture.canvas.setAttribute("role", "img");
    picture.canvas.setAttribute("aria-label", `The network under ${run.name}`);
    point(this, picture);
    return picture;
  }

  buildTime() {
    const { clock } = this;
    const on = (id, action) => document.getElementById(id).addEventListener("click", action);
    on("play", () => clock.toggle());
    on("zoom-in", () => clock.zoom(0.5));
    on("zoom-out", () => clock.zoom(2));
    on("zoom-all", () => clock.show(0, clock.end));
    on("unchoose", () => this.choose(WHOLE));
    const speed = document.getElementById("speed");
    speed.append(...SPEEDS.map(([value, name]) => new Option(name, value, value === 1, value === 1)));
    speed.addEventListener("change", () => { clock.speed = Number(speed.value); });
    this.buildAxis();
  }

  /** The axis: all queues together, with the part that is shown below it. */
  buildAxis() {
    const div = document.createElement("div");
    div.style.height = "100%";
    document.getElementById("axis").replaceChildren(div);
    const lines = this.runs.map((run, i) => ({ name: run.name, colour: this.colours[i], run, values: this.whole[i].queue }));
    this.axis = new Chart(this, div, lines, inBytes, {
      showRangeSelector: true, rangeSelectorHeight: 22, rangeSelectorPlotLineWidth: 1, rangeSelectorPlotStrokeColor: styled("accent"),
      rangeSelectorPlotFillColor: styled("accent"), rangeSelectorBackgroundStrokeColor: styled("line"), valueRange: [0, null], none: "no queue",
      axes: axesOf(inBytes, 17),
    });
  }

  choose(chosen) {
    this.chosen = chosen;
    document.getElementById("chosen-name").textContent = nameOf(this, chosen);
    document.getElementById("unchoose").hidden = chosen.kind === "network";
    this.panels.show();
    this.table.mark();
    this.draw();
  }

  restyle() {
    this.colours = this.runs.map((_, i) => controllerColour(i));
    for (const picture of this.pictures) picture.restyle();
    document.querySelectorAll(".picture b .swatch").forEach((swatch, i) => { swatch.style.background = this.colours[i]; });
    showLegend(this);
    this.buildAxis();
    this.choose(this.chosen);
  }

  draw() { for (const picture of this.pictures) picture.draw(this.clock.now); }

  follow(what) {
    const { clock } = this;
    const over = this.samplesOfRate();
    if (over !== this.over) {
      this.over = over;
      this.whole = this.runs.map((run) => seriesOf(this, run, WHOLE));
      this.panels.show();
    }
    if (what === "now" || what === "span") {
      this.draw();
      this.axis.follow(what);
      this.panels.follow(what);
    }
    document.getElementById("play").textContent = clock.playing ? "Stop" : "Play";
    document.getElementById("now").textContent = moment(clock.now, clock.step);
    document.getElementById("span").textContent = `${moment(clock.from, clock.step)} to ${moment(clock.to, clock.step)}, links over ${inTime(this.over * clock.step)}. Curve: bytes in all queues`;
    const axis = document.getElementById("axis");
    axis.setAttribute("aria-valuemin", 0);
    axis.setAttribute("aria-valuemax", clock.end);
    axis.setAttribute("aria-valuenow", clock.now);
    axis.setAttribute("aria-valuetext", moment(clock.now, clock.step));
    const at = performance.now();
    if (what !== "now" || at - (this.marked ?? 0) > 250) {
      this.marked = at;
      this.table.mark();
    }
  }
}

/** What the picture's colours and signs mean. */
function showLegend(film) {
  const bar = (fill, height = 8) => `<svg width="26" height="10"><rect y="${(10 - height) / 2}" width="26" height="${height}" fill="${fill}"/></svg>`;
  const steps = loadColours();
  const load = steps.map((colour, i) => `<rect x="${i * 8}" y="2" width="8" height="6" fill="${colour}"/>`).join("");
  const cross = (colour) => `<svg width="10" height="10"><path d="M1 1 9 9M1 9 9 1" stroke="${colour}" stroke-width="2.2"/></svg>`;
  const items = [`link used${film.isLarge ? " (busier direction)" : ""} 0 <svg width="${8 * steps.length}" height="10">${load}</svg> 100 %`,
    `${bar(styled("queue"))} queue at a port (longest: ${inBytes(film.longestQueue)})`];
  if (film.runs.some((run) => run.pausedAt.length)) items.push(`${bar(styled("paused"), 5)} paused (PFC)`);
  if (film.runs.some((run) => run.lossAt.length)) items.push(`${cross(styled("lost"))} packets lost`);
  if (film.outages.size) items.push(`${cross(styled("failed"))} link down`);
  document.getElementById("legend").innerHTML = items.map((item) => `<li>${item}</li>`).join("");
}

async function open() {
  const content = JSON.parse(document.getElementById("content").textContent);
  const flows = await unpackAll(content.flows);
  const runs = await Promise.all(content.runs.map(async (run, i) => new Run(content, await unpackAll(run), i)));
  const film = new Film(content, flows, runs);
  film.build();
  window.film = film; // for the console, and for tests
}

open();
