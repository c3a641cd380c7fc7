// The Vercel AI SDK through three of its providers. It checks each reply and
// each chunk against schemas of its own, more strictly than the vendors' SDKs.
//
// What the model says is in cassettes/script.yaml; here stands what the
// framework made of it.

import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedMany, generateImage, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { collect, rejected } from './harness.js';

globalThis.AI_SDK_LOG_WARNINGS = false; // it warns of every model whose name it does not know

const apiKey = 'none';

const providers = {
  chat: (address) => createOpenAI({ baseURL: `${address}/v1`, apiKey }).chat,
  responses: (address) => createOpenAI({ baseURL: `${address}/v1`, apiKey }).responses,
  compatible: (address) => createOpenAICompatible({ name: 'diglot', baseURL: `${address}/v1`, apiKey }),
  messages: (address) => createAnthropic({ baseURL: `${address}/v1`, apiKey }),
};

const weather = () => tool({
  description: 'The weather in a city, now.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees in ${city}`,
});

const Weather = z.object({ city: z.string(), degrees: z.number() });

// The cases of one generating operation. How an object is asked for differs:
// by the format of the answer, or through a tool.
const cases = (operation, askForObject) => ({
  async [`${operation}/plain`]({ model }) {
    const reply = await generateText({ model, prompt: 'Hello' });
    assert.equal(reply.text, 'Hello there!');
    assert.equal(reply.finishReason, 'stop');
    assert.equal(reply.usage.outputTokens, 4);
    assert.ok(reply.usage.inputTokens > 0);
  },

  async [`${operation}/stream`]({ model }) {
    const reply = streamText({ model, prompt: 'Hello' });
    const parts = await collect(reply.textStream);
    assert.equal(parts.join(''), 'Hello there!');
    assert.ok(parts.length > 1, 'the text came in one part');
    assert.equal(await reply.finishReason, 'stop');
  },

  async [`${operation}/tool-loop`]({ model }) {
    const reply = await generateText({
      model, prompt: 'What is the weather in Paris?', tools: { get_weather: weather() }, stopWhen: stepCountIs(3) });
    assert.equal(reply.text, 'It is 18 degrees in Paris.');
    assert.deepEqual(reply.steps[0].toolCalls.map((c) => c.input), [{ city: 'Paris' }]);
    assert.deepEqual(reply.steps.map((s) => s.finishReason), ['tool-calls', 'stop']);
  },

  async [`${operation}/tool-loop-stream`]({ model }) {
    const reply = streamText({
      model, prompt: 'What is the weather in Paris?', tools: { get_weather: weather() }, stopWhen: stepCountIs(3) });
    const kinds = new Set((await collect(reply.fullStream)).map((part) => part.type));
    assert.ok(!kinds.has('error') && kinds.has('tool-input-delta') && kinds.has('tool-result'), [...kinds].join());
    assert.equal(await reply.text, 'It is 18 degrees in Paris.');
  },

  async [`${operation}/two-calls`]({ model }) {
    const reply = await generateText({
      model, prompt: 'What is the weather in Paris and Rome?', tools: { get_weather: weather() } });
    assert.deepEqual(reply.toolResults.map((r) => r.output), ['18 degrees in Paris', '18 degrees in Rome']);
  },

  async [`${operation}/parse`]({ model }) {
    const reply = await generateText({ model, prompt: askForObject, output: Output.object({ schema: Weather }) });
    assert.deepEqual(reply.output, { city: 'Paris', degrees: 18 });
  },

  async [`${operation}/parse-stream`]({ model }) {
    const reply = streamText({ model, prompt: askForObject, output: Output.object({ schema: Weather }) });
    const partial = await collect(reply.partialOutputStream);
    assert.deepEqual(partial.at(-1), { city: 'Paris', degrees: 18 });
    assert.deepEqual(await reply.output, { city: 'Paris', degrees: 18 });
  },

  async [`${operation}/unknown-model`]({ named }) {
    const error = await rejected(generateText({ model: named('nosuch'), prompt: 'Hello' }));
    assert.equal(error.statusCode, 404, error.stack);
    assert.match(error.message, /nosuch/);
  },

  async [`${operation}/crash-stream`]({ model }) {
    const reply = streamText({ model, prompt: 'Please break down', onError() {} });
    const parts = await collect(reply.fullStream);
    assert.ok(parts.some((part) => part.type === 'error'), parts.map((p) => p.type).join());
  },
});

const completions = {
  async 'completions/plain'({ provider }) {
    const reply = await generateText({ model: provider.completion('scripted'), prompt: 'Once upon a time' });
    assert.equal(reply.text, ' there was a server.');
    assert.equal(reply.finishReason, 'stop');
  },

  async 'completions/stream'({ provider }) {
    const reply = streamText({ model: provider.completion('scripted'), prompt: 'Once upon a time' });
    assert.equal((await collect(reply.textStream)).join(''), ' there was a server.');
    assert.equal(await reply.finishReason, 'stop');
  },
};

const embeddings = {
  async 'embeddings/many'({ provider }) {
    const reply = await embedMany({ model: provider.embedding('embedder'), values: ['one text', 'another text'] });
    assert.deepEqual(reply.embeddings.map((e) => e.length), [8, 8]);
    assert.notDeepEqual(reply.embeddings[0], reply.embeddings[1]);
    assert.ok(reply.usage.tokens > 0);
  },
};

const images = {
  async 'images/plain'({ provider }) {
    const reply = await generateImage({ model: provider.image('painter'), prompt: 'a green hill', size: '256x128', n: 2 });
    assert.equal(reply.images.length, 2);
    for (const image of reply.images) assert.deepEqual(sizeOf(image.uint8Array), [256, 128]);
  },
};

// Width and height, as a PNG's first chunk has them.
function sizeOf(png) {
  const view = new DataView(png.buffer, png.byteOffset);
  return [view.getUint32(16), view.getUint32(20)];
}

export async function run(harness) {
  const make = (provider) => (address, model) => ({ model: provider(address)(model), named: provider(address) });
  await harness.run('vercel', 'openai', make(providers.chat), cases('chat', 'The weather as JSON'));
  await harness.run('vercel', 'openai', make(providers.responses), cases('responses', 'The weather as JSON'));
  const whole = (address) => ({ provider: createOpenAI({ baseURL: `${address}/v1`, apiKey }) });
  await harness.run('vercel', 'openai', whole, { ...completions, ...embeddings, ...images });
  await harness.run('vercelcompatible', 'openai', make(providers.compatible), cases('chat', 'The weather as JSON'));
  await harness.run('vercel', 'anthropic', make(providers.messages), cases('messages', 'The weather, through the tool json'));
}
