// The vendors' Node SDKs against a diglot server; see harness.js.

import { agents } from './agents.js';
import { messages } from './anthropic_messages.js';
import { Harness } from './harness.js';
import { chat } from './openai_chat.js';
import { completions, embeddings } from './openai_completions.js';
import * as real from './real.js';

const harness = new Harness(...process.argv.slice(2, 5));
if (harness.mode === 'real') {
  await harness.run('openai', real.openai);
  await harness.run('anthropic', real.anthropic);
} else {
  await harness.run('openai', { ...chat, ...completions, ...embeddings, ...agents.openai });
  await harness.run('anthropic', { ...messages, ...agents.anthropic });
}
console.log(`${harness.passed} passed, ${harness.failed} failed`);
process.exit(harness.failed ? 1 : 0);
