// Coding agents against a diglot server; see harness.js.

import { claudeCode } from './claude_code.js';
import { codex } from './codex.js';
import { Harness } from './harness.js';

const harness = new Harness(...process.argv.slice(2, 5));
await harness.run('claudecode', 'anthropic', claudeCode);
await harness.run('codex', 'openai', codex);
console.log(`${harness.passed} passed, ${harness.failed} failed`);
process.exit(harness.failed ? 1 : 0);
