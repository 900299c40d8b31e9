// The keyboard: space plays, arrows step, the rest as the page's last lines say.

function listenToKeys(film) {
  const { clock } = film;
  const actions = {
    " ": () => clock.toggle(),
    ArrowRight: (event) => clock.seek(clock.now + clock.step * (event.shiftKey ? 10 : 1)),
    ArrowLeft: (event) => clock.seek(clock.now - clock.step * (event.shiftKey ? 10 : 1)),
    Home: () => clock.seek(0),
    End: () => clock.seek(clock.end),
    "+": () => clock.zoom(0.5),
    "=": () => clock.zoom(0.5),
    "-": () => clock.zoom(2),
    0: () => clock.show(0, clock.end),
    "/": () => document.getElementById("search").focus(),
    Escape: () => film.choose(WHOLE),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
    if (event.key === " " && event.target.matches("button")) event.target.blur();
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}
