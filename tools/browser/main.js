// The pages in headless Chromium.
//
// usage: node main.js CHROMIUM OPEN_URL LOCKED_URL KEY [FOLDER]
//
// OPEN_URL is a server over testdata/script.yaml, LOCKED_URL one with a key and the
// document profile; both end in a slash. Screenshots go to FOLDER.

import { docs } from './docs.js';
import { Harness } from './harness.js';
import { home } from './home.js';

const [chromium, open, locked, key, folder] = process.argv.slice(2);
const harness = await Harness.launch(chromium, folder);
try {
  await home(harness, { open, locked, key });
  await docs(harness, open);
} finally {
  await harness.browser.close();
}
console.log(`${harness.passed} passed, ${harness.failed} failed`);
process.exitCode = harness.failed > 0 ? 1 : 0;
