// Both packages against a real model. A small model says what it likes, so
// that these cases force the form of the answer (a tool call by tool_choice, a
// schema) and look at nothing else.

import assert from 'node:assert/strict';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { zodResponseFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { runnable, weather as messagesWeather } from './anthropic_messages.js';
import { collect, user } from './harness.js';
import { weather as chatWeather } from './openai_chat.js';

const Weather = z.object({ city: z.string(), degrees: z.int() });
const hello = user('Say hello.');
const ask = user('What is the weather in Paris?');

export const openai = {
  async 'real/plain'(client, model) {
    const reply = await client.chat.completions.create({ model, messages: hello, max_tokens: 16, temperature: 0 });
    assert.ok(reply.choices[0].message.content);
    assert.match(reply.choices[0].finish_reason, /^(stop|length)$/);
  },

  async 'real/stream'(client, model) {
    const body = { model, messages: hello, max_tokens: 16, temperature: 0 };
    const text = await client.chat.completions.stream(body).finalContent();
    const reply = await client.chat.completions.create(body);
    assert.equal(reply.choices[0].message.content, text);
  },

  async 'real/tool-loop'(client, model) {
    const messages = [...ask];
    const first = await client.chat.completions.create({ model, messages, max_tokens: 100, temperature: 0,
      parallel_tool_calls: false, tools: [chatWeather], tool_choice: { type: 'function', function: { name: 'get_weather' } } });
    const [call] = first.choices[0].message.tool_calls;
    assert.equal(typeof JSON.parse(call.function.arguments).city, 'string');
    messages.push(first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: '18 degrees' });
    const second = await client.chat.completions.create({ model, messages, max_tokens: 32, temperature: 0,
      tools: [chatWeather], tool_choice: 'none' });
    assert.ok(second.choices[0].message.content);
  },

  async 'real/parse'(client, model) {
    const reply = await client.chat.completions.parse({ model, messages: user('Paris, 18 degrees.'), max_tokens: 100,
      temperature: 0, response_format: zodResponseFormat(Weather, 'weather') });
    assert.equal(typeof reply.choices[0].message.parsed.degrees, 'number');
  },
};

export const anthropic = {
  async 'real/plain'(client, model) {
    const reply = await client.messages.create({ model, messages: hello, max_tokens: 16, temperature: 0 });
    assert.ok(reply.content[0].text);
    assert.match(reply.stop_reason, /^(end_turn|max_tokens)$/);
  },

  async 'real/stream'(client, model) {
    const body = { model, messages: hello, max_tokens: 16, temperature: 0 };
    const text = await client.messages.stream(body).finalText();
    const reply = await client.messages.create(body);
    assert.equal(reply.content[0].text, text);
  },

  async 'real/tool-loop'(client, model) {
    const body = { model, max_tokens: 100, temperature: 0, tools: [messagesWeather] };
    const first = await client.messages.create({ ...body, messages: ask,
      tool_choice: { type: 'tool', name: 'get_weather', disable_parallel_tool_use: true } });
    assert.equal(first.stop_reason, 'tool_use');
    const call = first.content.at(-1);
    assert.equal(typeof call.input.city, 'string');
    const second = await client.messages.create({ ...body, max_tokens: 32, tool_choice: { type: 'none' }, messages: [
      ...ask,
      { role: 'assistant', content: first.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '18 degrees' }] },
    ] });
    assert.ok(second.content[0].text);
  },

  async 'real/tool-runner'(client, model) {
    const runner = client.beta.messages.toolRunner({ model, max_tokens: 100, temperature: 0, messages: ask,
      tools: [runnable], tool_choice: { type: 'any' }, max_iterations: 2 });
    assert.deepEqual((await collect(runner)).map((m) => m.stop_reason), ['tool_use', 'tool_use']);
  },

  async 'real/parse'(client, model) {
    const reply = await client.messages.parse({ model, max_tokens: 100, temperature: 0,
      messages: user('Paris, 18 degrees.'), output_config: { format: zodOutputFormat(Weather) } });
    assert.equal(typeof reply.parsed_output.degrees, 'number');
  },
};
