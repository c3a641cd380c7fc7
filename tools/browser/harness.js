// Runs named cases, each in a page of its own, and prints a line for each. A case
// fails, too, if its page asked another server for something, wrote an error to the
// console, violated its Content-Security-Policy, or threw.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import puppeteer from 'puppeteer-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const sizes = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 360, height: 740, isMobile: true, hasTouch: true },
};

export class Harness {
  passed = 0;
  failed = 0;

  // folder: where screenshots go; empty: nowhere.
  static async launch(executablePath, folder) {
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []; // Chromium has no sandbox for root
    const harness = new Harness();
    harness.browser = await puppeteer.launch({ executablePath, args });
    harness.folder = folder;
    return harness;
  }

  // options: size, dark, script (false: JavaScript is off), expected (a pattern of
  // console errors that the case provokes).
  async run(name, url, options, body) {
    const start = performance.now();
    const context = await this.browser.createBrowserContext();
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const problems = watch(page, new URL(url).origin, options.expected);
      await page.setViewport(sizes[options.size ?? 'desktop']);
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: options.dark ? 'dark' : 'light' }]);
      await page.setJavaScriptEnabled(options.script !== false);
      await page.goto(url);
      await body(page);
      assert.deepEqual(problems, []);
      this.passed++;
      console.log(`ok   ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.failed++;
      console.log(`FAIL ${name}\n${error.stack}`);
    } finally {
      await context.close();
    }
  }

  async screenshot(page, name) {
    if (!this.folder) return;
    const { width, height } = await page.evaluate(() => ({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight }));
    const clip = { x: 0, y: 0, width, height: Math.min(height, 3000) }; // what a person looks at
    await page.screenshot({ path: path.join(this.folder, `${name}.png`), captureBeyondViewport: true, clip });
  }
}

// watch collects what no page may do.
function watch(page, origin, expected) {
  const problems = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:')) problems.push(`asked for ${request.url()}`);
  });
  page.on('console', (message) => {
    // A violated policy is an error on the console as well.
    if (['error', 'warn'].includes(message.type()) && !expected?.test(message.text())) problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`thrown: ${error}`));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return problems;
}

// accessible wants nothing serious from axe.
export async function accessible(page) {
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  assert.ok(passes.length > 5, `axe checked only ${passes.length} rules`);
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html}`));
  assert.deepEqual(found, []);
}

// fits wants a page that is not scrolled sideways.
export async function fits(page) {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const scrolls = (element) => element && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
    return [...document.body.querySelectorAll('*')]
      .filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
      .map((element) => element.outerHTML.slice(0, 120));
  });
  assert.deepEqual(wide, []);
}

// walk presses Tab until the focus is back where it began, and returns what had it. A
// group of radio buttons has one stop.
export async function walk(page) {
  const stops = [];
  for (let i = 0; i < 2000; i++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === document.body) return null;
      const again = element.dataset.walked === 'true';
      element.dataset.walked = 'true';
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      return {
        again,
        html: element.outerHTML.slice(0, 120),
        visible: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && box.width > 0 && box.right > 0,
      };
    });
    if (!stop || stop.again) break;
    stops.push(stop);
  }
  return stops;
}

// reachable wants each control of the page to be met by Tab, with its focus to be seen.
export async function reachable(page) {
  const stops = await walk(page);
  assert.ok(stops.length > 0, 'Tab meets nothing');
  assert.deepEqual(stops.filter((stop) => !stop.visible), []);
  const missed = await page.evaluate(() => {
    const controls = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
    const shown = (element) => element.checkVisibility() && !element.disabled && element.tabIndex >= 0;
    const radio = (element) => element.type === 'radio' && document.querySelector(`[name="${element.name}"][data-walked]`);
    return [...document.querySelectorAll(controls)]
      .filter((element) => shown(element) && !element.dataset.walked && !radio(element))
      .map((element) => element.outerHTML.slice(0, 120));
  });
  assert.deepEqual(missed, []);
}

// text is what a person reads in an element.
export const text = (page, selector) => page.$eval(selector, (element) => element.innerText);

// shows waits for a text in an element.
export async function shows(page, selector, want) {
  try {
    await page.waitForFunction((at, part) => document.querySelector(at)?.innerText.includes(part), {}, selector, want);
  } catch {
    assert.fail(`${selector} lacks ${JSON.stringify(want)}; it has ${JSON.stringify(await text(page, selector))}`);
  }
}
