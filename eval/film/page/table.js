// The flows as a table: searched, sorted, chosen.

const MOST_ROWS = 200;

class FlowTable {
  constructor(film) {
    this.film = film;
    this.order = { column: 0, down: false };
    this.head = document.querySelector("#rows thead");
    this.body = document.querySelector("#rows tbody");
    this.search = document.getElementById("search");
    this.search.addEventListener("input", () => this.fill());
    this.columns = [
      { name: "Flow", value: (flow) => flow, text: (flow) => flow },
      { name: "From", value: (flow) => film.flows.src[flow], text: (flow) => film.nodeName(film.flows.src[flow]) },
      { name: "To", value: (flow) => film.flows.dst[flow], text: (flow) => film.nodeName(film.flows.dst[flow]) },
      { name: "Size", value: (flow) => film.flows.size[flow], text: (flow) => (film.flows.size[flow] ? inBytes(film.flows.size[flow]) : "endless") },
      { name: "Start", value: (flow) => film.flows.start[flow], text: (flow) => inTime(film.flows.start[flow]) },
      ...film.runs.map((run) => ({
        name: film.runs.length > 1 ? `Time, ${run.name}` : "Completion time",
        value: (flow) => (run.flowEnd[flow] < 0 ? Infinity : run.flowEnd[flow] - film.flows.start[flow]),
        text: (flow) => (run.flowEnd[flow] < 0 ? "unfinished" : inTime(run.flowEnd[flow] - film.flows.start[flow])),
      })),
    ];
    const row = document.createElement("tr");
    this.columns.forEach((column, i) => {
      const cell = document.createElement("th");
      cell.textContent = column.name;
      cell.addEventListener("click", () => this.sort(i));
      row.append(cell);
    });
    this.head.append(row);
    this.fill();
  }

  sort(column) {
    this.order = { column, down: this.order.column === column ? !this.order.down : column > 2 };
    this.fill();
  }

  /** Whether a flow is one that the words ask for: its number, h3, h3>h8, active. */
  fits(flow, words) {
    const { film } = this;
    const from = film.nodeName(film.flows.src[flow]);
    const to = film.nodeName(film.flows.dst[flow]);
    return words.every((word) => {
      if (word === "active") return film.runs.some((run) => run.flowIndex(flow, run.sampleAt(film.clock.now)) >= 0);
      const [left, right] = word.split(/>|→/);
      if (right !== undefined) return (!left || left === from) && (!right || right === to);
      return word === String(flow) || word === from || word === to;
    });
  }

  fill() {
    const { film, order } = this;
    const words = this.search.value.toLowerCase().replace(/\s*(>|→)\s*/g, ">").split(/[\s,]+/).filter(Boolean);
    const value = this.columns[order.column].value;
    const flows = Array.from({ length: film.flows.src.length }, (_, flow) => flow).filter((flow) => this.fits(flow, words));
    flows.sort((a, b) => (order.down ? value(b) - value(a) : value(a) - value(b)) || a - b);
    [...this.head.rows[0].cells].forEach((cell, i) =>
      cell.setAttribute("aria-sort", i !== order.column ? "none" : order.down ? "descending" : "ascending"));
    this.body.replaceChildren(...flows.slice(0, MOST_ROWS).map((flow) => this.row(flow)));
    const more = flows.length > MOST_ROWS ? `; the first ${MOST_ROWS} are shown` : "";
    document.getElementById("found").textContent = `${count(flows.length)} of ${count(film.flows.src.length)}${more}`;
    this.mark();
  }

  row(flow) {
    const row = document.createElement("tr");
    row.dataset.flow = flow;
    row.tabIndex = 0;
    for (const column of this.columns) row.insertCell().textContent = column.text(flow);
    const choose = () => this.choose(flow);
    row.addEventListener("click", choose);
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
    return row;
  }

  /** And goes to its start where it is not under way; the axis zooms to a flow that would be a dot on it. */
  choose(flow) {
    const { film } = this;
    const { clock } = film;
    const start = film.flows.start[flow];
    const life = Math.max(...film.runs.map((run) => (run.flowEnd[flow] < 0 ? run.end : run.flowEnd[flow]) - start));
    film.choose({ kind: "flow", id: flow });
    if (life > 0 && life < 0.03 * (clock.to - clock.from)) clock.show(start - life, start + Math.max(2 * life, 10 * clock.step));
    if (film.runs.every((run) => run.flowIndex(flow, run.sampleAt(clock.now)) < 0)) {
      clock.seek(Math.max(start, ...film.runs.map((run) => run.timeOf(run.flowFirst[flow]))));
    }
  }

  /** Which row is chosen, and which flows are under way. */
  mark() {
    const { film } = this;
    for (const row of this.body.rows) {
      const flow = Number(row.dataset.flow);
      row.classList.toggle("chosen", film.chosen.kind === "flow" && film.chosen.id === flow);
      film.runs.forEach((run, i) => {
        row.cells[5 + i].classList.toggle("under-way", run.flowIndex(flow, run.sampleAt(film.clock.now)) >= 0);
      });
    }
  }
}
