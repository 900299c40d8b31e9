// A run's log as it grows: rows by column, along decisions or wall time.

const ELAPSED = "time/time_elapsed", DECISIONS = "time/total_timesteps";
const RATE_OVER_S = 10;

class RunLog {
  constructor(name) {
    Object.assign(this, { name, columns: [], rows: [], edition: 0, shown: true });
  }

  /** What the server said of the run; true where rows are new. */
  take(said) {
    const before = `${this.edition} ${this.rows.length}`;
    Object.assign(this, said, { rows: [...this.rows.slice(0, said.from), ...said.rows] });
    return before !== `${this.edition} ${this.rows.length}`;
  }

  column(name) {
    const index = this.columns.indexOf(name);
    return this.rows.map((row) => (index < 0 ? null : row[index] ?? null));
  }

  /** The last value that a column has; null: none. */
  last(name) {
    return this.column(name).findLast((value) => value !== null) ?? null;
  }

  best(name) {
    const values = this.column(name).filter((value) => value !== null);
    return values.length ? values.reduce((a, b) => Math.max(a, b)) : null;
  }

  /** Of each row where it stands: decisions (of a search generations), or hours. */
  along(over) {
    if (over === "count") return this.column(this.counted);
    let before = 0, gone = 0; // a run that goes on counts from 0 again
    return this.column(ELAPSED).map((seconds) => {
      if (seconds === null) return null;
      if (seconds < before) gone += before;
      before = seconds;
      return (gone + seconds) / 3600;
    });
  }

  /** Decisions a second of each row, over the last rows that are together at least RATE_OVER_S long. */
  rate() {
    const hours = this.along("hours"), decisions = this.column(DECISIONS);
    let from = 0;
    return decisions.map((count, i) => {
      if (count === null || hours[i] === null) return null;
      while (from + 1 < i && (hours[i] - hours[from + 1]) * 3600 >= RATE_OVER_S) from++;
      const seconds = (hours[i] - hours[from]) * 3600;
      return seconds >= RATE_OVER_S && decisions[from] !== null ? (count - decisions[from]) / seconds : null;
    });
  }

  values(name) {
    return name === RATE ? this.rate() : this.column(name);
  }
}

/** The name of what no file has: it follows from two columns. */
const RATE = "decisions a second";
