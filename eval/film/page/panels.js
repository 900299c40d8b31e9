// Rate, window, RTT and queue of what is chosen, a line for each controller.

const PANELS = [
  { name: "Rate", of: "rate", also: "allowed", alsoName: "allowed", format: inBits },
  { name: "Window", of: "window", also: "inflight", alsoName: "in flight", format: inBytes },
  { name: "RTT", of: "rtt", format: inTime },
  { name: "Queue", of: "queue", format: inBytes },
];

/** What a panel shows of a thing, in a few words beside its name. */
function noteOf(panel, film) {
  const { kind } = film.chosen;
  const whose = { flow: "", port: "its flows", node: "its flows", network: "all flows" }[kind];
  if (panel.name === "Rate") {
    const over = inTime(film.overOf(film.chosen) * film.clock.step);
    const isChanging = film.runs.some((run) => changingOn(run, film.chosen).length);
    return `${kind === "port" ? "sent" : "acknowledged"} in ${over}${kind === "flow" ? "; dashed: allowed" : ""}${isChanging ? "; grey: the link" : ""}`;
  }
  if (panel.name === "Window") return `${whose ? `sum of ${whose}; ` : ""}dashed: in flight`;
  if (panel.name === "RTT") return whose ? `mean of ${whose}` : "";
  return { flow: "sum of its way", port: "", node: "sum of its ports", network: "sum of all ports" }[kind];
}

class Panels {
  constructor(film, div) {
    Object.assign(this, { film, div, shown: [] });
  }

  /** Builds the charts of what is chosen anew. */
  show() {
    const { film } = this;
    for (const { chart } of this.shown) chart.destroy();
    this.div.replaceChildren();
    this.values = film.runs.map((run) => (film.chosen.kind === "network" ? film.whole[run.place] : seriesOf(film, run, film.chosen)));
    const boxes = PANELS.map(() => this.box());
    this.shown = PANELS.map((panel, i) => this.panel(panel, ...boxes[i]));
    this.tell();
  }

  /** All of them are there before a chart measures its own. */
  box() {
    const box = document.createElement("div");
    box.className = "panel";
    const head = document.createElement("h3");
    const chartDiv = document.createElement("div");
    chartDiv.className = "chart";
    box.append(head, chartDiv);
    this.div.append(box);
    return [head, chartDiv];
  }

  panel(panel, head, chartDiv) {
    const { film } = this;
    const lines = film.runs.map((run, i) => ({ name: run.name, colour: film.colours[i], run, values: this.values[i][panel.of] }));
    if (panel.also && (film.chosen.kind === "flow" || panel.name === "Window")) {
      lines.push(...film.runs.map((run, i) => ({ name: `${run.name} ${panel.alsoName}`, colour: film.colours[i], dashed: true, run, values: this.values[i][panel.also] })));
    }
    const longest = film.runs.reduce((a, b) => (b.samples > a.samples ? b : a));
    const { capacity } = this.values[longest.place];
    if (panel.name === "Rate" && Number.isFinite(capacity[0])) {
      lines.unshift({ name: "link", colour: styled("soft"), filled: true, run: longest, values: capacity });
    }
    const chart = new Chart(film, chartDiv, lines, panel.format, { valueRange: panel.name === "RTT" ? null : [0, null] });
    return { panel, head, chart };
  }

  /** The values at this moment, as text above each chart. */
  tell() {
    const { film } = this;
    for (const { panel, head } of this.shown) {
      const parts = film.runs.map((run, i) => {
        const value = this.values[i][panel.of][run.sampleAt(film.clock.now)];
        return `<span><i class="swatch" style="background:${film.colours[i]}"></i>${film.safe(run.name)} ${Number.isFinite(value) ? panel.format(value) : "–"}</span>`;
      });
      const text = `${panel.name} <span class="soft">${noteOf(panel, film)}</span><div>${parts.join("")}</div>`;
      if (head.shown !== text) head.innerHTML = head.shown = text;
    }
  }

  follow(what) {
    if (what === "span" || what === "now") for (const { chart } of this.shown) chart.follow(what);
    this.tell();
  }
}
