// What is chosen: a flow, a port, a node or the whole network; and its rate, window, RTT and queue over time.

const WHOLE = { kind: "network", id: -1 };

/** In words. */
function nameOf(film, { kind, id }) {
  if (kind === "flow") {
    return `Flow ${id}: ${film.nodeName(film.flows.src[id])} → ${film.nodeName(film.flows.dst[id])}, ${inBytes(film.flows.size[id])}`;
  }
  if (kind === "port") return `Port of ${film.nodeName(film.fromOf(id))} to ${film.nodeName(film.toOf(id))}, ${inBits(film.rateOf(id))}`;
  if (kind === "node") return `${film.nodes[id].kind === "host" ? "Host" : "Switch"} ${film.nodes[id].name}`;
  return "Whole network";
}

/** The ports whose queues and bytes are shown. Of a host: its own, and the switch's towards it. */
function portsOf(film, run, { kind, id }) {
  if (kind === "port") return [id];
  if (kind === "node") return film.portsAt[id];
  if (kind === "flow") return [...run.wayOf(id)];
  return film.nodes.flatMap((node, i) => (node.kind === "switch" ? film.portsAt[i] : []));
}

/** The flows that are shown together. */
function flowsOf(film, run, { kind, id }) {
  if (kind === "flow") return [id];
  if (kind === "port") return run.flowsOn.get(id) ?? [];
  if (kind === "node" && film.nodes[id].kind === "host") return film.flowsAt[id];
  if (kind === "node") return [...new Set(film.portsAt[id].flatMap((port) => run.flowsOn.get(port) ?? []))];
  return Array.from({ length: run.flowCount }, (_, flow) => flow);
}

/** The links that change on the way of what is chosen: of a node or the network, that of all flows. */
function changingOn(run, { kind, id }) {
  const ports = Array.from(run.changing);
  if (kind === "port") return ports.filter((port) => port === id);
  if (kind === "flow") return ports.filter((port) => run.wayOf(id).includes(port));
  return ports.filter((port) => run.flowsOn.get(port)?.length === run.flowCount);
}

/**
 * Series of what is chosen under one controller, a value per sample, NaN where there is none:
 * rate (bit/s over film.overOf(chosen) samples: acknowledged of flows, sent of ports), allowed (bit/s that controllers allow), window and inflight (bytes), rtt (ns; of
 * several flows the mean), queue (bytes), capacity (bit/s of the link that changes).
 */
function seriesOf(film, run, chosen) {
  const n = run.samples;
  const flows = flowsOf(film, run, chosen);
  const zeros = () => new Float64Array(n);
  const [bytes, allowed, window, inflight, rtt, queue] = [zeros(), zeros(), zeros(), zeros(), zeros(), zeros()];
  const [live, timed] = [zeros(), zeros()];
  for (const flow of flows) {
    const begin = run.flowOffset[flow];
    const values = run.flowOffset[flow + 1] - begin;
    for (let i = 0; i < values; i++) {
      const sample = run.flowFirst[flow] + i;
      live[sample] += 1;
      bytes[sample] += run.acked[begin + i];
      allowed[sample] += run.rate[begin + i];
      window[sample] += run.window[begin + i];
      inflight[sample] += run.inflight[begin + i];
      if (run.rtt[begin + i] > 0) {
        rtt[sample] += run.rtt[begin + i];
        timed[sample] += 1;
      }
    }
  }
  const ports = portsOf(film, run, chosen);
  for (const port of ports) {
    if (film.nodes[film.fromOf(port)].kind !== "switch") continue;
    for (let sample = 0; sample < n; sample++) queue[sample] += run.queueOf(port, sample);
  }
  const rate = run.averaged(bytes, film.overOf(chosen));
  const changing = changingOn(run, chosen);
  const capacity = zeros().map((_, sample) => Math.min(...changing.map((port) => run.capacityOf(port, sample, film.overOf(chosen)))));
  for (let sample = 0; sample < n; sample++) {
    if (chosen.kind === "port") rate[sample] = run.sentRate(chosen.id, sample, film.overOf(chosen));
    rtt[sample] = timed[sample] ? rtt[sample] / timed[sample] : NaN;
    if (!live[sample]) allowed[sample] = window[sample] = inflight[sample] = NaN;
    if (!live[sample] && chosen.kind === "flow") rate[sample] = NaN;
    if (!Number.isFinite(window[sample])) window[sample] = NaN;
    if (!Number.isFinite(allowed[sample])) allowed[sample] = NaN;
  }
  return { rate, allowed, window, inflight, rtt, queue, capacity };
}
