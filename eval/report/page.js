// Interaction with the report's tables: sort a scenario's rows by a column, show values as ratios to a baseline.
"use strict";
(() => {
  const valued = [...document.querySelectorAll("td[data-metric]")];
  const keyOf = (cell, who) => [cell.closest("[data-scenario]").dataset.scenario, cell.dataset.metric, who].join("\n");
  const seeds = new Map(); // one number for each seed, NaN where a cell does not define it
  for (const cell of valued) {
    const numbers = cell.dataset.values.split(",").map((x) => (x === "" ? NaN : Number(x)));
    seeds.set(keyOf(cell, cell.dataset.controller), numbers);
  }
  const own = new Map(valued.map((cell) => [cell, [...cell.childNodes]]));
  const shown = new Map(); // the number that a cell shows now

  const mean = (numbers) => numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  const known = (numbers) => numbers.filter((x) => !Number.isNaN(x));

  // As the report compares two controllers: the geometric mean of the seeds' ratios, where all are above 0; else of differences.
  function beside(numbers, others) {
    const pairs = numbers.map((x, i) => [x, others[i]]).filter(([a, b]) => !Number.isNaN(a) && !Number.isNaN(b ?? NaN));
    if (pairs.length === 0) return { value: NaN, text: "–" };
    if (pairs.every(([a, b]) => a > 0 && b > 0)) {
      const ratio = Math.exp(mean(pairs.map(([a, b]) => Math.log(a / b))));
      return { value: ratio, text: "× " + ratio.toFixed(ratio < 10 ? 3 : 1) };
    }
    const difference = mean(pairs.map(([a, b]) => a - b));
    const digits = Number(Math.abs(difference).toPrecision(3)).toLocaleString("en");
    return { value: difference, text: difference === 0 ? "± 0" : (difference > 0 ? "+" : "−") + digits };
  }

  function show(baseline) {
    for (const cell of valued) {
      const numbers = seeds.get(keyOf(cell, cell.dataset.controller));
      const found = beside(numbers, seeds.get(keyOf(cell, baseline)) ?? []);
      shown.set(cell, baseline ? found.value : mean(known(numbers)));
      cell.replaceChildren(...(baseline ? [found.text] : own.get(cell)));
    }
    document.body.classList.toggle("relative", Boolean(baseline));
  }

  const select = document.getElementById("baseline");
  select.addEventListener("change", () => {
    show(select.value);
    order();
  });

  const table = document.querySelector("#summary-table table");
  const headings = [...table.tHead.rows[0].cells];
  const listed = new Map(); // scenario -> its rows in the suite's order
  for (const body of table.tBodies) listed.set(body, [...body.querySelectorAll("tr[data-controller]")]);
  let sorted = { column: -1, descending: false };

  function order() {
    headings.forEach((heading, i) => {
      const direction = sorted.descending ? "descending" : "ascending";
      heading.setAttribute("aria-sort", i === sorted.column ? direction : "none");
    });
    for (const [body, rows] of listed) {
      const number = (row) => shown.get(row.cells[sorted.column]);
      const compare = (a, b) => {
        if (sorted.column === 0) return a.dataset.controller.localeCompare(b.dataset.controller);
        const [x, y] = [number(a), number(b)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return (x - y) * (sorted.descending ? -1 : 1);
      };
      const wanted = sorted.column < 0 ? rows : [...rows].sort(compare);
      if (sorted.column === 0 && sorted.descending) wanted.reverse();
      body.querySelector("tr.winner").before(...wanted);
    }
  }

  headings.forEach((heading, i) => {
    if (i === 1) return; // the number of seeds
    const best = heading.dataset.better === "higher"; // the best first, then the worst, then as the suite has them
    const press = () => {
      if (sorted.column !== i) sorted = { column: i, descending: best };
      else if (sorted.descending === best) sorted = { column: i, descending: !best };
      else sorted = { column: -1, descending: false };
      order();
    };
    heading.tabIndex = 0;
    heading.classList.add("sortable");
    heading.addEventListener("click", press);
    heading.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      press();
    });
  });

  document.getElementById("controls").hidden = false;
  select.value = ""; // a browser that goes back keeps what was chosen
  show("");
})();
