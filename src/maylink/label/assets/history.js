/* What one has said: a list from which an answer is opened again. */
import { byId, counted, make } from "./basics.js";

const FEW = 6; // that are listed at first
const WORDS = { 1: "Together", "-1": "Apart", 0: "Can’t tell" };

let all = false;

export function wordFor(said) {
  return said.kind === null ? counted(said.groups.length, "group") : WORDS[said.kind];
}

export function drawHistory(list, open, current) {
  byId("past").hidden = !list.length;
  byId("older").hidden = all || list.length <= FEW;
  byId("older").onclick = () => { all = true; drawHistory(list, open, current); focusHistory(); };
  const focused = document.activeElement?.closest?.("#history button")?.dataset.number;
  byId("history").replaceChildren(...(all ? list : list.slice(0, FEW)).map((said) => {
    const names = said.kind === null ? `${said.rows.length} items on a board` : null;
    const text = names ? make("span", "names", names)
      : make("span", "names", make("bdi", "", said.names[0]), " – ", make("bdi", "", said.names[1]));
    const look = { 1: "together", "-1": "apart", 0: "unsure" }[said.kind] ?? "board";
    const button = make("button", "", make("span", `kind ${look}`, wordFor(said)), text);
    button.type = "button";
    button.dataset.number = said.number;
    if (said.number === current) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => open(said));
    return make("li", "", button);
  }));
  if (focused) byId("history").querySelector(`[data-number="${focused}"]`)?.focus();
}

export function focusHistory() { byId("history").querySelector("button")?.focus(); }

/* Arrow keys in the list; whether the key was one of them. */
export function moveInHistory(key) {
  const buttons = [...byId("history").querySelectorAll("button")];
  const at = buttons.indexOf(document.activeElement);
  if (at < 0 || !["ArrowUp", "ArrowDown"].includes(key)) return false;
  buttons[Math.max(0, Math.min(buttons.length - 1, at + (key === "ArrowDown" ? 1 : -1)))].focus();
  return true;
}
