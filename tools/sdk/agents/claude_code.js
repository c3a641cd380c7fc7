// Claude Code, told the base URL, a key and the model's name. What the model
// wants done is in cassettes/script.yaml; here stands what was done.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execute, succeeded } from './harness.js';

// It asks a person before it changes anything, unless the tool is allowed.
const ask = (place, address, model, prompt, ...tools) => execute(
  place, 'claude', ['-p', prompt, '--output-format', 'json', ...(tools.length ? ['--allowedTools', ...tools] : [])],
  { ANTHROPIC_BASE_URL: address, ANTHROPIC_API_KEY: 'none', ANTHROPIC_MODEL: model });

export const claudeCode = {
  async 'messages/agent-answers'(place, address, model) {
    const reply = JSON.parse(succeeded(await ask(place, address, model, 'Hello')).stdout);
    assert.equal(reply.result, 'Hello there!');
    assert.equal(reply.usage.output_tokens, 4);
    assert.ok(reply.usage.input_tokens > 1_000);
  },

  async 'messages/agent-writes'(place, address, model) {
    const reply = JSON.parse(succeeded(await ask(place, address, model, 'Please write greeting.txt', 'Write')).stdout);
    assert.equal(await readFile(join(place.work, 'greeting.txt'), 'utf8'), 'Hello from diglot.\n');
    assert.equal(reply.result, 'The file is written.');
    assert.equal(reply.num_turns, 2);
  },

  // Two calls at once, a change of what was read, and a command.
  async 'messages/agent-edits'(place, address, model) {
    await writeFile(join(place.work, 'notes.txt'), 'The colour is red.\n');
    await writeFile(join(place.work, 'other.txt'), 'Nothing of note.\n');
    const reply = JSON.parse(succeeded(
      await ask(place, address, model, 'Make the colour in notes.txt blue', 'Read', 'Edit', 'Bash')).stdout);
    assert.equal(await readFile(join(place.work, 'notes.txt'), 'utf8'), 'The colour is blue.\n');
    assert.equal(reply.result, 'It is blue now.');
    assert.deepEqual(reply.permission_denials, []);
  },

  async 'messages/agent-unknown-model'(place, address) {
    const end = await ask(place, address, 'nosuch', 'Hello');
    assert.equal(end.code, 1, end.stdout);
    const reply = JSON.parse(end.stdout);
    assert.equal(reply.is_error, true);
    assert.equal(reply.api_error_status, 404);
    assert.match(reply.result, /nosuch/);
  },
};
