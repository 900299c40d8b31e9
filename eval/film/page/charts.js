// A chart over the shared time axis: dygraphs draws it, the clock moves it.

class Chart {
  /** `lines`: [{name, colour, dashed, filled, run, values}]; `format` of a value. */
  constructor(film, div, lines, format, more = {}) {
    Object.assign(this, { film, div, lines });
    this.head = document.createElement("div");
    this.head.className = "head";
    const rows = rowsOf(lines);
    this.graph = new Dygraph(div, rows, {
      labels: ["t", ...lines.map((line, i) => `${i} ${line.name}`)],
      colors: lines.map((line) => line.colour),
      series: Object.fromEntries(lines.map((line, i) => [`${i} ${line.name}`, styleOf(line)])),
      strokeWidth: 1.7,
      legend: "never",
      highlightCircleSize: 0,
      connectSeparatedPoints: true,
      includeZero: true,
      xRangePad: 0,
      yRangePad: 4,
      gridLineColor: styled("line"),
      axisLineColor: styled("line"),
      axes: axesOf(format, 34),
      interactionModel: {},
      dateWindow: [film.clock.from, film.clock.to],
      drawCallback: (graph, first) => { if (!first) this.drawn(graph); },
      ...more,
    });
    if (!rows.some((row) => row.slice(1).some((value) => value !== null && Number.isFinite(value)))) {
      const none = document.createElement("div");
      none.className = "none";
      none.textContent = more.none ?? "nothing to show";
      div.append(none);
    }
    div.append(this.head);
    drag(film, this, div);
    this.follow("span");
  }

  /** dygraphs' own range selector has moved the axis. */
  drawn(graph) {
    const [from, to] = graph.xAxisRange();
    const { clock } = this.film;
    if (!this.following && (Math.abs(from - clock.from) > 1e-6 || Math.abs(to - clock.to) > 1e-6)) clock.show(from, to);
    this.moveHead();
  }

  follow(what) {
    const { clock } = this.film;
    if (what === "span") {
      this.following = true;
      this.graph.updateOptions({ dateWindow: [clock.from, clock.to] });
      this.following = false;
    }
    this.moveHead();
  }

  moveHead() {
    if (!this.graph) return;
    const { x, w, h } = this.graph.getArea();
    const at = this.graph.toDomXCoord(this.film.clock.now);
    this.head.style.display = at < x - 1 || at > x + w + 1 ? "none" : "";
    this.head.style.transform = `translateX(${at}px)`;
    this.head.style.height = `${h}px`;
  }

  destroy() {
    this.graph.destroy();
    this.div.remove();
  }
}

function styleOf(line) {
  if (line.filled) return { fillGraph: true, strokeWidth: 0.8 };
  return line.dashed ? { strokePattern: [4, 4], strokeWidth: 1.1 } : {};
}

/** Labels of both axes; `apart`: pixels between two of the values. */
function axesOf(format, apart) {
  return {
    x: { axisLabelFormatter: (ns) => inTime(ns), pixelsPerLabel: 80, drawGrid: false },
    y: { axisLabelFormatter: (value) => format(value), axisLabelWidth: 68, pixelsPerLabel: apart },
  };
}

/** [time, a value for each line] in order: null where a line has no sample, NaN where it has no value. */
function rowsOf(lines) {
  const rows = new Map();
  lines.forEach(({ run, values }, column) => {
    for (let sample = 0; sample < run.samples; sample++) {
      const at = run.timeOf(sample);
      let row = rows.get(at);
      if (!row) rows.set(at, row = [at, ...lines.map(() => null)]);
      row[column + 1] = values[sample];
    }
  });
  return [...rows.values()].sort((a, b) => a[0] - b[0]);
}

/** Dragging moves in time, the wheel and two fingers zoom. */
function drag(film, chart, div) {
  const { clock } = film;
  const timeAt = (event) => chart.graph.toDataXCoord(event.clientX - div.getBoundingClientRect().left);
  const inChart = (event) => event.clientY - div.getBoundingClientRect().top <= chart.graph.getArea().h + 4;
  const down = new Map();
  div.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !inChart(event)) return;
    down.set(event.pointerId, event.clientX);
    div.setPointerCapture(event.pointerId);
    if (down.size === 1) clock.seek(timeAt(event));
  });
  div.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    if (down.size === 1) clock.seek(Math.min(clock.to, Math.max(clock.from, timeAt(event))));
    else {
      const width = () => Math.max(...down.values()) - Math.min(...down.values());
      const before = width();
      down.set(event.pointerId, event.clientX);
      if (before > 10 && width() > 10) clock.zoom(before / width(), timeAt(event));
    }
    down.set(event.pointerId, event.clientX);
  });
  for (const over of ["pointerup", "pointercancel"]) div.addEventListener(over, (event) => down.delete(event.pointerId));
  div.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) clock.pan((clock.to - clock.from) * (event.deltaX || event.deltaY) / 800);
    else clock.zoom(Math.exp(event.deltaY / 500), timeAt(event));
  }, { passive: false });
}
