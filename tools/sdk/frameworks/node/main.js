// Frameworks for Node against a diglot server; see harness.js.

import { Harness } from './harness.js';
import * as langchain from './langchain.js';
import * as vercel from './vercel.js';

const harness = new Harness(...process.argv.slice(2, 5));
await vercel.run(harness);
await langchain.run(harness);
console.log(`${harness.passed} passed, ${harness.failed} failed`);
process.exit(harness.failed ? 1 : 0);
