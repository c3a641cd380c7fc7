// The page at /: keeps the status fresh, and plays a prompt. What models say is put into
// the page as text alone.

import { Events } from './sse.js';
import { curl, errorIn, styles } from './styles.js';

const at = (id) => document.getElementById(id);
const base = new URL('./', location.href).href;

// The status

let refreshed = Date.now();

// Takes the status out of the page as the server renders it now. What the user has
// opened or is reading with the keyboard stays.
async function refresh() {
  refreshed = Date.now();
  const key = at('key-field').value.trim();
  const headers = { Accept: 'text/html', ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  let fresh;
  try {
    const reply = await fetch(base, { headers, cache: 'no-store' });
    fresh = new DOMParser().parseFromString(await reply.text(), 'text/html').getElementById('status');
  } catch {
    return; // the server is away; the next request says so
  }
  const old = at('status');
  if (!fresh || fresh.outerHTML === old.outerHTML || old.contains(document.activeElement)) return;
  const open = old.querySelector('details')?.open;
  old.replaceWith(document.adoptNode(fresh));
  if (open) fresh.querySelector('details')?.setAttribute('open', '');
  listModels();
}

// Not more often than a person can notice.
function refreshSoon() {
  if (document.visibilityState === 'visible' && Date.now() - refreshed > 2000) refresh();
}

function listModels() {
  const names = [...document.querySelectorAll('#status [data-model]')].map((row) => row.dataset.model);
  const select = at('model');
  const chosen = select.value;
  select.replaceChildren(...names.map((name) => new Option(name, name)));
  if (names.includes(chosen)) select.value = chosen;
  at('send').disabled = names.length === 0;
  showRequest();
}

// The request

function fields() {
  const max = Number.parseInt(at('max').value, 10);
  return {
    key: at('key-field').value.trim(),
    model: at('model').value,
    system: at('system').value,
    prompt: at('prompt').value,
    max: max > 0 ? max : undefined,
  };
}

const chosenStyle = () => document.querySelector('[name=style]:checked').value;

function showRequest() {
  at('request').textContent = curl(chosenStyle(), base, fields());
}

async function copyRequest() {
  let outcome = 'Copied.';
  try {
    await navigator.clipboard.writeText(at('request').textContent);
  } catch {
    outcome = 'The browser does not allow copying here.';
  }
  at('progress').textContent = outcome;
}

// The answer

// Adds text to an element that scrolls, and follows the end unless the user has left it.
function append(element, text) {
  const follows = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
  element.append(text);
  if (follows) element.scrollTop = element.scrollHeight;
}

class Answer {
  finish = '';
  error = '';
  events = 0;
  started = performance.now();

  constructor(style) {
    this.style = style;
    for (const id of ['answer', 'reasoning-text', 'events']) at(id).replaceChildren();
    at('reasoning').hidden = true;
    at('answer').setAttribute('aria-busy', 'true'); // read aloud when it is whole
    this.progress('Waiting for the first token.');
  }

  progress(text, failed = false) {
    at('progress').textContent = text;
    at('progress').classList.toggle('error', failed);
  }

  add(frame) {
    this.events++;
    if (frame.data === '[DONE]') return;
    const part = styles[this.style].read(JSON.parse(frame.data));
    if (part.text) append(at('answer'), part.text);
    if (part.reasoning) {
      at('reasoning').hidden = false;
      append(at('reasoning-text'), part.reasoning);
    }
    this.finish = part.finish ?? this.finish;
    this.error = part.error ?? this.error;
    this.prompt = part.prompt ?? this.prompt;
    this.completion = part.completion ?? this.completion;
  }

  summary() {
    const words = [`Finished: ${this.finish || 'without a reason'}`];
    if (this.prompt !== undefined) words.push(`${this.prompt} prompt tokens`);
    if (this.completion !== undefined) words.push(`${this.completion} completion tokens`);
    words.push(`${((performance.now() - this.started) / 1000).toFixed(1)} s`);
    return `${words.join(', ')}.`;
  }

  end(text, failed) {
    at('answer').setAttribute('aria-busy', 'false');
    this.progress(text, failed);
  }
}

// The head of the reply, as a person wants to see it.
function head(reply) {
  const lines = [`HTTP ${reply.status} ${reply.statusText}`];
  for (const name of ['content-type', 'x-request-id', 'diglot-ignored', 'retry-after']) {
    if (reply.headers.has(name)) lines.push(`${name}: ${reply.headers.get(name)}`);
  }
  return `${lines.join('\n')}\n\n`;
}

async function play(answer, reply) {
  append(at('events'), head(reply));
  if (!reply.ok) {
    const text = await reply.text();
    append(at('events'), text);
    answer.error = errorIn(text) ?? `The server answered with status ${reply.status}.`;
    return;
  }
  const events = new Events();
  const decoder = new TextDecoder();
  for (const reader = reply.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const chunk = decoder.decode(value, { stream: true });
    append(at('events'), chunk);
    for (const frame of events.feed(chunk)) answer.add(frame);
    answer.progress(`Streaming, ${answer.events} events.`);
  }
}

let running; // the AbortController of the request in progress

async function send(event) {
  event.preventDefault();
  if (running) return;
  running = new AbortController();
  const { signal } = running;
  const style = styles[chosenStyle()];
  const answer = new Answer(chosenStyle());
  const asked = fields();
  at('stop').disabled = false;
  setTimeout(() => answer.events === 0 && refresh(), 1000); // the model may be loading
  try {
    const reply = await fetch(base + style.path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...style.headers(asked.key) },
      body: JSON.stringify(style.body(asked)),
      signal,
    });
    await play(answer, reply);
    answer.end(answer.error || answer.summary(), Boolean(answer.error));
  } catch (error) {
    answer.end(signal.aborted ? 'Stopped.' : `The connection failed: ${error.message}.`, !signal.aborted);
  }
  running = undefined;
  if (document.activeElement === at('stop')) at('send').focus(); // a disabled button loses the keyboard
  at('stop').disabled = true;
  refresh();
}

// Wiring

at('try').hidden = false;
at('refresh').hidden = false;
at('key').hidden = at('status').dataset.keyNeeded !== 'true';
at('copy').hidden = !navigator.clipboard;

at('refresh').addEventListener('click', refresh);
at('key').addEventListener('submit', (event) => {
  event.preventDefault();
  refresh();
});
at('key-field').addEventListener('change', refresh);
at('key-field').addEventListener('input', showRequest);
at('form').addEventListener('input', showRequest);
at('form').addEventListener('submit', send);
at('stop').addEventListener('click', () => running?.abort());
at('copy').addEventListener('click', copyRequest);
at('prompt').addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) at('form').requestSubmit();
});
document.addEventListener('visibilitychange', refreshSoon);
window.addEventListener('focus', refreshSoon);
listModels();
