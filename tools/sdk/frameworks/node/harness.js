// Runs named cases of frameworks against one server and prints a line for
// each.
//
// usage: node main.js BASE_URL MODEL script|record
//
// A case gets the address of the server, or when recording that of the proxy,
// which takes the case's name from it.

import assert from 'node:assert/strict';

export class Harness {
  passed = 0;
  failed = 0;

  constructor(baseURL, model, mode) {
    this.baseURL = baseURL.replace(/\/$/, '');
    this.model = model;
    this.mode = mode;
  }

  address(client, style, name) {
    return this.mode === 'record' ? `${this.baseURL}/record/${style}/${name}-${client}` : this.baseURL;
  }

  // cases: name -> function of what make makes for the case's address.
  async run(client, style, make, cases) {
    for (const [name, run] of Object.entries(cases)) {
      try {
        await run(make(this.address(client, style, name), this.model));
        this.passed++;
        console.log(`ok   ${client} ${style} ${name}`);
      } catch (error) {
        this.failed++;
        console.log(`FAIL ${client} ${style} ${name}\n${error.stack}`);
      }
    }
  }
}

// The error that a promise is rejected with.
export async function rejected(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail('no error');
}

export async function collect(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}
