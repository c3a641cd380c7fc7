// Gives agents small tasks in folders of their own and prints a line for each.
//
// usage: node main.js BASE_URL MODEL script|record
//
// An agent gets an empty home, and no word of this machine's environment but
// where its programs are. When recording, the task's name stands in the base
// URL, where the recording proxy takes it from.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const minute = 60_000;

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

  // tasks: name -> function of a place to work in, the server's address and the model's name.
  async run(client, style, tasks) {
    for (const [name, task] of Object.entries(tasks)) {
      const place = await newPlace();
      try {
        await task(place, this.address(client, style, name), this.model);
        this.passed++;
        console.log(`ok   ${client} ${style} ${name}`);
      } catch (error) {
        this.failed++;
        console.log(`FAIL ${client} ${style} ${name}\n${error.stack}`);
      } finally {
        await rm(place.folder, { recursive: true, force: true });
      }
    }
  }
}

async function newPlace() {
  const folder = await mkdtemp(join(tmpdir(), 'diglot-agent-'));
  const place = { folder, home: join(folder, 'home'), work: join(folder, 'work') };
  await mkdir(place.home);
  await mkdir(place.work);
  return place;
}

// What a program, given as name of a package's command, said and how it ended.
export function execute(place, program, args, env) {
  const child = spawn(join(import.meta.dirname, 'node_modules', '.bin', program), args, {
    cwd: place.work,
    env: { PATH: process.env.PATH, HOME: place.home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 2 * minute,
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (bytes) => { said.stdout += bytes; });
  child.stderr.on('data', (bytes) => { said.stderr += bytes; });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ ...said, code, signal }));
  });
}

// The end of a task that was done.
export function succeeded(end) {
  assert.equal(end.code, 0, `ended with ${end.code ?? end.signal}\n${end.stdout}\n${end.stderr}`);
  return end;
}
