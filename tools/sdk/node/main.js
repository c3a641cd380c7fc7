// The vendors' Node SDKs against a diglot server; see harness.js.

import { agents } from './agents.js';
import * as drawing from './drawing.js';
import { messages } from './anthropic_messages.js';
import { Harness } from './harness.js';
import { chat } from './openai_chat.js';
import { completions, embeddings } from './openai_completions.js';
import { images } from './openai_images.js';
import { responses } from './openai_responses.js';
import * as real from './real.js';
import * as vision from './vision.js';

const harness = new Harness(...process.argv.slice(2, 5));
if (harness.mode === 'real') {
  await harness.run('openai', real.openai);
  await harness.run('anthropic', real.anthropic);
} else if (harness.mode === 'vision') {
  await harness.run('openai', vision.openai);
  await harness.run('anthropic', vision.anthropic);
} else if (harness.mode === 'images') {
  await harness.run('openai', drawing.openai);
} else {
  await harness.run('openai', { ...chat, ...completions, ...embeddings, ...images, ...responses, ...agents.openai });
  await harness.run('anthropic', { ...messages, ...agents.anthropic });
}
console.log(`${harness.passed} passed, ${harness.failed} failed`);
process.exit(harness.failed ? 1 : 0);
