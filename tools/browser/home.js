// The page at /: what it shows, and prompts that it plays.

import assert from 'node:assert/strict';
import { accessible, fits, reachable, shows, sizes, text } from './harness.js';

const styles = {
  chat: { path: '/v1/chat/completions', events: ['"object":"chat.completion.chunk"', 'data: [DONE]'] },
  responses: { path: '/v1/responses', events: ['event: response.created', 'event: response.completed'] },
  messages: { path: '/v1/messages', events: ['event: message_start', 'event: message_stop'] },
};

async function ask(page, prompt, style = 'chat', model = 'scripted') {
  await page.click(`[name=style][value=${style}]`);
  await page.select('#model', model);
  await page.$eval('#prompt', (element, value) => {
    element.value = value; // typing thousands of words would take minutes
    element.dispatchEvent(new Event('input', { bubbles: true }));
  }, prompt);
  await page.click('#send');
}

const ready = (page) => page.waitForFunction(() => document.getElementById('stop').disabled && document.getElementById('answer').ariaBusy === 'false');

// open is a server without keys, and locked one that wants a key and keeps to the
// document profile.
export async function home(harness, { open, locked, key }) {
  await looks(harness, open);
  await plays(harness, open);
  await byKeyboard(harness, open);
  await withoutScript(harness, open, locked);
  await withKey(harness, locked, key);
}

async function looks(harness, url) {
  for (const size of Object.keys(sizes)) {
    for (const dark of [false, true]) {
      const name = `home ${size} ${dark ? 'dark' : 'light'}`;
      await harness.run(name, url, { size, dark }, async (page) => {
        await fits(page);
        await accessible(page);
        await ask(page, 'a long one');
        await shows(page, '#progress', 'Finished: stop');
        await harness.screenshot(page, name.replaceAll(' ', '-'));
        await fits(page);
        await accessible(page);
      });
    }
  }
}

async function plays(harness, url) {
  for (const [style, { path, events }] of Object.entries(styles)) {
    await harness.run(`home streams ${style}`, url, {}, async (page) => {
      await ask(page, 'Hi', style);
      await shows(page, '#progress', 'Finished: ');
      assert.equal(await text(page, '#answer'), 'Hello there!');
      assert.match(await text(page, '#progress'), / \d+ prompt tokens, 4 completion tokens, /);
      const raw = await text(page, '#events');
      for (const want of ['HTTP 200', 'content-type: text/event-stream', 'x-request-id: req_', ...events]) assert.ok(raw.includes(want), `${want} is not in ${raw}`);
      const request = await text(page, '#request');
      for (const want of [new URL(path, url).href, '"model": "scripted"', '"Hi"', '"stream": true']) assert.ok(request.includes(want), `${want} is not in ${request}`);
      await ready(page);
    });
    await harness.run(`home ${style} by a system prompt and a limit`, url, {}, async (page) => {
      await page.type('#system', "Don't hurry.");
      await page.$eval('#max', (element) => (element.value = ''));
      await page.type('#max', '2');
      await ask(page, 'Hi', style);
      await shows(page, '#progress', '2 completion tokens');
      assert.equal(await text(page, '#answer'), 'Hello');
      assert.ok((await text(page, '#request')).includes(`Don'\\''t hurry.`));
    });
    await harness.run(`home ${style} shows reasoning`, url, {}, async (page) => {
      await ask(page, 'think first', style);
      await shows(page, '#answer', 'It is four.');
      await page.click('#reasoning summary');
      await shows(page, '#reasoning-text', 'Two and two make four.');
    });
    await harness.run(`home ${style} keeps text text`, url, {}, async (page) => {
      await ask(page, 'markup', style);
      await shows(page, '#progress', 'Finished: ');
      const want = '<script>window.broken = 1</script><img src=x onerror="window.broken = 2"> <b>bold</b> & &amp; done';
      assert.equal(await text(page, '#answer'), want);
      assert.equal(await page.evaluate(() => window.broken), undefined);
      assert.equal(await page.evaluate(() => document.querySelectorAll('#try img, #try script, #try b').length), 0);
    });
    await harness.run(`home ${style} stops`, url, {}, async (page) => {
      await ask(page, 'slowly', style);
      await shows(page, '#answer', 'One two');
      assert.equal(await page.$eval('#answer', (element) => element.ariaBusy), 'true');
      await page.click('#stop');
      await shows(page, '#progress', 'Stopped.');
      assert.equal(await text(page, '#answer'), 'One two');
      await ready(page);
      await ask(page, 'Hi', style);
      await shows(page, '#answer', 'Hello there!');
    });
    await harness.run(`home ${style} shows an error`, url, { expected: /status of 400/ }, async (page) => {
      await ask(page, 'word '.repeat(5000), style, 'a/model-with-a-rather-long-name-as-registries-have-them-instruct:q4_k_m');
      await shows(page, '#progress', 'rompt is too long');
      await shows(page, '#events', 'HTTP 400');
      await shows(page, '#events', '"error"');
      await accessible(page);
    });
  }
}

async function byKeyboard(harness, url) {
  await harness.run('home reached by Tab', url, {}, (page) => reachable(page));
  await harness.run('home skips to its content', url, {}, async (page) => {
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  });
  await harness.run('home by the keyboard alone', url, {}, async (page) => {
    await page.focus('[name=style][value=chat]');
    await page.keyboard.press('ArrowRight');
    await page.focus('#model');
    await page.keyboard.type('scripted');
    await page.focus('#prompt');
    await page.keyboard.type('slowly');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await shows(page, '#answer', 'One two');
    assert.ok((await text(page, '#request')).includes('/v1/responses'));
    await page.focus('#stop');
    await page.keyboard.press('Enter');
    await shows(page, '#progress', 'Stopped.');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'send', 'the focus is lost');
    await page.keyboard.press('Enter');
    await shows(page, '#progress', 'Streaming');
  });
  await harness.run('home for a screen reader', url, {}, async (page) => {
    const tree = [];
    const collect = (node) => {
      tree.push(`${node.role} ${node.name}`);
      node.children?.forEach(collect);
    };
    collect(await page.accessibility.snapshot());
    for (const want of ['textbox Prompt', 'combobox Model', 'spinbutton Max tokens', 'radio Messages', 'button Send', 'heading Models']) {
      assert.ok(tree.some((node) => node.startsWith(want)), `${want} is not in\n${tree.join('\n')}`);
    }
    assert.equal(await page.$eval('#answer', (element) => element.ariaLive), 'polite');
  });
}

async function withoutScript(harness, open, locked) {
  for (const size of Object.keys(sizes)) {
    await harness.run(`home without JavaScript ${size}`, open, { size, script: false }, async (page) => {
      const shown = await text(page, 'body');
      for (const want of ['scripted', '200,000', 'needs JavaScript', 'curl -N ', 'OpenAI clients']) assert.ok(shown.includes(want), `${want} is not in ${shown}`);
      assert.ok(!shown.includes('Send'), 'there is a form without effect');
      await fits(page);
      await harness.screenshot(page, `home-${size}-without-script`);
    });
  }
  await harness.run('home without JavaScript and key', locked, { script: false }, async (page) => {
    const shown = await text(page, 'body');
    assert.ok(shown.includes('needs an API key') && !shown.includes('scripted'), shown);
  });
}

async function withKey(harness, url, key) {
  await harness.run('home wants a key', url, {}, async (page) => {
    await accessible(page);
    await reachable(page);
    await harness.screenshot(page, 'home-key');
    assert.ok((await text(page, 'body')).includes('document profile'));
    assert.equal(await page.$eval('#model', (element) => element.length), 0);
    assert.ok(await page.$eval('#send', (element) => element.disabled));
    await page.type('#key-field', key);
    await page.keyboard.press('Enter');
    await shows(page, '#status', 'scripted');
    assert.ok(!(await page.content()).includes(key), 'the key is shown');
    for (const style of Object.keys(styles)) {
      await ask(page, 'Hi', style);
      await shows(page, '#answer', 'Hello there!');
      await shows(page, '#request', '$DIGLOT_API_KEY');
      await ready(page);
    }
    const kept = await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length, location.href]);
    assert.deepEqual(kept, ['', 0, 0, url]);
    await page.reload();
    assert.equal(await page.$eval('#key-field', (element) => element.value), '');
    assert.ok(!(await text(page, 'body')).includes('scripted'));
  });
  await harness.run('home with a key that became wrong', url, { expected: /status of 401/ }, async (page) => {
    await page.type('#key-field', key);
    await page.keyboard.press('Enter');
    await shows(page, '#status', 'scripted');
    await page.$eval('#key-field', (element) => (element.value = 'wrong'));
    await ask(page, 'Hi');
    await shows(page, '#progress', 'Incorrect or missing API key');
    await shows(page, '#events', 'HTTP 401');
    await shows(page, '#status', 'needs an API key');
  });
}
