// The reference at /docs/: one page of each kind.

import assert from 'node:assert/strict';
import { accessible, fits, reachable, shows, sizes, text } from './harness.js';

export async function docs(harness, base) {
  await harness.run('no such page', `${base}docs/none/`, { expected: /status of 404/ }, async (page) => {
    assert.ok((await text(page, 'body')).includes('Not Found'));
    await accessible(page);
    await reachable(page);
    await harness.screenshot(page, 'not-found');
    await Promise.all([page.waitForNavigation(), page.click('a[href="/"]')]);
    await page.waitForSelector('#status');
  });
  await harness.run('docs without a slash', `${base}docs`, {}, async (page) => {
    assert.equal(page.url(), `${base}docs/`);
    await Promise.all([page.waitForNavigation(), page.click('main a')]);
    assert.ok(page.url().startsWith(`${base}docs/`), page.url());
  });
  await search(harness, base);
  for (const at of await kinds(base)) {
    const name = `docs ${at || 'start'}`;
    for (const size of Object.keys(sizes)) {
      for (const dark of [false, true]) {
        await harness.run(`${name} ${size} ${dark ? 'dark' : 'light'}`, `${base}docs/${at}`, { size, dark }, async (page) => {
          await harness.screenshot(page, `${name}-${size}-${dark ? 'dark' : 'light'}`.replaceAll(/[ /]/g, '-'));
          await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
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

async function search(harness, base) {
  for (const size of Object.keys(sizes)) {
    for (const dark of [false, true]) {
      await harness.run(`docs search ${size} ${dark ? 'dark' : 'light'}`, `${base}docs/openai/createChatCompletion.html`, { size, dark }, async (page) => {
        await page.type('#query', 'tool_choice');
        await shows(page, '#found', 'results');
        await fits(page);
        await accessible(page);
        await harness.screenshot(page, `search-${size}-${dark ? 'dark' : 'light'}`);
      });
    }
  }
  await harness.run('docs search by the keyboard', `${base}docs/`, {}, async (page) => {
    await page.focus('#query');
    await page.keyboard.type('stop_sequences');
    await shows(page, '#results', 'stop_sequences');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => document.activeElement.closest('#results')?.id), 'results');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    assert.ok(page.url().startsWith(`${base}docs/anthropic/createMessage.html#`), page.url());
    assert.ok(await page.$(':target'), 'the place in the page does not exist');
  });
  await harness.run('docs search finds nothing', `${base}docs/`, {}, async (page) => {
    await page.type('#query', '<img src=x onerror=alert(1)>');
    await shows(page, '#found', '0 results');
  });
}

// kinds returns the start and the first page of each folder that it links to.
async function kinds(base) {
  const reply = await fetch(`${base}docs/`, { headers: { Accept: 'text/html' } });
  assert.equal(reply.status, 200);
  const links = [...(await reply.text()).matchAll(/href="([^"#?]+)/g)].map((match) => new URL(match[1], `${base}docs/`).href);
  const first = new Map();
  for (const link of links) {
    const [at] = link.startsWith(`${base}docs/`) ? link.slice(`${base}docs/`.length).split('#') : [''];
    if (!at || at === 'index.html' || /\.(css|js|svg|json)$/.test(at)) continue;
    const kind = at.split('/')[0];
    if (!first.has(kind)) first.set(kind, at);
  }
  return ['', ...first.values()];
}
