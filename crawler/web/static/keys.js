// Keys on results and articles, and marks that change in place. docs/web.md lists the keys; without scripts all is done
// by the same buttons.
"use strict";

(() => {
  const choice = (name) => {
    try { return localStorage.getItem(name) !== "off"; } catch { return true; }
  };
  const choose = (name, isOn) => {
    try { localStorage.setItem(name, isOn ? "on" : "off"); } catch { /* it is kept until the page is left */ }
  };
  const find = (selector) => document.querySelector(selector);
  let keysOn = choice("keys");

  // ---- the article that the keys are about
  const hits = () => [...document.querySelectorAll(".hit[data-article]")];
  const current = () => {
    const focused = document.activeElement && document.activeElement.closest(".hit[data-article]");
    return focused || find(".hit.current");
  };
  const place = () => current() || find(".marks[data-article]");
  const select = (hit) => {
    for (const each of document.querySelectorAll(".hit.current")) each.classList.remove("current");
    if (!hit) return;
    hit.classList.add("current");
    hit.querySelector("h2 a, .title a").focus({ preventScroll: true });
    hit.scrollIntoView({ block: "nearest" });
  };
  const move = (step) => {
    const all = hits();
    if (all.length === 0) {
      const link = find(`.way a[rel="${step > 0 ? "next" : "prev"}"]`);
      if (link) link.click();
      return;
    }
    const at = all.indexOf(current());
    select(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))]);
  };

  // ---- marks
  let waiting = Promise.resolve(); // one change after the other, each by what the one before has left
  const show = (where, marks) => {
    where.classList.toggle("was-read", marks.read_at !== null);
    for (const [deed, isOn] of [["star", marks.starred_at !== null], ["read", marks.read_at !== null]]) {
      const button = where.querySelector(`.toggle.${deed}`);
      const key = button.value.split(".")[1];
      button.value = (isOn ? "un" : "") + deed + (key ? `.${key}` : "");
      button.setAttribute("aria-pressed", String(isOn));
    }
  };
  const send = async (where, deed) => {
    const body = new URLSearchParams({ deed });
    const answer = await fetch(`/api/articles/${where.dataset.article}/marks`, { method: "POST", body });
    if (!answer.ok) throw new Error(String(answer.status));
    show(where, await answer.json());
    const said = find("#marks-said");
    said.textContent = said.dataset[deed];
  };
  const toggle = (button) => {
    waiting = waiting.then(async () => {
      const where = button.closest("[data-article]");
      try {
        await send(where, button.value.split(".")[0]);
      } catch {
        button.dataset.plain = ""; // the form itself, whose answer says what is wrong
        button.click();
      }
    });
  };

  // ---- dialogs
  const help = () => find("#keys-help").showModal();
  const enterLabel = () => {
    const field = find(".marks #label");
    const dialog = find("#label-entry");
    const hit = current();
    if (!hit && field) field.focus();
    if (!hit || !dialog) return;
    select(hit); // where the focus goes back to
    for (const button of dialog.querySelectorAll("button[name=one]"))
      button.value = `${button.value.split(".")[0]}.${hit.dataset.article}`;
    find("#label-of").textContent = hit.querySelector("h2 a, .title a").textContent;
    dialog.showModal();
    dialog.querySelector("input[name=label]").focus();
  };

  const press = (selector) => {
    const where = place();
    const button = where && where.querySelector(selector);
    if (button) button.click();
  };
  const deeds = {
    "/": () => { const box = find("#q, #quick"); box.focus(); box.select(); },
    j: () => move(1),
    k: () => move(-1),
    o: () => { const hit = current(); if (hit) hit.querySelector("h2 a, .title a").click(); },
    s: () => press(".toggle.star"),
    m: () => press(".toggle.read"),
    x: () => press("input[type=checkbox]"),
    l: enterLabel,
    "?": help,
    Escape: () => { select(null); if (document.activeElement) document.activeElement.blur(); },
  };
  const isField = (element) => element.isContentEditable
    || element.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");

  document.addEventListener("keydown", (event) => {
    if (!keysOn || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.defaultPrevented) return;
    if (event.repeat && !["j", "k"].includes(event.key)) return;
    if (find("dialog[open]")) return;
    if (event.target instanceof Element && isField(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    let deed = Object.hasOwn(deeds, event.key) ? deeds[event.key] : null;
    // on a link or button the browser itself opens what has the focus
    if (event.key === "Enter" && document.activeElement === document.body) deed = deeds.o;
    if (!deed) return;
    if (event.key !== "Escape") event.preventDefault(); // "/" would open the browser's own search
    deed();
  });

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches(".toggle")) {
      if ("plain" in button.dataset) return;
      event.preventDefault();
      toggle(button);
    } else if (button.matches("[data-keys]")) help();
    else if (button.matches("[data-close]")) button.closest("dialog").close();
  });
  document.addEventListener("change", (event) => {
    if (event.target.id === "keys-on") choose("keys", (keysOn = event.target.checked));
    if (event.target.id === "opened-on") choose("opened", event.target.checked);
  });

  // ---- what a page begins with; the results come anew with each search
  const begin = () => {
    for (const button of document.querySelectorAll("[data-keys]")) button.hidden = false;
    find("#keys-on").checked = keysOn;
    const opened = find("#opened-on");
    if (opened) opened.checked = choice("opened");
  };
  begin();
  document.addEventListener("htmx:after:swap", begin);
  if (/^#a-?[0-9]+$/.test(location.hash)) select(document.getElementById(location.hash.slice(1)));

  // ---- an article that is on the screen counts as read
  const article = find(".marks[data-opened]");
  const open = () => {
    if (document.visibilityState !== "visible") return;
    document.removeEventListener("visibilitychange", open);
    if (choice("opened") && !article.classList.contains("was-read"))
      waiting = waiting.then(() => send(article, "read")).catch(() => {}); // the button still says that it is unread
  };
  if (article) {
    document.addEventListener("visibilitychange", open);
    open();
  }
})();
