// Responses through the openai package. What the model says is in
// cassettes/script.yaml; here stands what the SDK made of it.

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { collect, rejected, user } from './harness.js';
import { weather } from './openai_chat.js';
import { responsesBody } from './vision.js';

const tool = { type: 'function', strict: false, ...weather.function };
const Weather = z.object({ city: z.string(), degrees: z.int() });

const create = (client, model, input, more) => client.responses.create({ model, input, ...more });
const calls = (reply) => reply.output.filter((item) => item.type === 'function_call');
const cities = (reply) => calls(reply).map((c) => JSON.parse(c.arguments).city);
const paris = 'What is the weather in Paris?';

const basics = {
  async 'responses/plain'(client, model) {
    const reply = await create(client, model, 'Hello');
    assert.equal(reply.output_text, 'Hello there!');
    assert.deepEqual([reply.object, reply.status, reply.model], ['response', 'completed', model]);
    assert.deepEqual(reply.output[0].content[0].annotations, []);
    assert.equal(reply.usage.output_tokens, 4);
    assert.ok(reply._request_id);
  },

  async 'responses/stream'(client, model) {
    const events = await collect(await create(client, model, 'Hello', { stream: true }));
    assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
    assert.deepEqual([events[0].type, events.at(-1).type], ['response.created', 'response.completed']);
    assert.equal(events.filter((e) => e.type === 'response.output_text.delta').map((e) => e.delta).join(''), 'Hello there!');
  },

  async 'responses/stream-helper'(client, model) {
    const stream = client.responses.stream({ model, input: 'Hello' });
    let text = '';
    stream.on('response.output_text.delta', (event) => { text += event.delta; });
    const final = await stream.finalResponse();
    assert.deepEqual([text, final.output_text], ['Hello there!', 'Hello there!']);
  },

  async 'responses/split-characters'(client, model) {
    const final = await client.responses.stream({ model, input: 'Greet me in pieces' }).finalResponse();
    assert.equal(final.output_text, 'Grüße 🙂!');
  },

  async 'responses/reasoning-stream'(client, model) {
    const stream = client.responses.stream({ model, input: 'Please think first', reasoning: { summary: 'auto' } });
    const final = await stream.finalResponse();
    assert.deepEqual(final.output.map((item) => item.type), ['reasoning', 'message']);
    assert.equal(final.output[0].summary[0].text.trim(), 'Two and two make four.');
    assert.equal(final.output_text.trim(), 'It is four.');
  },

  async 'responses/length-stream'(client, model) {
    const events = await collect(
      await create(client, model, 'Please count to five', { max_output_tokens: 2, stream: true }));
    assert.equal(events.at(-1).type, 'response.incomplete');
    assert.equal(events.at(-1).response.incomplete_details.reason, 'max_output_tokens');
  },
};

const tools = {
  async 'responses/tools-auto'(client, model) {
    const reply = await create(client, model, paris, { tools: [tool] });
    assert.deepEqual(calls(reply).map((c) => [c.name, c.status]), [['get_weather', 'completed']]);
    assert.deepEqual(cities(reply), ['Paris']);
  },

  async 'responses/tools-named'(client, model) {
    const reply = await create(client, model, paris, {
      tools: [tool], tool_choice: { type: 'function', name: 'get_weather' } });
    assert.deepEqual(cities(reply), ['Paris']);
  },

  async 'responses/tools-allowed'(client, model) {
    const reply = await create(client, model, paris, {
      tools: [tool, { ...tool, name: 'get_news' }],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'get_weather' }] } });
    assert.deepEqual(cities(reply), ['Paris']);
  },

  async 'responses/two-calls'(client, model) {
    const reply = await create(client, model, 'What is the weather in Paris and Rome?', { tools: [tool] });
    assert.deepEqual(cities(reply), ['Paris', 'Rome']);
    assert.equal(new Set(calls(reply).map((c) => c.call_id)).size, 2);
  },

  async 'responses/tools-stream'(client, model) {
    const stream = client.responses.stream({ model, input: 'What is the weather in Paris and Rome?', tools: [tool] });
    let pieces = '';
    stream.on('response.function_call_arguments.delta', (event) => { pieces += event.delta; });
    const final = await stream.finalResponse();
    assert.deepEqual(cities(final), ['Paris', 'Rome']);
    assert.equal(pieces, calls(final).map((c) => c.arguments).join(''));
  },

  async 'responses/tool-loop'(client, model) {
    const input = user(paris);
    const reply = await create(client, model, input, { tools: [tool] });
    input.push(...reply.output, { type: 'function_call_output', call_id: calls(reply)[0].call_id, output: '18 degrees' });
    assert.equal((await create(client, model, input, { tools: [tool] })).output_text, 'It is 18 degrees in Paris.');
  },
};

const structured = {
  async 'responses/parse'(client, model) {
    const reply = await client.responses.parse(
      { model, input: 'The weather as JSON', text: { format: zodTextFormat(Weather, 'weather') } });
    assert.deepEqual(reply.output_parsed, { city: 'Paris', degrees: 18 });
  },

  async 'responses/parse-stream'(client, model) {
    const stream = client.responses.stream(
      { model, input: 'The weather as JSON', text: { format: zodTextFormat(Weather, 'weather') } });
    assert.deepEqual((await stream.finalResponse()).output_parsed, { city: 'Paris', degrees: 18 });
  },
};

const images = {
  async 'responses/image'(client) {
    assert.equal((await client.responses.create(responsesBody('seer', 'red'))).output_text, 'It is red.');
  },
};

const errors = {
  async 'responses/previous-response'(client, model) {
    const error = await rejected(
      OpenAI.BadRequestError, create(client, model, 'Hello', { previous_response_id: 'resp_1' }));
    assert.equal(error.param, 'previous_response_id');
  },

  async 'responses/bad-temperature'(client, model) {
    const error = await rejected(OpenAI.BadRequestError, create(client, model, 'Hello', { temperature: 3 }));
    assert.deepEqual([error.type, error.param], ['invalid_request_error', 'temperature']);
  },

  async 'responses/unknown-model'(client) {
    const error = await rejected(OpenAI.NotFoundError, create(client, 'nosuch', 'Hello'));
    assert.equal(error.code, 'model_not_found');
  },

  'responses/crash': [async (client, model) => {
    const error = await rejected(OpenAI.InternalServerError, create(client, model, 'Please break down'));
    assert.equal(error.status, 502);
  }, { maxRetries: 0 }],

  'responses/crash-stream': [async (client, model) => {
    const seen = [];
    const read = async () => {
      for await (const event of await create(client, model, 'Please break down', { stream: true })) seen.push(event);
    };
    await rejected(OpenAI.APIError, read());
    assert.equal(seen.at(-1).type, 'response.failed');
  }, { maxRetries: 0 }],
};

export const responses = { ...basics, ...tools, ...structured, ...images, ...errors };
