// Moves between the places of a chart with the arrow keys, Home and End; without it the tab key reaches the last one.
document.addEventListener("keydown", (event) => {
  const place = event.target.closest?.(".chart .place");
  if (!place || event.altKey || event.ctrlKey || event.metaKey) return;
  const places = [...place.closest(".chart").querySelectorAll(".place")];
  const at = places.indexOf(place);
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: places.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  places[Math.min(Math.max(next, 0), places.length - 1)].focus();
});
