// Runs named cases against one server and prints a line for each.
//
// usage: node main.js BASE_URL MODEL script|real|vision|record
//
// Every case gets a client of its own. When recording, the case's name stands
// in its base URL, where the recording proxy takes it from.

import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const makers = {
  openai: (address, options) => new OpenAI({ baseURL: `${address}/v1`, apiKey: 'none', ...options }),
  anthropic: (address, options) => new Anthropic({ baseURL: address, apiKey: 'none', ...options }),
};

export class Harness {
  passed = 0;
  failed = 0;

  constructor(baseURL, model, mode) {
    this.baseURL = baseURL.replace(/\/$/, '');
    this.model = model;
    this.mode = mode;
  }

  address(style, name) {
    return this.mode === 'record' ? `${this.baseURL}/record/${style}/${name}-node` : this.baseURL;
  }

  // cases: name -> function of a client and the model's name, or [function, client options].
  async run(style, cases) {
    for (const [name, entry] of Object.entries(cases)) {
      const [run, options] = [entry].flat();
      try {
        await run(makers[style](this.address(style, name), options), this.model);
        this.passed++;
        console.log(`ok   node ${style} ${name}`);
      } catch (error) {
        this.failed++;
        console.log(`FAIL node ${style} ${name}\n${error.stack}`);
      }
    }
  }
}

export const user = (text) => [{ role: 'user', content: text }];

// The error of exactly the given class that a promise is rejected with.
export async function rejected(kind, promise) {
  try {
    await promise;
  } catch (error) {
    assert.equal(error.constructor.name, kind.name, error.stack);
    return error;
  }
  assert.fail(`no ${kind.name}`);
}

export async function collect(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}
