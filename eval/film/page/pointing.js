// Pointing at a picture says what is there; a click chooses it.

function point(film, picture) {
  const { canvas } = picture;
  const tip = document.getElementById("tip");
  const found = (event) => {
    const box = canvas.getBoundingClientRect();
    return picture.geometry && atPoint(film, picture.geometry, event.clientX - box.left, event.clientY - box.top);
  };
  canvas.addEventListener("pointermove", (event) => {
    const thing = event.pointerType === "mouse" ? found(event) : null;
    canvas.style.cursor = thing ? "pointer" : "crosshair";
    tip.hidden = !thing;
    if (!thing) return;
    tip.textContent = described(film, picture.run, thing);
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 16 + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 16}px`;
  });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => film.choose(found(event) ?? WHOLE));
}

/** What a thing is, and how it is now. */
function described(film, run, thing) {
  if (thing.kind === "node") {
    const flows = flowsOf(film, run, thing);
    const under = flows.filter((flow) => run.flowIndex(flow, run.sampleAt(film.clock.now)) >= 0).length;
    return `${nameOf(film, thing)}\n${under} of ${count(flows.length)} flows under way`;
  }
  const sample = run.sampleAt(film.clock.now);
  const lines = [nameOf(film, thing), `${inBits(run.sentRate(thing.id, sample, film.over))} (${Math.round(100 * run.loadOf(thing.id, sample, film.over))} %)`];
  lines.push(`${inBytes(run.queueOf(thing.id, sample))} queued`);
  const paused = run.pausedPart(thing.id, sample, film.over);
  if (paused) lines.push(`paused ${Math.round(100 * paused)} % of the time`);
  if (film.isDown(thing.id, film.clock.now)) lines.push("the link is down");
  return lines.join("\n");
}
