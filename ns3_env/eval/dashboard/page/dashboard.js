// The page: asks what is new, draws it, and listens to buttons and keys.

const EVERY_MS = 1500;

class Board {
  constructor() {
    Object.assign(this, { runs: [], all: [], following: true, window: null, over: "count", cursor: null });
    this.panels = this.at("panels");
    this.listen();
    this.poll();
  }

  at(id) {
    return document.getElementById(id);
  }

  shown() {
    return this.runs.filter((run) => run.shown);
  }

  async poll() {
    if (this.following) {
      try {
        const known = new URLSearchParams(this.runs.map((run) => [run.name, `${run.rows.length}.${run.edition}`]));
        const answer = await fetch(`data?${known}`);
        if (!answer.ok) throw new Error(answer.statusText);
        this.take((await answer.json()).runs);
        this.gone = false;
        this.say(`${this.runs.length} ${this.runs.length === 1 ? "run" : "runs"} · as of ${new Date().toLocaleTimeString("en-GB")}`);
      } catch (error) {
        if (!(error instanceof TypeError)) console.error(error);
        this.gone = true;
        this.say("The program that served this page has ended: these are the last values. `python -m eval plot dashboard RUN` shows runs again.");
      }
    }
    setTimeout(() => this.poll(), EVERY_MS);
  }

  say(text) {
    const facts = this.at("facts");
    if (facts.textContent !== text) facts.textContent = text;
    facts.classList.toggle("gone", Boolean(this.gone));
  }

  /** What the server said of all runs. */
  take(said) {
    const known = new Map(this.runs.map((run) => [run.name, run]));
    const runs = said.map((one) => known.get(one.name) ?? new RunLog(one.name));
    const fresh = runs.map((run, i) => run.take(said[i]));
    const others = runs.length !== this.runs.length || runs.some((run, i) => run !== this.runs[i]);
    this.runs = runs;
    if (others || fresh.some(Boolean)) this.draw(others);
    else this.cards();
  }

  /** Draws everything; `anew`: lines or panels are others. */
  draw(anew) {
    this.runs.forEach((run, i) => {
      run.colour = controllerColour(i);
      run.dashed = i >= CONTROLLERS.length;
      run.swatch = () => {
        const swatch = made("i", `swatch${run.dashed ? " dashed" : ""}`);
        swatch.style[run.dashed ? "color" : "background"] = run.colour;
        return swatch;
      };
    });
    const wanted = panelsOf(this.runs);
    const names = wanted.map((panel) => panel.column).join();
    if (anew || names !== this.names) {
      this.all.forEach((panel) => panel.destroy());
      this.all = wanted.map((panel) => new Panel(this, panel));
      this.names = names;
    }
    this.at("over").options[0].text = [...new Set(this.runs.map((run) => (run.counted === DECISIONS ? "decisions" : "generations")))].join(", ") || "decisions";
    this.all.forEach((panel) => panel.draw());
    tableOf(this.runs, this.at("rows").querySelector("table"));
    this.cards();
  }

  cards() {
    const focused = document.activeElement?.getAttribute("aria-label");
    this.at("runs").replaceChildren(...this.runs.map((run, i) => card(this, run, i)));
    if (focused) [...this.at("runs").querySelectorAll("button")].find((x) => x.getAttribute("aria-label") === focused)?.focus();
  }

  toggle(number) {
    const run = this.runs[number];
    if (!run) return;
    run.shown = !run.shown;
    this.draw(true);
  }

  /** Where the axis begins and ends; null: the whole run, as it grows. */
  show(window) {
    this.window = window;
    this.all.forEach((panel) => panel.graph?.updateOptions({ dateWindow: this.span() }));
    this.look(this.cursor);
  }

  /** From the first row of all runs that are shown to the last. */
  whole() {
    const all = this.shown().flatMap((run) => run.along(this.over).filter((x) => x !== null));
    if (!all.length) return [0, 1];
    const [first, last] = [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
    return [Math.max(0, first - 0.02 * (last - first)), last + 0.02 * (last - first) || 1];
  }

  /** The axis as it is: one for all panels. */
  span() {
    return this.window ?? this.whole();
  }

  zoom(factor) {
    const [from, to] = this.span();
    const [first, last] = this.whole();
    const width = (to - from) / factor;
    const begin = Math.max(first, to - width); // the newest rows stay
    this.show(width >= last - first ? null : [begin, Math.max(to, begin + width)]);
  }

  move(part) {
    const [from, to] = this.span();
    const [first, last] = this.whole();
    const by = Math.min(last - to, Math.max(first - from, part * (to - from)));
    if (this.window) this.show([from + by, to + by]);
  }

  look(x) {
    this.cursor = x;
    this.at("at").textContent = x === null ? "" : `at ${this.xText(x)}${this.over === "count" ? "" : " of training"}`;
    this.all.forEach((panel) => panel.say());
  }

  xText(x) {
    if (this.over === "count") return x >= 10_000 ? scaled(x, DECIMAL, "").trim() : count(Math.round(x));
    const minutes = x * 60;
    return minutes < 1 ? `${Math.round(60 * minutes)} s` : minutes < 90 ? `${+minutes.toFixed(1)} min` : `${+x.toFixed(2)} h`;
  }

  follow(on) {
    this.following = on;
    const button = this.at("follow");
    button.setAttribute("aria-pressed", String(on));
    button.textContent = on ? "Following" : "Follow";
  }

  listen() {
    const click = (id, work) => this.at(id).addEventListener("click", work);
    click("follow", () => this.follow(!this.following));
    click("zoom-in", () => this.zoom(2));
    click("zoom-out", () => this.zoom(0.5));
    click("zoom-all", () => this.show(null));
    this.follow(true);
    this.at("over").addEventListener("change", (event) => {
      Object.assign(this, { over: event.target.value, window: null, cursor: null });
      this.draw(true);
    });
    DARK.addEventListener("change", () => this.draw(true));
    const keys = {
      " ": () => this.follow(!this.following), "+": () => this.zoom(2), "=": () => this.zoom(2), "-": () => this.zoom(0.5), 0: () => this.show(null),
      ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25),
    };
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input, summary")) return;
      if (event.key === " " && event.target.closest("button")) return;
      const work = keys[event.key] ?? (/^[1-9]$/.test(event.key) ? () => this.toggle(Number(event.key) - 1) : null);
      if (!work) return;
      event.preventDefault();
      work();
    });
  }
}

window.dashboard = new Board();
