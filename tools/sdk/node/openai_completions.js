// Completions and embeddings through the openai package. What the model says
// is in cassettes/script.yaml; here stands what the SDK made of it.

import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { collect, rejected } from './harness.js';

const prompt = 'Once upon a time';

export const completions = {
  async 'completions/plain'(client, model) {
    const reply = await client.completions.create({ model, prompt });
    assert.deepEqual([reply.choices[0].text, reply.choices[0].finish_reason], [' there was a server.', 'stop']);
    assert.equal(reply.object, 'text_completion');
    assert.equal(reply.usage.completion_tokens, 4);
  },

  async 'completions/stream'(client, model) {
    const chunks = await collect(await client.completions.create({ model, prompt, stream: true }));
    assert.equal(chunks.map((c) => c.choices[0].text).join(''), ' there was a server.');
    assert.deepEqual(chunks.map((c) => c.choices[0].finish_reason).filter(Boolean), ['stop']);
  },

  async 'completions/usage-chunk'(client, model) {
    const chunks = await collect(
      await client.completions.create({ model, prompt, stream: true, stream_options: { include_usage: true } }));
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.equal(chunks.at(-1).usage.completion_tokens, 4);
  },

  async 'completions/echo-logprobs'(client, model) {
    const reply = await client.completions.create({ model, prompt, echo: true, logprobs: 2 });
    const { text, logprobs } = reply.choices[0];
    assert.equal(text, 'Once upon a time there was a server.');
    assert.equal(logprobs.tokens.join(''), text);
    assert.deepEqual(logprobs.text_offset, logprobs.tokens.map((_, i) => logprobs.tokens.slice(0, i).join('').length));
  },

  async 'completions/suffix'(client, model) {
    const reply = await client.completions.create({ model, prompt: 'def add(a, b): return ', suffix: '  # the sum' });
    assert.equal(reply.choices[0].text, 'a + b');
  },

  async 'completions/stop'(client, model) {
    const reply = await client.completions.create({ model, prompt: 'Please count to five', stop: 'ee f' });
    assert.equal(reply.choices[0].text, 'one two thr');
  },

  async 'completions/unknown-model'(client) {
    const error = await rejected(OpenAI.NotFoundError, client.completions.create({ model: 'nosuch', prompt }));
    assert.equal(error.code, 'model_not_found');
  },

  'completions/crash-stream': [async (client, model) => {
    const stream = await client.completions.create({ model, prompt: 'Please break down', stream: true });
    await rejected(OpenAI.APIError, collect(stream));
  }, { maxRetries: 0 }],
};

export const embeddings = {
  async 'embeddings/plain'(client) {
    // The package asks for base64 and decodes it itself.
    const reply = await client.embeddings.create({ model: 'embedder', input: 'one text' });
    const [{ embedding, index }] = reply.data;
    assert.deepEqual([embedding.length, index], [8, 0]);
    assert.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-4, `the length is ${Math.hypot(...embedding)}`);
  },

  async 'embeddings/many'(client) {
    const reply = await client.embeddings.create(
      { model: 'embedder', input: ['one text', 'another text'], encoding_format: 'float' });
    assert.deepEqual(reply.data.map((d) => [d.index, d.embedding.length]), [[0, 8], [1, 8]]);
    assert.equal(reply.usage.prompt_tokens, 4);
  },

  async 'embeddings/tokens'(client) {
    const reply = await client.embeddings.create({ model: 'embedder', input: [[1, 2, 3], [4]] });
    assert.deepEqual([reply.data.length, reply.usage.prompt_tokens], [2, 4]);
  },

  async 'embeddings/bad-dimensions'(client) {
    const error = await rejected(
      OpenAI.BadRequestError, client.embeddings.create({ model: 'embedder', input: 'one text', dimensions: 9 }));
    assert.equal(error.param, 'dimensions');
  },

  async 'embeddings/unknown-model'(client) {
    const error = await rejected(OpenAI.NotFoundError, client.embeddings.create({ model: 'nosuch', input: 'one text' }));
    assert.equal(error.code, 'model_not_found');
  },
};
