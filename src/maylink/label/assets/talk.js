/* Talks to the server. A judgement is kept in the browser until the server has it on disk. */
import { byId, keep, kept } from "./basics.js";

const BASE = new URL(".", location.href);
const LONGEST_WAIT = 5000; // between two attempts
const GONE = "This address is no longer valid. Open the one that the terminal shows now; " +
  "what you answered last is kept in this browser and sent from there.";
const LOST = "No connection: the questions were finished, or the command was stopped.";
const KEPT = "No connection. Your answer is kept here and sent as soon as the command runs again.";

let rows = ""; // which data the server has

export class Problem extends Error {
  constructor(text, status) { super(text); this.status = status; }
}

export function talkAbout(name) { rows = name; }

export function notice(text) {
  const place = byId("notice");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
}

export function get(path, parameters = {}) {
  const url = new URL(path, BASE);
  url.search = new URLSearchParams(parameters);
  return answered(fetch(url, { credentials: "omit" }));
}

export function post(path, told) {
  return answered(fetch(new URL(path, BASE), {
    method: "POST", credentials: "omit", body: JSON.stringify(told),
    headers: { "Content-Type": "application/json" },
  }));
}

async function answered(request) {
  let response;
  try { response = await request; } catch { throw new Problem(LOST, 0); }
  if (response.ok) return response.json();
  let text = GONE;
  try { text = (await response.json()).problem ?? text; } catch { /* no JSON: not our page */ }
  throw new Problem(text, response.status);
}

/* Posts something until it arrives. The server takes the same key only once. */
export async function deliver(path, told) {
  remember([...unsent(), { rows, path, told }]);
  for (let wait = 300; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    try {
      const result = await post(path, told);
      forget(told.key);
      notice("");
      return result;
    } catch (problem) {
      const refused = problem.status >= 400 && problem.status < 500;
      if (refused && ![403, 404].includes(problem.status)) forget(told.key);
      notice(problem.status === 0 ? KEPT : problem.message);
      if (refused) throw problem;
    }
    await new Promise((done) => setTimeout(done, wait));
  }
}

/* Sends what an earlier page could not send. */
export async function deliverRest() {
  for (const one of unsent()) {
    if (one.rows !== rows) continue;
    forget(one.told.key);
    try { await deliver(one.path, one.told); } catch { /* the notice says why */ }
  }
}

function unsent() {
  try { return JSON.parse(kept("unsent")) ?? []; } catch { return []; }
}

function remember(list) { keep("unsent", list.length ? JSON.stringify(list) : null); }

function forget(key) { remember(unsent().filter((one) => one.told.key !== key)); }
