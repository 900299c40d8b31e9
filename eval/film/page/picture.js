// Where nodes, links and queues are in a picture of the network.

/** Places in pixels of everything, for a canvas of this size. */
function geometryOf(film, width, height) {
  const { nodes, links } = film;
  const xs = nodes.map((node) => node.x);
  const ys = nodes.map((node) => node.y);
  const few = links.length <= 60;
  const host = few ? 6 : links.length <= 250 ? 4 : 2.5;
  const size = { host, switch: few ? 11 : links.length <= 250 ? 8 : 6, lane: few ? 3.2 : links.length <= 250 ? 2 : 1.1 };
  const margin = { x: few ? 34 : 14, y: few ? 26 : 16 };
  const fit = (values, room, edge) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    if (most === least) return values.map(() => room / 2);
    return values.map((value) => edge + (value - least) / (most - least) * (room - 2 * edge));
  };
  const [x, y] = [fit(xs, width, margin.x), fit(ys, height, margin.y)];
  const lanes = new Float32Array(4 * 2 * links.length); // x, y of either end, by port
  const queues = new Float32Array(5 * 2 * links.length); // x, y where a bar begins, its direction, its room
  links.forEach(([a, b], i) => {
    for (const [port, from, to] of [[2 * i, a, b], [2 * i + 1, b, a]]) {
      const [dx, dy] = [x[to] - x[from], y[to] - y[from]];
      const length = Math.hypot(dx, dy) || 1;
      const [ux, uy] = [dx / length, dy / length];
      const aside = 0.5 * size.lane + 0.5;
      const [ox, oy] = [-uy * aside, ux * aside];
      lanes.set([x[from] + ox, y[from] + oy, x[to] + ox, y[to] + oy], 4 * port);
      const begin = size[nodes[from].kind] + 1;
      const outside = aside + (few ? 2.2 : 1.6) * size.lane;
      const room = Math.max(4, Math.min(0.45 * length - begin, few ? 110 : 34));
      queues.set([x[from] + ux * begin - uy * outside, y[from] + uy * begin + ux * outside, ux, uy, room], 5 * port);
    }
  });
  const hosts = nodes.flatMap((node, id) => (node.kind === "host" ? [id] : []));
  const apart = leastApart(hosts, x, y);
  size.host = Math.max(1.5, Math.min(size.host, 0.44 * apart));
  const room = nodes.length - hosts.length <= 40 && width > 600;
  const named = few && apart >= 25 ? "all" : few || room ? "switches" : "none";
  return { width, height, x, y, size, lanes, queues, named };
}

/** Of the hosts nearest to each other, one after the other by number. */
function leastApart(hosts, x, y) {
  let least = Infinity;
  for (let i = 1; i < hosts.length; i++) least = Math.min(least, Math.hypot(x[hosts[i]] - x[hosts[i - 1]], y[hosts[i]] - y[hosts[i - 1]]));
  return least;
}

/** The node or port at a point of the picture, or null. */
function atPoint(film, geometry, px, py) {
  const { x, y, size, lanes } = geometry;
  let best = null;
  let nearest = 8;
  film.nodes.forEach((node, id) => {
    const away = Math.hypot(px - x[id], py - y[id]) - size[node.kind];
    if (away < nearest - 4) [best, nearest] = [{ kind: "node", id }, away + 4];
  });
  if (best) return best;
  for (let port = 0; port < lanes.length / 4; port++) {
    const [ax, ay, bx, by] = lanes.subarray(4 * port, 4 * port + 4);
    const [dx, dy] = [bx - ax, by - ay];
    const along = Math.min(1, Math.max(0, ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1)));
    const away = Math.hypot(px - ax - along * dx, py - ay - along * dy);
    if (away < nearest) [best, nearest] = [{ kind: "port", id: port }, away];
  }
  return best;
}
