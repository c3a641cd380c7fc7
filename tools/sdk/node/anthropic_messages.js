// Messages and models through the @anthropic-ai/sdk package. What the model
// says is in cassettes/script.yaml; here stands what the SDK made of it.

import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';
import { collect, rejected, user } from './harness.js';
import { messagesBody } from './vision.js';

export const weather = {
  name: 'get_weather',
  description: 'The weather in a city, now.',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'Name of the city' } },
    required: ['city'],
  },
};

export const runnable = betaTool({
  name: weather.name,
  description: weather.description,
  inputSchema: weather.input_schema,
  run: () => '18 degrees',
});

const Weather = z.object({ city: z.string(), degrees: z.int() });

const create = (client, model, text, more) =>
  client.messages.create({ model, max_tokens: 100, messages: user(text), ...more });

const stream = (client, model, text, more) =>
  client.messages.stream({ model, max_tokens: 100, messages: user(text), ...more });

const called = (message) => message.content.filter((b) => b.type === 'tool_use').map((b) => [b.name, b.input]);

const basics = {
  async 'messages/plain'(client, model) {
    const reply = await create(client, model, 'Hello');
    assert.deepEqual(reply.content, [{ type: 'text', text: 'Hello there!' }]);
    assert.deepEqual([reply.type, reply.role, reply.model], ['message', 'assistant', model]);
    assert.deepEqual([reply.stop_reason, reply.stop_sequence], ['end_turn', null]);
    assert.equal(reply.usage.output_tokens, 4);
    assert.ok(reply._request_id);
  },

  async 'messages/system-blocks'(client, model) {
    const reply = await create(client, model, 'Hello', {
      system: [{ type: 'text', text: 'Be brief.' }, { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
      metadata: { user_id: 'someone' },
    });
    assert.equal(reply.content[0].text, 'Hello there!');
  },

  async 'messages/stream'(client, model) {
    const events = await collect(await create(client, model, 'Hello', { stream: true }));
    const order = events.map((e) => e.type).filter((type, i, all) => type !== 'ping' && type !== all[i - 1]);
    assert.deepEqual(order, ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop',
      'message_delta', 'message_stop']);
    assert.deepEqual(events[0].message.content, []);
    assert.equal(events.filter((e) => e.delta?.type === 'text_delta').map((e) => e.delta.text).join(''), 'Hello there!');
  },

  async 'messages/stream-helper'(client, model) {
    const events = stream(client, model, 'Hello');
    let text = '';
    events.on('text', (delta) => (text += delta));
    const final = await events.finalMessage();
    assert.equal(text, 'Hello there!');
    assert.equal(final.content[0].text, 'Hello there!');
    assert.deepEqual([final.stop_reason, final.usage.output_tokens], ['end_turn', 4]);
  },

  async 'messages/split-characters'(client, model) {
    assert.equal(await stream(client, model, 'Greet me in pieces').finalText(), 'Grüße 🙂!');
  },

  async 'messages/stop'(client, model) {
    const reply = await create(client, model, 'Please count to five', { stop_sequences: ['ee f'] });
    assert.equal(reply.content[0].text, 'one two thr');
    assert.deepEqual([reply.stop_reason, reply.stop_sequence], ['stop_sequence', 'ee f']);
  },

  async 'messages/length'(client, model) {
    const reply = await create(client, model, 'Please count to five', { max_tokens: 2 });
    assert.deepEqual([reply.content[0].text, reply.stop_reason], ['one two', 'max_tokens']);
  },

  async 'messages/thinking'(client, model) {
    const reply = await create(client, model, 'Please think first',
      { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } });
    assert.deepEqual(reply.content.map((b) => b.type), ['thinking', 'text']);
    assert.equal(reply.content[0].thinking.trim(), 'Two and two make four.');
    assert.equal(typeof reply.content[0].signature, 'string');
  },

  async 'messages/thinking-stream'(client, model) {
    const events = stream(client, model, 'Please think first', { thinking: { type: 'adaptive' } });
    let thoughts = '';
    events.on('thinking', (delta) => (thoughts += delta));
    const final = await events.finalMessage();
    assert.equal(thoughts.trim(), 'Two and two make four.');
    assert.deepEqual(final.content.map((b) => b.type), ['thinking', 'text']);
  },
};

const tools = {
  async 'messages/tools-auto'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris?', { tools: [weather], tool_choice: { type: 'auto' } });
    assert.equal(reply.stop_reason, 'tool_use');
    assert.deepEqual(called(reply), [['get_weather', { city: 'Paris' }]]);
  },

  async 'messages/tools-any'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris?', { tools: [weather], tool_choice: { type: 'any' } });
    assert.deepEqual(called(reply), [['get_weather', { city: 'Paris' }]]);
  },

  async 'messages/tools-named'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris?',
      { tools: [weather], tool_choice: { type: 'tool', name: 'get_weather' } });
    assert.deepEqual(called(reply), [['get_weather', { city: 'Paris' }]]);
  },

  async 'messages/tools-none'(client, model) {
    const reply = await create(client, model, 'Hello', { tools: [weather], tool_choice: { type: 'none' } });
    assert.equal(reply.content[0].text, 'Hello there!');
  },

  async 'messages/two-calls'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris and Rome?', { tools: [weather] });
    assert.deepEqual(called(reply).map(([, input]) => input.city), ['Paris', 'Rome']);
  },

  async 'messages/tools-stream'(client, model) {
    const final = await stream(client, model, 'What is the weather in Paris and Rome?', { tools: [weather] }).finalMessage();
    assert.deepEqual(called(final).map(([, input]) => input.city), ['Paris', 'Rome']);
    assert.equal(final.stop_reason, 'tool_use');
  },

  // The runner first asks for a thread, is refused in the way it knows, and
  // sends the whole history from then on.
  async 'messages/tool-runner'(client, model) {
    const final = await client.beta.messages.toolRunner(
      { model, max_tokens: 100, messages: user('What is the weather in Paris?'), tools: [runnable] });
    assert.equal(final.content[0].text, 'It is 18 degrees in Paris.');
  },

  async 'messages/tool-runner-without-thread'(client, model) {
    const runner = client.beta.messages.toolRunner(
      { model, max_tokens: 100, messages: user('What is the weather in Paris?'), tools: [runnable], thread: false });
    assert.deepEqual((await collect(runner)).map((m) => m.stop_reason), ['tool_use', 'end_turn']);
  },

  async 'messages/tool-runner-stream'(client, model) {
    const runner = client.beta.messages.toolRunner(
      { model, max_tokens: 100, messages: user('What is the weather in Paris?'), tools: [runnable], stream: true });
    let final;
    for await (const events of runner) final = await events.finalMessage();
    assert.equal(final.content[0].text, 'It is 18 degrees in Paris.');
  },

  async 'messages/parse'(client, model) {
    const reply = await client.messages.parse({ model, max_tokens: 100, messages: user('The weather as JSON'),
      output_config: { format: zodOutputFormat(Weather) } });
    assert.deepEqual(reply.parsed_output, { city: 'Paris', degrees: 18 });
  },
};

async function badRequest(promise, pattern) {
  const error = await rejected(Anthropic.BadRequestError, promise);
  assert.equal(error.error.type, 'error');
  assert.equal(error.error.error.type, 'invalid_request_error');
  assert.match(error.error.error.message, pattern);
}

const errors = {
  async 'messages/unknown-model'(client) {
    const error = await rejected(Anthropic.NotFoundError, create(client, 'nosuch', 'Hello'));
    assert.equal(error.error.error.type, 'not_found_error');
    assert.ok(error.requestID);
  },

  'messages/bad-temperature': (client, model) => badRequest(create(client, model, 'Hello', { temperature: 3 }), /temperature/),

  'messages/bad-messages': (client, model) =>
    badRequest(client.messages.create({ model, max_tokens: 100, messages: [] }), /messages/),

  'messages/refused-block': (client, model) => badRequest(create(client, model, [
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hello' } }]), /document/),

  'messages/too-long': (client) => badRequest(create(client, 'tiny', 'a word '.repeat(50)), /^prompt is too long: \d+ tokens > 16 maximum$/),

  'messages/crash': [async (client, model) => {
    const error = await rejected(Anthropic.InternalServerError, create(client, model, 'Please break down'));
    assert.deepEqual([error.status, error.error.error.type], [502, 'api_error']);
  }, { maxRetries: 0 }],

  'messages/crash-stream': [async (client, model) => {
    let text = '';
    const error = await rejected(Anthropic.APIError, (async () => {
      for await (const event of await create(client, model, 'Please break down', { stream: true })) {
        text += event.delta?.text ?? '';
      }
    })());
    assert.equal(text, 'Hello');
    assert.equal(error.error.error.type, 'api_error');
  }, { maxRetries: 0 }],

  async 'messages/image'(client) {
    assert.equal((await client.messages.create(messagesBody('seer', 'red'))).content[0].text, 'It is red.');
  },

  async 'count_tokens/plain'(client, model) {
    const request = { model, messages: user('Hello'), system: 'Be brief.', tools: [weather] };
    const counted = await client.messages.countTokens(request);
    const used = await client.messages.create({ ...request, max_tokens: 100 });
    assert.equal(counted.input_tokens, used.usage.input_tokens);
  },

  'count_tokens/bad-messages': (client, model) => badRequest(client.messages.countTokens({ model, messages: [] }), /messages/),

  async 'models/list'(client) {
    const names = (await collect(client.models.list())).map((m) => m.id);
    for (const name of ['scripted', 'lib/sub:tag', 'tiny']) assert.ok(names.includes(name), name);
  },

  async 'models/retrieve'(client) {
    const one = await client.models.retrieve('lib/sub:tag');
    assert.deepEqual([one.id, one.type], ['lib/sub:tag', 'model']);
    assert.ok(!Number.isNaN(Date.parse(one.created_at)));
  },
};

export const messages = { ...basics, ...tools, ...errors };
