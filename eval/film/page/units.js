// Numbers with units, as people read them.

/** Three digits and the largest prefix that fits. */
function scaled(value, steps, unit) {
  if (!Number.isFinite(value)) return "–";
  const [factor, prefix] = steps.find(([least]) => Math.abs(value) >= least) ?? steps[steps.length - 1];
  const number = value / factor;
  const digits = Math.abs(number) >= 100 || Number.isInteger(number) ? 0 : Math.abs(number) >= 10 ? 1 : 2;
  return `${number.toFixed(digits)} ${prefix}${unit}`;
}

const DECIMAL = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

const inBytes = (value) => (value === 0 ? "0 B" : scaled(value, DECIMAL, "B"));
const inBits = (value) => (value === 0 ? "0 b/s" : scaled(value, DECIMAL, "b/s"));
const inTime = (ns) => (ns === 0 ? "0 ns" : scaled(ns, TIMES, ""));

/** Of a moment: as many digits as the step between two samples needs. */
function moment(ns, step) {
  const [factor, unit] = TIMES.find(([least]) => ns >= least) ?? TIMES[3];
  const digits = Math.min(6, Math.max(0, Math.ceil(Math.log10(factor / Math.max(step, 1)))));
  return `${(ns / factor).toFixed(digits)} ${unit}`;
}

const count = (number) => number.toLocaleString("en");
