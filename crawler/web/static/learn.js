// Tells this server for how long the article was on the screen, and whether the reader then left.
(() => {
  const click = document.currentScript.dataset.click;
  const place = new URL("../learn", document.currentScript.src); // below the path that a proxy gives this server
  let seconds = 0;
  let since = null;
  let ended = true;
  let gone = false;

  const look = () => {
    const now = performance.now() / 1000;
    if (since !== null) seconds += now - since;
    since = !gone && document.visibilityState === "visible" ? now : null;
  };
  const tell = (over) => {
    look();
    const body = JSON.stringify({ click, seconds, ended: over });
    navigator.sendBeacon(place, new Blob([body], { type: "application/json" }));
  };

  // whoever goes on to the original or the story has not had enough
  document.querySelector("main").addEventListener("click", (event) => {
    if (event.target.closest("a[href]")) ended = false;
  });
  addEventListener("pagehide", () => {
    gone = true;
    tell(ended);
  });
  addEventListener("pageshow", () => {
    gone = false;
    ended = true;
    look();
  });
  document.addEventListener("visibilitychange", () => {
    if (gone) return;
    if (document.visibilityState === "hidden") tell(false);
    else look();
  });
  look();
})();
