// Chat completions and models through the openai package. What the model says
// is in cassettes/script.yaml; here stands what the SDK made of it.

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { LengthFinishReasonError } from 'openai/core/error';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { collect, rejected, user } from './harness.js';
import { chatBody } from './vision.js';

export const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city, now.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city' } },
      required: ['city'],
    },
  },
};

const runnable = {
  type: 'function',
  function: { ...weather.function, parse: JSON.parse, function: () => '18 degrees' },
};

const Weather = z.object({ city: z.string(), degrees: z.int() });

const create = (client, model, text, more) =>
  client.chat.completions.create({ model, messages: user(text), ...more });

const cities = (message) => message.tool_calls.map((c) => JSON.parse(c.function.arguments).city);

const basics = {
  async 'chat/plain'(client, model) {
    const reply = await create(client, model, 'Hello');
    const [choice] = reply.choices;
    assert.equal(choice.message.content, 'Hello there!');
    assert.equal(choice.message.role, 'assistant');
    assert.deepEqual([choice.index, choice.finish_reason, choice.logprobs], [0, 'stop', null]);
    assert.deepEqual([reply.object, reply.model], ['chat.completion', model]);
    assert.equal(reply.usage.completion_tokens, 4);
    assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + 4);
    assert.ok(reply._request_id);
  },

  async 'chat/stream'(client, model) {
    const chunks = await collect(await create(client, model, 'Hello', { stream: true }));
    assert.equal(chunks[0].choices[0].delta.role, 'assistant');
    assert.equal(chunks.map((c) => c.choices[0].delta.content ?? '').join(''), 'Hello there!');
    assert.deepEqual(chunks.map((c) => c.choices[0].finish_reason).filter(Boolean), ['stop']);
  },

  async 'chat/usage-chunk'(client, model) {
    const chunks = await collect(
      await create(client, model, 'Hello', { stream: true, stream_options: { include_usage: true } }));
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.equal(chunks.at(-1).usage.completion_tokens, 4);
  },

  async 'chat/stream-helper'(client, model) {
    const stream = client.chat.completions.stream({ model, messages: user('Hello') });
    let text = '';
    stream.on('content', (delta) => (text += delta));
    const final = await stream.finalChatCompletion();
    assert.equal(text, 'Hello there!');
    assert.equal(final.choices[0].message.content, 'Hello there!');
    assert.equal(final.choices[0].finish_reason, 'stop');
  },

  async 'chat/split-characters'(client, model) {
    const stream = client.chat.completions.stream({ model, messages: user('Greet me in pieces') });
    assert.equal(await stream.finalContent(), 'Grüße 🙂!');
  },

  async 'chat/logprobs'(client, model) {
    const reply = await create(client, model, 'Please count to five', { logprobs: true, top_logprobs: 2 });
    const tokens = reply.choices[0].logprobs.content;
    assert.equal(tokens.map((t) => t.token).join(''), 'one two three four five');
    assert.deepEqual(tokens[0].bytes, [...Buffer.from('one')]);
  },

  async 'chat/choices'(client, model) {
    const reply = await create(client, model, 'Hello', { n: 3 });
    assert.deepEqual(reply.choices.map((c) => [c.index, c.message.content]),
      [0, 1, 2].map((i) => [i, 'Hello there!']));
  },

  async 'chat/stop'(client, model) {
    const reply = await create(client, model, 'Please count to five', { stop: 'ee f' });
    assert.deepEqual([reply.choices[0].message.content, reply.choices[0].finish_reason], ['one two thr', 'stop']);
  },

  async 'chat/length'(client, model) {
    const reply = await create(client, model, 'Please count to five', { max_completion_tokens: 2 });
    assert.deepEqual([reply.choices[0].message.content, reply.choices[0].finish_reason], ['one two', 'length']);
  },

  async 'chat/image'(client) {
    const reply = await client.chat.completions.create(chatBody('seer', 'red'));
    assert.equal(reply.choices[0].message.content, 'It is red.');
  },

  async 'chat/reasoning'(client, model) {
    const stream = await create(client, model, 'Please think first', { stream: true });
    const deltas = (await collect(stream)).map((c) => c.choices[0].delta);
    assert.equal(deltas.map((d) => d.reasoning_content ?? '').join('').trim(), 'Two and two make four.');
    assert.equal(deltas.map((d) => d.content ?? '').join('').trim(), 'It is four.');
  },
};

const tools = {
  async 'chat/tools-auto'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris?', { tools: [weather], tool_choice: 'auto' });
    const [choice] = reply.choices;
    assert.equal(choice.finish_reason, 'tool_calls');
    assert.equal(choice.message.content, null);
    assert.deepEqual(choice.message.tool_calls.map((c) => [c.type, c.function.name]), [['function', 'get_weather']]);
    assert.deepEqual(cities(choice.message), ['Paris']);
  },

  async 'chat/tools-required'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris?', { tools: [weather], tool_choice: 'required' });
    assert.deepEqual(cities(reply.choices[0].message), ['Paris']);
  },

  async 'chat/tools-named'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris?',
      { tools: [weather], tool_choice: { type: 'function', function: { name: 'get_weather' } } });
    assert.deepEqual(cities(reply.choices[0].message), ['Paris']);
  },

  async 'chat/tools-none'(client, model) {
    const reply = await create(client, model, 'Hello', { tools: [weather], tool_choice: 'none' });
    assert.equal(reply.choices[0].message.content, 'Hello there!');
    assert.equal(reply.choices[0].message.tool_calls, undefined);
  },

  async 'chat/two-calls'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris and Rome?', { tools: [weather] });
    assert.deepEqual(cities(reply.choices[0].message), ['Paris', 'Rome']);
  },

  async 'chat/tools-stream'(client, model) {
    const stream = client.chat.completions.stream(
      { model, messages: user('What is the weather in Paris and Rome?'), tools: [weather] });
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0].finish_reason, 'tool_calls');
    assert.deepEqual(cities(final.choices[0].message), ['Paris', 'Rome']);
  },

  async 'chat/tool-runner'(client, model) {
    const runner = client.chat.completions.runTools(
      { model, messages: user('What is the weather in Paris?'), tools: [runnable] });
    assert.equal(await runner.finalContent(), 'It is 18 degrees in Paris.');
  },

  async 'chat/tool-runner-stream'(client, model) {
    const runner = client.chat.completions.runTools(
      { model, messages: user('What is the weather in Paris?'), tools: [runnable], stream: true });
    assert.equal(await runner.finalContent(), 'It is 18 degrees in Paris.');
  },

  async 'chat/json-mode'(client, model) {
    const reply = await create(client, model, 'The weather as JSON', { response_format: { type: 'json_object' } });
    assert.deepEqual(JSON.parse(reply.choices[0].message.content), { city: 'Paris', degrees: 18 });
  },

  async 'chat/parse'(client, model) {
    const reply = await client.chat.completions.parse(
      { model, messages: user('The weather as JSON'), response_format: zodResponseFormat(Weather, 'weather') });
    assert.deepEqual(reply.choices[0].message.parsed, { city: 'Paris', degrees: 18 });
  },

  async 'chat/parse-stream'(client, model) {
    const stream = client.chat.completions.stream(
      { model, messages: user('The weather as JSON'), response_format: zodResponseFormat(Weather, 'weather') });
    const final = await stream.finalChatCompletion();
    assert.deepEqual(final.choices[0].message.parsed, { city: 'Paris', degrees: 18 });
  },

  async 'chat/parse-cut-off'(client, model) {
    await rejected(LengthFinishReasonError, client.chat.completions.parse({
      model, messages: user('The weather as JSON'), max_tokens: 2, response_format: zodResponseFormat(Weather, 'weather') }));
  },
};

const errors = {
  async 'chat/unknown-model'(client) {
    const error = await rejected(OpenAI.NotFoundError, create(client, 'nosuch', 'Hello'));
    assert.equal(error.code, 'model_not_found');
    assert.match(error.message, /nosuch/);
    assert.ok(error.requestID);
  },

  async 'chat/bad-temperature'(client, model) {
    const error = await rejected(OpenAI.BadRequestError, create(client, model, 'Hello', { temperature: 3 }));
    assert.deepEqual([error.type, error.param], ['invalid_request_error', 'temperature']);
  },

  async 'chat/bad-messages'(client, model) {
    const error = await rejected(OpenAI.BadRequestError, client.chat.completions.create({ model, messages: [] }));
    assert.equal(error.param, 'messages');
  },

  async 'chat/refused-field'(client, model) {
    const error = await rejected(OpenAI.BadRequestError, create(client, model, 'Hello',
      { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }));
    assert.match(error.code, /^unsupported_(parameter|value)$/);
    assert.match(error.param, /^(audio|modalities)/);
  },

  async 'chat/too-long'(client) {
    const error = await rejected(OpenAI.BadRequestError, create(client, 'tiny', 'a word '.repeat(50)));
    assert.equal(error.code, 'context_length_exceeded');
  },

  'chat/crash': [async (client, model) => {
    const error = await rejected(OpenAI.InternalServerError, create(client, model, 'Please break down'));
    assert.deepEqual([error.status, error.type], [502, 'server_error']);
  }, { maxRetries: 0 }],

  'chat/crash-stream': [async (client, model) => {
    let text = '';
    const error = await rejected(OpenAI.APIError, (async () => {
      for await (const chunk of await create(client, model, 'Please break down', { stream: true })) {
        text += chunk.choices[0].delta.content ?? '';
      }
    })());
    assert.equal(text, 'Hello');
    assert.equal(error.type, 'server_error');
  }, { maxRetries: 0 }],

  async 'models/list'(client) {
    const names = (await collect(client.models.list())).map((m) => m.id);
    for (const name of ['scripted', 'lib/sub:tag', 'tiny']) assert.ok(names.includes(name), name);
  },

  async 'models/retrieve'(client) {
    const one = await client.models.retrieve('lib/sub:tag');
    assert.deepEqual([one.id, one.object, typeof one.created], ['lib/sub:tag', 'model', 'number']);
  },

  async 'models/unknown'(client) {
    const error = await rejected(OpenAI.NotFoundError, client.models.retrieve('nosuch'));
    assert.equal(error.code, 'model_not_found');
  },
};

export const chat = { ...basics, ...tools, ...errors };
