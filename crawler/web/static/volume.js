// Narrows the search to the days over which the pointer is dragged in the chart; each column is also a link.
(() => {
  let first = null;
  const column = (target) => (target instanceof Element ? target.closest(".volume a.column") : null);
  const columns = () => [...document.querySelectorAll(".volume a.column")];
  const between = (one, other) => {
    const all = columns();
    const places = [all.indexOf(one), all.indexOf(other)].sort((a, b) => a - b);
    return all.slice(places[0], places[1] + 1);
  };
  const mark = (chosen) => columns().forEach((each) => each.classList.toggle("chosen", chosen.includes(each)));
  document.addEventListener("dragstart", (event) => {
    if (column(event.target)) event.preventDefault();
  });
  document.addEventListener("pointerdown", (event) => {
    first = event.button === 0 ? column(event.target) : null;
  });
  document.addEventListener("pointermove", (event) => {
    const last = first && column(document.elementFromPoint(event.clientX, event.clientY));
    if (last) mark(between(first, last));
  });
  document.addEventListener("pointercancel", () => {
    first = null;
    mark([]);
  });
  document.addEventListener("pointerup", (event) => {
    const last = first && column(document.elementFromPoint(event.clientX, event.clientY));
    const chosen = last && last !== first ? between(first, last) : [];
    first = null;
    mark([]);
    if (chosen.length === 0) return; // a click, which follows the link
    const url = new URL(chosen[0].getAttribute("href"), location.href);
    url.searchParams.set("since", chosen[0].dataset.first);
    url.searchParams.set("until", chosen[chosen.length - 1].dataset.last);
    location.assign(url);
  });
})();
