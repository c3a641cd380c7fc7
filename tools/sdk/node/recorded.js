// Holds recorded replies against the type declarations of the vendors' Node SDKs.
//
// usage: node recorded.js FILE
//
// FILE is a JSON list of {id, type, value}; a type is one of TypeScript, such as
// OpenAI.ChatCompletion. For each value that is not exactly what its type says,
// a line {id, problem} is printed.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// openai is the last version that runs on Node 20; declarations need no Node.
const imports = [
  `import type OpenAI from 'openai-newest';`,
  `import type { PageResponse as OpenAIPage } from 'openai-newest/core/pagination';`,
  `import type Anthropic from '@anthropic-ai/sdk';`,
  `import type { PageResponse as AnthropicPage } from '@anthropic-ai/sdk/core/pagination';`,
];
const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', '--pretty', 'false'];

// A literal may have no fields that its type lacks, where a variable may. Each
// has a line of its own, which tsc names.
const cases = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const lines = cases.map(({ type, value }) => `(${JSON.stringify(value)}) satisfies ${type};`);

const folder = mkdtempSync(join('node_modules', '.recorded-')); // where imports are found
let said;
try {
  const file = join(folder, 'cases.ts');
  writeFileSync(file, [...imports, ...lines].join('\n'));
  said = spawnSync(join('node_modules', '.bin', 'tsc'), [...options, file], { encoding: 'utf8', maxBuffer: 1 << 28 });
} finally {
  rmSync(folder, { recursive: true });
}
if (said.error) throw said.error;

const problems = new Map();
let at; // of the last error: its details follow, indented
for (const line of said.stdout.trimEnd().split('\n')) {
  const found = /cases\.ts\((\d+),\d+\): (.*)/.exec(line);
  if (found) at = cases[found[1] - 1 - imports.length].id;
  else if (at === undefined && line) throw new Error(said.stdout);
  if (line) problems.set(at, [...(problems.get(at) ?? []), found?.[2] ?? line]);
}
for (const [id, problem] of problems) console.log(JSON.stringify({ id, problem: problem.join('\n') }));
if (said.status > 2 || said.status && !problems.size) throw new Error(said.stdout + said.stderr);
