// The curves: a panel for what runs log, a line for each run.

const asNumber = (value) => (Number.isFinite(value) ? `${+value.toPrecision(4)}` : "–");
const asShare = (value) => (Number.isFinite(value) ? `${+(100 * value).toPrecision(3)} %` : "–");
const asWhole = (value) => (Number.isInteger(value) ? String(value) : "");
const asRate = (value) => (Number.isFinite(value) ? count(Math.round(value)) : "–");

/** A stage by its name, where a run says it. */
const stageOf = (value, run) => run?.stages[value] ?? asNumber(value);

const PANELS = [
  { title: "Score on held-back episodes", column: "validation/score", sparse: true },
  { title: "Reward of a decision, while learning", column: "episode/reward" },
  { title: "Stage of the curriculum", column: "curriculum/stage", step: true, format: asWhole, said: stageOf },
  { title: "Queue, held-back episodes", column: "validation_episode/queue_bytes", sparse: true, format: inBytes },
  { title: "Goodput, held-back episodes", column: "validation_episode/goodput", sparse: true, format: asShare },
  { title: "Slowdown, held-back episodes", column: "validation_episode/fct_slowdown", sparse: true },
  { title: "Best score of the search", column: "tuning/best" },
  { title: "Mean score of a generation", column: "tuning/mean" },
  { title: "Spread of the search", column: "tuning/spread" },
  { title: "Decisions a second", column: RATE, format: asRate },
  { loss: true },
  { title: "Queue, while learning", column: "episode/queue_bytes", format: inBytes },
  { title: "Goodput, while learning", column: "episode/goodput", format: asShare },
  { title: "Slowdown, while learning", column: "episode/fct_slowdown" },
];
const LOSS = /^train\/(.*(?:loss|distance|entropy|kl).*)$/;

/** The panels that some run has values for, a panel for each loss. */
function panelsOf(runs) {
  const losses = [...new Set(runs.flatMap((run) => run.columns))].filter((name) => LOSS.test(name)).sort();
  const ofLosses = losses.map((column) => ({ title: `Learning: ${LOSS.exec(column)[1].replaceAll("_", " ")}`, column }));
  const all = PANELS.flatMap((panel) => (panel.loss ? ofLosses : [panel]));
  return all.filter((panel) => runs.some((run) => run.values(panel.column).some((value) => value !== null)));
}

class Panel {
  constructor(board, what) {
    Object.assign(this, { board, what, format: what.format ?? asNumber });
    this.root = document.createElement("div");
    this.root.className = "panel";
    this.root.dataset.column = what.column;
    const head = document.createElement("h3");
    head.append(Object.assign(document.createElement("span"), { className: "soft", textContent: what.title }));
    this.said = document.createElement("div");
    head.append(this.said);
    this.chart = document.createElement("div");
    this.chart.className = "chart";
    this.line = Object.assign(document.createElement("div"), { className: "head" });
    this.root.append(head, this.chart);
    board.panels.append(this.root);
  }

  /** Draws the lines of the runs that are shown. */
  draw() {
    const runs = this.runs = this.board.shown();
    const rows = this.rowsOf(runs);
    const options = {
      file: rows,
      labels: ["x", ...runs.map((run) => run.name)],
      colors: runs.map((run) => run.colour),
      series: Object.fromEntries(runs.map((run) => [run.name, { strokePattern: run.dashed ? [6, 4] : null }])),
      dateWindow: this.board.span(),
      gridLineColor: styled("line"),
      axisLineColor: styled("line"),
      axes: {
        x: { axisLabelFormatter: (x) => this.board.xText(x), pixelsPerLabel: 50, drawGrid: false },
        y: { axisLabelFormatter: (value) => (this.what.said && asWhole(value) ? this.what.said(value, runs[0]) : this.format(value)), axisLabelWidth: 62, pixelsPerLabel: 30 },
      },
    };
    if (this.graph) this.graph.updateOptions(options);
    else if (rows.length) {
      const { mousedown, dblclick, willDestroyContextMyself } = Dygraph.defaultInteractionModel;
      const { file, ...rest } = options;
      this.graph = new Dygraph(this.chart, file, {
        ...rest,
        legend: "never",
        strokeWidth: 1.7,
        stepPlot: Boolean(this.what.step),
        drawPoints: Boolean(this.what.sparse),
        pointSize: 2.5,
        connectSeparatedPoints: true,
        highlightCircleSize: 3,
        yRangePad: 8,
        animatedZooms: false,
        interactionModel: { mousedown, dblclick: () => this.board.show(null), willDestroyContextMyself },
        zoomCallback: (from, to) => this.board.show([from, to]),
        highlightCallback: (event, x) => this.board.look(x),
        unhighlightCallback: () => this.board.look(null),
      });
      this.chart.append(this.line);
    }
    this.say();
  }

  /** [x, a value for each run] in order. */
  rowsOf(runs) {
    const rows = new Map();
    this.lines = runs.map((run, i) => {
      const xs = run.along(this.board.over), values = run.values(this.what.column);
      const points = xs.flatMap((x, k) => (x === null || values[k] === null ? [] : [[x, values[k]]]));
      for (const [x, value] of points) {
        if (!rows.has(x)) rows.set(x, [x, ...runs.map(() => null)]);
        rows.get(x)[i + 1] = value;
      }
      return points;
    });
    return [...rows.values()].sort((a, b) => a[0] - b[0]);
  }

  /** Above the chart the values at the cursor, or the last ones; a line at the cursor. */
  say() {
    const at = this.board.cursor;
    this.said.replaceChildren(...this.runs.map((run, i) => {
      const point = at === null ? this.lines[i].at(-1) : this.lines[i].findLast(([x]) => x <= at);
      const value = point ? (this.what.said ?? this.format)(point[1], run) : "–";
      const said = document.createElement("span");
      said.append(run.swatch(), value);
      said.title = run.name;
      return said;
    }));
    if (!this.graph) return;
    const { x, w, h } = this.graph.getArea();
    const on = at === null ? -1 : this.graph.toDomXCoord(at);
    this.line.style.display = on < x || on > x + w ? "none" : "";
    this.line.style.transform = `translateX(${on}px)`;
    this.line.style.height = `${h}px`;
  }

  destroy() {
    this.graph?.destroy();
    this.root.remove();
  }
}
