// A card for each run: how far it is, at which stage, what its last validation found.

const SHARES = ["simulating", "learning", "storing", "validating"];

function ago(seconds) {
  if (seconds === null) return "no row yet";
  if (seconds < 90) return `last row ${Math.round(seconds)} s ago`;
  return seconds < 5400 ? `last row ${Math.round(seconds / 60)} min ago` : `last row ${(seconds / 3600).toFixed(1)} h ago`;
}

/** Where the wall time of the last row went; empty where a run does not say. */
function timeOf(run) {
  const shares = SHARES.map((name) => [name, run.last(`time/${name}`)]).filter(([, share]) => share !== null && share >= 0.01);
  return shares.sort((a, b) => b[1] - a[1]).map(([name, share]) => `${name} ${Math.round(100 * share)} %`).join(" · ");
}

/** [name, value, remark] of a run, in the order of the card. */
function facts(run) {
  const stage = run.last("curriculum/stage");
  const best = run.best("validation/score");
  const ofLast = (what, format) => {
    const held = run.last(`validation_episode/${what}`), learned = run.last(`episode/${what}`);
    if (held === null && learned === null) return null;
    return held === null ? [format(learned), "while learning"] : [format(held), ""];
  };
  const rate = run.rate().findLast((value) => value !== null) ?? run.last("time/fps");
  const losses = run.columns.filter((name) => LOSS.test(name)).sort().map((name) => [LOSS.exec(name)[1].replaceAll("_", " "), run.last(name)]);
  const all = [
    ["stage", stage === null ? null : [run.stages[stage] ?? asNumber(stage), `${stage + 1} of ${run.stages.length}`]],
    ["decisions/s", rate === null ? null : [asRate(rate), ""]],
    ["score", best === null ? null : [asNumber(run.last("validation/score")), `best ${asNumber(best)}`]],
    ["search", run.last("tuning/best") === null ? null : [asNumber(run.last("tuning/best")), "best"]],
    ["queue", ofLast("queue_bytes", inBytes)],
    ["goodput", ofLast("goodput", asShare)],
    ["slowdown", ofLast("fct_slowdown", asNumber)],
    ...losses.map(([name, value]) => [name, value === null ? null : [asNumber(value), ""]]),
  ];
  return all.filter(([, value]) => value !== null);
}

function made(tag, className, text) {
  return Object.assign(document.createElement(tag), { className: className ?? "", textContent: text ?? "" });
}

function card(board, run, number) {
  const root = made("article", `card run${run.shown ? "" : " hidden"}`);
  root.dataset.run = run.name;
  const head = made("h2");
  const toggle = made("button", "", run.shown ? "Hide" : "Show");
  toggle.type = "button";
  toggle.title = `${number + 1}`;
  toggle.setAttribute("aria-label", `${toggle.textContent} ${run.name}`);
  toggle.addEventListener("click", () => board.toggle(number));
  head.append(run.swatch(), made("span", "", run.name), toggle);
  const counts = run.counts === "trials" ? null : run.last(DECISIONS) ?? run.last("tuning/decisions"); // trials: as kept
  const done = run.rows.length || run.kept ? Math.max(counts ?? 0, run.kept ?? 0) : null;
  const share = done === null || !run.budget ? 0 : Math.min(done / run.budget, 1);
  const bar = made("div", "bar");
  const filled = made("div");
  filled.style.width = `${100 * share}%`;
  filled.style.background = run.colour;
  bar.append(filled);
  const told = [[run.agent, run.seed === null ? "" : `seed ${run.seed}`].filter(Boolean).join(", "), ago(run.age_s), timeOf(run)];
  const far = done === null ? `${run.rows.length} rows` : `${count(done)}${run.budget ? ` of ${count(run.budget)}` : ""} ${run.counts} · ${share === 1 ? "done" : `${Math.floor(100 * share)} %`}`;
  const list = made("dl");
  for (const [name, [value, remark]] of facts(run)) {
    const said = made("dd", "", value);
    if (remark) said.append(" ", made("small", "", remark));
    list.append(made("dt", "", name), said);
  }
  root.append(head, made("p", "soft", told.filter(Boolean).join(" · ")), bar, made("p", "soft far", far), list);
  return root;
}

/** Every column of every run: the last value, as the file has it. */
function tableOf(runs, table) {
  const row = (cells, tag) => {
    const made_ = made("tr");
    made_.append(...cells.map((text) => made(tag, "", text)));
    return made_;
  };
  const columns = [...new Set(runs.flatMap((run) => run.columns))].sort();
  table.tHead.replaceChildren(row(["", ...runs.map((run) => run.name)], "th"));
  const values = (name) => runs.map((run) => run.last(name)).map((value) => (value === null ? "–" : String(value)));
  table.tBodies[0].replaceChildren(...columns.map((name) => row([name, ...values(name)], "td")));
}
