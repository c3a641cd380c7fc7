// LangChain for Node. What the model says is in cassettes/script.yaml; here
// stands what the framework made of it.

import assert from 'node:assert/strict';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { z } from 'zod';
import { collect, rejected } from './harness.js';

const apiKey = 'none';

const chat = (address) => (model) => new ChatOpenAI({ model, apiKey, configuration: { baseURL: `${address}/v1` } });
const responses = (address) => (model) => new ChatOpenAI({
  model, apiKey, useResponsesApi: true, configuration: { baseURL: `${address}/v1` } });
const messages = (address) => (model) => new ChatAnthropic({ model, apiKey, anthropicApiUrl: address });

const weather = tool(({ city }) => `18 degrees in ${city}`, {
  name: 'get_weather',
  description: 'The weather in a city, now.',
  schema: z.object({ city: z.string() }),
});

const Weather = z.object({ city: z.string(), degrees: z.number() });

// Asks, runs the calls and sends back the results, until an answer in words.
async function loop(ask, question) {
  const history = [new HumanMessage(question)];
  for (let turn = 0; turn < 3; turn++) {
    const reply = await ask(history);
    history.push(reply);
    if (!reply.tool_calls?.length) return { text: reply.text, history };
    for (const call of reply.tool_calls) {
      history.push(new ToolMessage({ tool_call_id: call.id, content: await weather.invoke(call.args) }));
    }
  }
  assert.fail('no end of calls');
}

async function folded(stream) {
  let whole;
  for await (const chunk of stream) whole = whole ? whole.concat(chunk) : chunk;
  return whole;
}

const cases = (operation, askForObject) => ({
  async [`${operation}/plain`]({ model }) {
    const reply = await model.invoke('Hello');
    assert.equal(reply.text, 'Hello there!');
    assert.equal(reply.usage_metadata.output_tokens, 4);
  },

  async [`${operation}/stream`]({ model }) {
    const chunks = await collect(await model.stream('Hello'));
    assert.equal(chunks.map((c) => c.text).join(''), 'Hello there!');
    assert.ok(chunks.filter((c) => c.text).length > 1, 'the text came in one chunk');
  },

  async [`${operation}/tool-loop`]({ model }) {
    const bound = model.bindTools([weather]);
    const { text, history } = await loop((turns) => bound.invoke(turns), 'What is the weather in Paris?');
    assert.equal(text, 'It is 18 degrees in Paris.');
    assert.deepEqual(history[1].tool_calls.map((c) => [c.name, c.args]), [['get_weather', { city: 'Paris' }]]);
  },

  async [`${operation}/tool-loop-stream`]({ model }) {
    const bound = model.bindTools([weather]);
    const { text } = await loop(async (turns) => folded(await bound.stream(turns)), 'What is the weather in Paris and Rome?');
    assert.equal(text, 'It is 18 degrees in Paris.');
  },

  async [`${operation}/parse`]({ model }) {
    const reply = await model.withStructuredOutput(Weather, { name: 'Weather' }).invoke(askForObject);
    assert.deepEqual(reply, { city: 'Paris', degrees: 18 });
  },

  async [`${operation}/parse-by-tool`]({ model }) {
    const structured = model.withStructuredOutput(Weather, { name: 'Weather', method: 'functionCalling' });
    assert.deepEqual(await structured.invoke('The weather, through the tool Weather'), { city: 'Paris', degrees: 18 });
  },

  async [`${operation}/unknown-model`]({ named }) {
    const error = await rejected(named('nosuch').invoke('Hello'));
    assert.equal(error.status, 404, error.stack);
    assert.match(error.message, /nosuch/);
  },
});

const completions = {
  async 'completions/plain'({ configuration }) {
    const model = new OpenAI({ model: 'scripted', apiKey, configuration });
    assert.equal(await model.invoke('Once upon a time'), ' there was a server.');
  },

  async 'completions/stream'({ configuration }) {
    const model = new OpenAI({ model: 'scripted', apiKey, configuration });
    assert.equal((await collect(await model.stream('Once upon a time'))).join(''), ' there was a server.');
  },
};

const embeddings = {
  async 'embeddings/many'({ configuration }) {
    const model = new OpenAIEmbeddings({ model: 'embedder', apiKey, configuration });
    const vectors = await model.embedDocuments(['one text', 'another text']);
    assert.deepEqual(vectors.map((v) => v.length), [8, 8]);
    assert.notDeepEqual(vectors[0], vectors[1]);
    assert.ok(Math.abs(Math.hypot(...vectors[0]) - 1) < 1e-4, `the length is ${Math.hypot(...vectors[0])}`);
  },
};

export async function run(harness) {
  const make = (provider) => (address, model) => ({ model: provider(address)(model), named: provider(address) });
  await harness.run('langchainjs', 'openai', make(chat), cases('chat', 'The weather as JSON'));
  await harness.run('langchainjs', 'openai', make(responses), cases('responses', 'The weather as JSON'));
  const at = (address) => ({ configuration: { baseURL: `${address}/v1` } });
  await harness.run('langchainjs', 'openai', at, { ...completions, ...embeddings });
  await harness.run('langchainjs', 'anthropic', make(messages), cases('messages', 'The weather, through the tool Weather'));
}
