/* A board: items that are put into groups by mouse, touch or keys. */
import { byId, make, say } from "./basics.js";
import { pictureOf } from "./pair.js";

const MOST_GROUPS = 8;
const FAR = 6; // pixels after which a press is a drag

let board = null; // rows, items
let groupOf = new Map(); // row → 0 where it is not sorted, or the number of its group
let picked = null; // the row that a tap has picked
let drag = null;
let whenChanged = () => {};

export function onBoardChange(act) { whenChanged = act; }

export function drawBoard(given, groups = []) {
  board = given;
  picked = null;
  groupOf = new Map(given.rows.map((row) => [row, 0]));
  const remembered = groups.length ? groups : recall();
  remembered.forEach((group, at) => group.forEach((row) => { if (groupOf.has(row)) groupOf.set(row, at + 1); }));
  draw();
}

/* The groups that hold something, in the order of their numbers. */
export function groupsNow() {
  const groups = Array.from({ length: MOST_GROUPS + 1 }, () => []);
  for (const row of board?.rows ?? []) groups[groupOf.get(row)].push(row);
  return groups.slice(1).filter((group) => group.length);
}

export function sortedCount() { return groupsNow().flat().length; }

export function rowsNow() { return board?.rows ?? []; }

function recall() {
  try { return JSON.parse(sessionStorage.getItem(`maylink-board-${board.rows}`)) ?? []; } catch { return []; }
}

function remember() {
  try { sessionStorage.setItem(`maylink-board-${board.rows}`, JSON.stringify(groupsNow())); } catch { /* none kept */ }
}

function shownGroups() {
  const used = Math.max(0, ...groupOf.values());
  return Math.min(MOST_GROUPS, board.rows.length, Math.max(2, used + 1));
}

function where(group) { return group ? `group ${group}` : "not sorted"; }

function itemOf(row) { return board.items[board.rows.indexOf(row)]; }

function tile(row) {
  const item = itemOf(row);
  const inGroup = groupOf.get(row) > 0;
  const fields = inGroup ? [make("p", "", item.fields.map((field) => field.text).join(" · "))]
    : item.fields.map((field) => make("p", "", make("bdi", "label", field.name), make("bdi", "", field.text)));
  const grip = make("span", "grip", "⠿");
  grip.setAttribute("aria-hidden", "true");
  const element = make("div", "tile", make("div", "top", make("bdi", "name", item.name), grip),
    item.picture ? pictureOf(row, item.name) : null, ...fields);
  element.dataset.row = row;
  element.tabIndex = 0;
  element.setAttribute("role", "button");
  element.setAttribute("aria-pressed", String(picked === row));
  const words = item.fields.map((field) => `${field.name} ${field.text}`).join(", ");
  element.setAttribute("aria-label", `${item.name}. ${words}. ${where(groupOf.get(row))}`);
  return element;
}

function draw(focus = null) {
  const of = (group) => board.rows.filter((row) => groupOf.get(row) === group).map(tile);
  const left = of(0);
  byId("tray").replaceChildren(...(left.length ? left : [make("p", "faint", "All items are in groups.")]));
  byId("groups").replaceChildren(...Array.from({ length: shownGroups() }, (_, at) => {
    const tiles = of(at + 1);
    const title = make("h2", "", make("kbd", "", at + 1), ` Group ${at + 1}`);
    const place = make("section", tiles.length ? "group" : "group empty", title, make("div", "tiles", ...tiles));
    place.dataset.group = at + 1;
    place.setAttribute("aria-label", `Group ${at + 1}`);
    return place;
  }));
  byId("sort").classList.toggle("picking", picked !== null);
  if (focus !== null) tileOf(focus)?.focus();
  remember();
  whenChanged();
}

function tileOf(row) { return byId("sort").querySelector(`.tile[data-row="${row}"]`); }

/* Puts an item into a group; by keys the focus goes on to the next item that is not sorted. */
export function put(row, group, { byKey = false } = {}) {
  if (!groupOf.has(row) || group > Math.min(MOST_GROUPS, board.rows.length)) return;
  groupOf.set(row, Math.min(group, shownGroups()));
  picked = null;
  say(`${itemOf(row).name}: ${where(groupOf.get(row))}`);
  const at = board.rows.indexOf(row);
  const order = [...board.rows.slice(at + 1), ...board.rows.slice(0, at)];
  const next = group ? order.find((other) => groupOf.get(other) === 0) : row;
  draw(byKey ? next ?? row : null);
}

function pick(row) {
  picked = picked === row ? null : row;
  say(picked === null ? "let go" : `${itemOf(row).name} is picked: choose a group`);
  draw(row);
}

/* Keys of the board; whether the key was one of them. */
export function boardKey(event) {
  const element = document.activeElement?.closest?.(".tile");
  if (!element) return false;
  const row = Number(element.dataset.row);
  if (/^[0-8]$/.test(event.key)) {
    put(row, Number(event.key), { byKey: true });
  } else if (event.key === "Enter" || event.key === " ") {
    pick(row);
  } else if (["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) {
    const tiles = [...byId("sort").querySelectorAll(".tile")];
    const step = ["ArrowRight", "ArrowDown"].includes(event.key) ? 1 : -1;
    tiles[(tiles.indexOf(element) + step + tiles.length) % tiles.length].focus();
  } else return false;
  return true;
}

function groupAt(x, y) {
  const place = document.elementFromPoint(x, y)?.closest?.(".group, .tray");
  return place ? Number(place.dataset.group ?? 0) : null;
}

function light(group) {
  for (const place of byId("sort").querySelectorAll(".group, .tray")) {
    place.classList.toggle("over", group !== null && Number(place.dataset.group ?? 0) === group);
  }
}

function endDrag() {
  drag?.ghost?.remove();
  if (drag) tileOf(drag.row)?.classList.remove("lifted");
  light(null);
  drag = null;
}

export function startBoard() {
  const place = byId("sort");
  place.addEventListener("pointerdown", (event) => {
    const element = event.target.closest(".tile");
    if (!element || event.button !== 0) return;
    if (event.pointerType === "touch" && !event.target.closest(".grip")) return; // that scrolls
    const box = element.getBoundingClientRect();
    drag = { row: Number(element.dataset.row), x: event.clientX, y: event.clientY, id: event.pointerId,
      dx: event.clientX - box.left, dy: event.clientY - box.top, element, ghost: null };
    if (event.pointerType === "mouse") event.preventDefault(); // no text is marked
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    if (!drag.ghost) {
      if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < FAR) return;
      drag.ghost = drag.element.cloneNode(true);
      drag.ghost.classList.add("ghost");
      drag.ghost.style.width = `${drag.element.offsetWidth}px`;
      document.body.append(drag.ghost);
      drag.element.classList.add("lifted");
    }
    drag.ghost.style.transform = `translate(${event.clientX - drag.dx}px, ${event.clientY - drag.dy}px)`;
    light(groupAt(event.clientX, event.clientY));
  });
  window.addEventListener("pointerup", (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { row, ghost } = drag;
    const group = ghost ? groupAt(event.clientX, event.clientY) : null;
    endDrag();
    if (ghost && group !== null) put(row, group);
    else if (!ghost) tileOf(row)?.focus();
  });
  window.addEventListener("pointercancel", endDrag);
  place.addEventListener("click", (event) => {
    if (event.detail > 1) return;
    const element = event.target.closest(".tile");
    const area = event.target.closest(".group, .tray");
    if (element && (picked === null || picked === Number(element.dataset.row))) pick(Number(element.dataset.row));
    else if (area && picked !== null) put(picked, Number(area.dataset.group ?? 0));
  });
}
