/* The page as a whole: who answers, what is asked, keys, and how it ends. */
import { boardKey, drawBoard, groupsNow, onBoardChange, rowsNow, sortedCount, startBoard } from "./board.js";
import { byId, counted, keep, kept, make, say, sentence } from "./basics.js";
import { drawHistory, focusHistory, moveInHistory, wordFor } from "./history.js";
import { drawPair, pairInWords } from "./pair.js";
import { drawProgress, setClusters, setPlaces, setPoints } from "./progress.js";
import { deliver, deliverRest, get, notice, post, talkAbout } from "./talk.js";

const SOON = 400; // milliseconds until one looks again for a question that is being made
const LATER = 5000; // and until one looks again where nothing is left to ask
const OFTEN = 1200; // for how far things are, while the model thinks
const SELDOM = 4000;
const WORDS = { 1: "together", "-1": "apart", 0: "can’t tell" };

let me = null;
let mode = "pairs";
let now = null; // the question or board that is shown
let changing = null; // the earlier judgement that is shown in its place
let sending = false;
let history = [];
let seen = 0; // the version of the clusters that are drawn
let ended = false;
let nChanges = 0; // of what was said: a list that was asked for before a change is old
let keysOn = kept("keys") !== "off";
let timers = {};

function later(name, act, wait) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(act, wait);
}

function show(section) {
  for (const id of ["ask", "sort", "pause", "over"]) byId(id).hidden = id !== section;
}

/* ------------------------------------------------------------------ what is asked */

async function ask() {
  clearTimeout(timers.ask);
  try {
    const turn = await get(mode === "pairs" ? "question" : "board", { who: me });
    notice("");
    if (!changing) showTurn(turn);
  } catch (problem) {
    notice(problem.message);
    if (problem.status === 0) later("ask", ask, LATER);
  }
}

function showTurn(turn, groups = []) {
  const held = document.activeElement;
  changing = null;
  if (turn.pair) showPair(turn);
  else if (turn.items) showBoard(turn, groups);
  else showPause(turn);
  drawButtons();
  if (held && held !== document.body && !held.isConnected) byId(mode === "pairs" ? "ask-title" : "sort-title").focus();
}

function withKey(turn) { return { ...turn, key: crypto.randomUUID() }; }

function showPair(turn, title = "Do these two belong together?") {
  const fresh = !now || now.i !== turn.i || now.j !== turn.j;
  now = withKey(turn);
  byId("ask-title").textContent = title;
  byId("why").hidden = !turn.why;
  byId("why").open = false;
  byId("why-text").textContent = sentence(turn.why) + (turn.again ? " It is asked again to be sure." : "");
  drawPair(turn.pair);
  setPlaces(turn.places);
  show("ask");
  for (const row of turn.soon ?? []) new Image().src = `picture/${row}`;
  if (fresh) { say(`${title} ${pairInWords(turn.pair)}`); scrollTo({ top: 0 }); }
}

function showBoard(turn, groups, title = "Which of these belong together?") {
  const fresh = String(now?.rows) !== String(turn.rows);
  now = withKey(turn);
  byId("sort-title").textContent = title;
  show("sort");
  if (fresh || groups.length) drawBoard(turn, groups);
  setPlaces(turn.places);
  if (fresh) { say(`${title} ${counted(turn.items.length, "item")}`); scrollTo({ top: 0 }); }
}

function showPause(turn) {
  now = null;
  setPlaces([]);
  byId("pause-title").textContent = turn.waiting ? "Looking for what to ask …"
    : turn.problem ? "There is a problem" : "Nothing is left to ask you";
  byId("pause-text").textContent = turn.waiting ? "The pairs that tell most come first."
    : sentence(turn.problem) || "Others may still be answering. Finish ends the questions for everybody.";
  byId("pause").classList.toggle("waiting", turn.waiting);
  show("pause");
  later("ask", ask, turn.waiting ? SOON : LATER);
}

function drawButtons() {
  for (const button of document.querySelectorAll(".undo")) button.disabled = !history.length || Boolean(changing);
  for (const button of document.querySelectorAll(".back")) button.hidden = !changing;
  for (const button of document.querySelectorAll(".skip")) button.hidden = Boolean(changing);
  for (const button of document.querySelectorAll("#ask .answer")) {
    const said = changing && String(changing.kind) === button.dataset.kind;
    button.setAttribute("aria-pressed", String(Boolean(said)));
  }
  byId("done").disabled = sortedCount() < 2;
  byId("mode-pairs").setAttribute("aria-pressed", String(mode === "pairs"));
  byId("mode-board").setAttribute("aria-pressed", String(mode === "board"));
}

/* ------------------------------------------------------------------ what is said */

/* Does something that others must wait for. */
async function alone(act) {
  if (sending || ended) return;
  sending = true;
  document.body.classList.add("sending");
  try { await act(); } catch (problem) { notice(problem.message); } finally {
    sending = false;
    document.body.classList.remove("sending");
  }
}

function answer(kind) {
  if (byId("ask").hidden || !now) return;
  alone(async () => {
    const told = { who: me, i: now.i, j: now.j, kind, key: now.key, again: Boolean(now.again) };
    if (changing) told.instead_of = changing.number;
    const result = await deliver("answer", told);
    afterwards(result, `Saved: ${WORDS[kind]}.`);
  });
}

function sorted() {
  if (byId("sort").hidden || !now || sortedCount() < 2) return;
  alone(async () => {
    const told = { who: me, rows: rowsNow(), groups: groupsNow(), key: now.key };
    if (changing) told.instead_of = changing.number;
    const result = await deliver("sort", told);
    afterwards(result, "Saved: the board.");
  });
}

function afterwards(result, words) {
  say(words);
  const replaced = changing?.number;
  setHistory([result.said, ...history].filter((said, at, list) => said && said.number !== replaced
    && list.findIndex((other) => other?.number === said.number) === at));
  const next = result.next;
  if (next.rows ? mode === "board" : mode === "pairs" || !next.pair) showTurn(next); else ask();
  lookAround();
}

function skip() {
  if (!now || changing) return;
  alone(async () => {
    const told = now.rows ? { rows: now.rows, board: true } : { rows: [now.i, now.j] };
    const result = await post("skip", { who: me, ...told });
    showTurn(result.next);
  });
}

function undo() {
  if (changing || !history.length) return;
  alone(async () => {
    const { said } = await post("take-back", { who: me, number: history[0].number });
    setHistory(history.slice(1));
    if (!said) return;
    say(`Taken back: ${wordFor(said)}.`);
    mode = said.kind === null ? "board" : "pairs";
    now = null;
    const turn = await get(mode === "pairs" ? "question" : "board", { who: me });
    showTurn(turn, said.groups);
    lookAround();
  });
}

/* Opens an earlier judgement to be changed. */
function reopen(said) {
  alone(async () => {
    clearTimeout(timers.ask);
    mode = said.kind === null ? "board" : "pairs";
    now = null;
    const title = `You said: ${wordFor(said).toLowerCase()}. Change it?`;
    if (said.kind === null) showBoard(await get("items", { rows: said.rows }), said.groups, title);
    else showPair(await get("pair", { i: said.rows[0], j: said.rows[1] }), title);
    changing = said;
    drawButtons();
    drawHistory(history, reopen, said.number);
    byId(said.kind === null ? "sort-title" : "ask-title").focus();
  });
}

function back() {
  if (!changing) return;
  changing = null;
  now = null;
  drawHistory(history, reopen);
  ask();
}

function setMode(chosen) {
  if (sending || (mode === chosen && !changing)) return;
  mode = chosen;
  changing = null;
  now = null;
  drawButtons();
  ask();
}

/* ------------------------------------------------------------------ how far things are */

async function look() {
  const state = await get("state", { who: me, seen });
  drawProgress(state);
  if (state.clusters) { seen = state.clusters.version; setClusters(state.clusters); }
  return state;
}

function setHistory(list) {
  nChanges += 1;
  history = list;
  drawHistory(history, reopen, changing?.number);
  drawButtons();
}

async function lookAround() {
  clearTimeout(timers.look);
  if (ended) return;
  let wait = SELDOM;
  try {
    if (!document.hidden) {
      const before = nChanges;
      const list = await get("history", { who: me });
      if (before === nChanges && !sending) setHistory(list);
      wait = (await look()).busy ? OFTEN : SELDOM;
    }
  } catch (problem) {
    if (problem.status !== 0 || !sending) notice(problem.message);
  }
  later("look", lookAround, wait);
}

/* ------------------------------------------------------------------ who, and the end */

function askName() {
  const dialog = byId("name-dialog");
  byId("name").value = me ?? kept("name") ?? "";
  byId("name-problem").textContent = "";
  dialog.showModal();
  byId("name").select();
}

async function join(name) {
  const joined = await post("join", { name });
  me = joined.name;
  keep("name", me);
  byId("me").replaceChildren(make("span", "initial", [...me][0].toUpperCase()), make("bdi", "", me));
  byId("me").setAttribute("aria-label", `You are ${me}. Change your name`);
  for (const id of ["me", "modes", "finish", "main"]) byId(id).hidden = false;
  history = [];
  changing = now = null;
  await deliverRest();
  await ask();
  lookAround();
}

async function finish() {
  byId("finish-dialog").close();
  await alone(async () => {
    await post("finish", { who: me });
    ended = true;
    for (const name of Object.keys(timers)) clearTimeout(timers[name]);
    for (const id of ["finish", "modes", "past"]) byId(id).hidden = true;
    show("over");
    byId("over-title").focus();
  });
}

/* ------------------------------------------------------------------ keys and buttons */

const KEYS = {
  t: () => answer(1), a: () => answer(-1), c: () => answer(0), u: undo, s: skip, d: sorted,
  h: focusHistory, p: () => setMode("pairs"), b: () => setMode("board"), Escape: back,
};

function onKey(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || ended) return;
  if (document.querySelector("dialog[open]") || event.target.closest?.("input, textarea, select")) return;
  if (event.key === "?") { byId("help-dialog").showModal(); event.preventDefault(); return; }
  if (!me) return;
  if (!byId("sort").hidden && boardKey(event)) { event.preventDefault(); return; }
  if (moveInHistory(event.key)) { event.preventDefault(); return; }
  if (!keysOn && event.key !== "Escape") return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) { event.preventDefault(); act(); }
}

/* The second click of a double click is not one about the next question. */
function onClick(id, act) {
  for (const button of typeof id === "string" ? document.querySelectorAll(id) : [id]) {
    button.addEventListener("click", (event) => { if (event.detail <= 1) act(button); });
  }
}

function changeTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep("theme", root.dataset.theme);
  say(`${root.dataset.theme} page`);
}

function listen() {
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => { if (me && !document.hidden) lookAround(); });
  onClick("#ask .answer", (button) => answer(Number(button.dataset.kind)));
  onClick("#done", sorted);
  onClick(".undo", undo);
  onClick(".skip", skip);
  onClick(".back", back);
  onClick("#mode-pairs", () => setMode("pairs"));
  onClick("#mode-board", () => setMode("board"));
  onClick("#theme", changeTheme);
  onClick("#help", () => byId("help-dialog").showModal());
  onClick("#me", askName);
  onClick("#finish", () => byId("finish-dialog").showModal());
  onClick("#finish-yes", finish);
  onClick("#finish-no", () => byId("finish-dialog").close());
  byId("keys-on").checked = keysOn;
  byId("keys-on").addEventListener("change", (event) => {
    keysOn = event.target.checked;
    keep("keys", keysOn ? "on" : "off");
    document.body.classList.toggle("no-keys", !keysOn);
  });
  document.body.classList.toggle("no-keys", !keysOn);
  byId("name-dialog").addEventListener("cancel", (event) => { if (!me) event.preventDefault(); });
  byId("name-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    try { await join(byId("name").value); byId("name-dialog").close(); } catch (problem) {
      byId("name-problem").textContent = problem.message.replace(/^name: /, "");
    }
  });
  onBoardChange(drawButtons);
  startBoard();
}

async function start() {
  listen();
  try {
    const setup = await get("setup");
    talkAbout(setup.rows);
    byId("title").textContent = setup.title;
    document.title = `${setup.title} – maylink`;
    byId("names").replaceChildren(...setup.people.map((name) => Object.assign(make("option"), { value: name })));
    mode = setup.boards ? "board" : "pairs";
    get("points").then(setPoints, () => {});
    if (kept("name")) await join(kept("name")); else askName();
  } catch (problem) {
    notice(problem.message);
    if (problem.status === 0) { later("start", () => location.reload(), LATER); return; }
    if (problem.status === 400) askName();
  }
  document.documentElement.dataset.ready = "";
}

start();
