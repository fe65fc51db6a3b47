// Buttons that copy the text of another element: data-copy has its id, data-done what the button says then.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  const text = document.getElementById(button.dataset.copy);
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = button.dataset.done;
      setTimeout(() => { button.textContent = label; }, 2000);
    } catch {
      getSelection().selectAllChildren(text); // without leave to copy it is selected
    }
  });
}
