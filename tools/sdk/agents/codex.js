// Codex, told the base URL, a key and the model's name. What the model wants
// done is in cassettes/script.yaml; here stands what was done.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, succeeded } from './harness.js';

// It reads its provider from a file. Its sandbox is off: a task has a folder of
// its own, and a sandbox inside another does not work everywhere.
async function ask(place, address, model, prompt, ...options) {
  const home = join(place.home, '.codex');
  await mkdir(home);
  await writeFile(join(home, 'config.toml'), `
model = "${model}"
model_provider = "diglot"

[model_providers.diglot]
name = "diglot"
base_url = "${address}/v1"
env_key = "DIGLOT_API_KEY"
wire_api = "responses"
`);
  return execute(
    place, 'codex', ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', '--json', ...options, prompt],
    { DIGLOT_API_KEY: 'none' });
}

// The events of a run, one a line.
const events = (end) => end.stdout.trim().split('\n').map((line) => JSON.parse(line));

// What it said last.
const said = (end) => events(end).filter((e) => e.item?.type === 'agent_message').at(-1)?.item.text;

export const codex = {
  async 'responses/agent-answers'(place, address, model) {
    const end = succeeded(await ask(place, address, model, 'Hello'));
    assert.equal(said(end), 'Hello there!');
    const { usage } = events(end).at(-1);
    assert.equal(usage.output_tokens, 4);
    assert.ok(usage.input_tokens > 1_000);
  },

  async 'responses/agent-writes'(place, address, model) {
    const end = succeeded(await ask(place, address, model, 'Please make hello.txt'));
    assert.equal(await readFile(join(place.work, 'hello.txt'), 'utf8'), 'Hello from diglot.\n');
    assert.equal(said(end), 'The file is made.');
  },

  async 'responses/agent-edits'(place, address, model) {
    await writeFile(join(place.work, 'notes.txt'), 'The colour is red.\n');
    const end = succeeded(await ask(place, address, model, 'Make the word in notes.txt blue'));
    assert.equal(await readFile(join(place.work, 'notes.txt'), 'utf8'), 'The colour is blue.\n');
    assert.equal(said(end), 'It is blue now.');
  },

  async 'responses/agent-parse'(place, address, model) {
    const schema = join(place.folder, 'schema.json');
    await writeFile(schema, JSON.stringify({
      type: 'object', properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
      required: ['city', 'degrees'], additionalProperties: false }));
    const end = succeeded(await ask(place, address, model, 'The weather as JSON', '--output-schema', schema));
    assert.deepEqual(JSON.parse(said(end)), { city: 'Paris', degrees: 18 });
  },

  async 'responses/agent-unknown-model'(place, address) {
    const end = await ask(place, address, 'nosuch', 'Hello');
    assert.equal(end.code, 1, end.stdout);
    const { error } = events(end).at(-1);
    assert.match(error.message, /^The model "nosuch" does not exist\./); // and what to do about it
  },
};
