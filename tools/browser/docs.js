// The reference at /docs/: one page of each kind.

import assert from 'node:assert/strict';
import { accessible, fits, reachable, sizes, text } from './harness.js';

export async function docs(harness, base) {
  await harness.run('no such page', `${base}docs/none/`, { expected: /status of 404/ }, async (page) => {
    assert.ok((await text(page, 'body')).includes('Not Found'));
    await accessible(page);
    await reachable(page);
    await harness.screenshot(page, 'not-found');
    await page.click('a[href="/"]');
    await page.waitForSelector('#status');
  });
  const pages = await kinds(base);
  for (const at of pages) {
    const name = `docs ${at || 'start'}`;
    for (const size of Object.keys(sizes)) {
      for (const dark of [false, true]) {
        await harness.run(`${name} ${size} ${dark ? 'dark' : 'light'}`, `${base}docs/${at}`, { size, dark }, async (page) => {
          await harness.screenshot(page, `docs-${at.replaceAll('/', '-')}${size}-${dark ? 'dark' : 'light'}`);
          await fits(page);
          await accessible(page);
        });
      }
    }
    await harness.run(`${name} reached by Tab`, `${base}docs/${at}`, {}, (page) => reachable(page));
    await harness.run(`${name} without JavaScript`, `${base}docs/${at}`, { script: false }, async (page) => {
      assert.ok((await text(page, 'main')).length > 200, 'the page is nearly empty');
      await fits(page);
    });
  }
}

// kinds returns the start and the first page of each folder that it links to.
async function kinds(base) {
  const reply = await fetch(`${base}docs/`, { headers: { Accept: 'text/html' } });
  if (reply.status === 404) return [];
  const links = [...(await reply.text()).matchAll(/href="([^"#?]+)/g)].map((match) => new URL(match[1], `${base}docs/`).href);
  const first = new Map();
  for (const link of links) {
    const [at] = link.startsWith(`${base}docs/`) ? link.slice(`${base}docs/`.length).split('#') : [''];
    if (!at || /\.(css|js|svg|json)$/.test(at)) continue;
    const kind = at.split('/')[0];
    if (!first.has(kind)) first.set(kind, at);
  }
  return ['', ...first.values()];
}
