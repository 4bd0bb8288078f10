import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { findChromium } from '../support/browser.js';
import { serveSite } from '../support/other-site.js';
import { PageLab } from '../support/page-lab.js';
import { createUser, onboardingUrl, widgetUrl } from '../support/widget-visitor.js';

const suite = findChromium() === null ? describe.skip : describe;
const ONE_KIB = 1024;
/** A cheap phone compared with the machine of a developer. */
const THROTTLING = 6;
const VISITS = 7;
/** Resolves with the ms from the navigation until the first step can be used. */
const USABLE = `new Promise((resolve) => {
  const check = () =>
    document.querySelector('input[name=phone_number]') && document.querySelector('button[type=submit]')
      ? requestAnimationFrame(() => resolve(performance.now()))
      : setTimeout(check, 1);
  check();
})`;
const STATIC = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Static</title><link rel="icon" href="data:,"><main><h1>Confirm your phone number</h1>
<p>First we send a code to your phone.</p><form><label for="p">Phone number</label>
<input id="p" name="phone_number" type="tel"><button type="submit">Send me a code</button></form></main></html>`;

suite('the weight of the onboarding page', () => {
  let lab: PageLab;
  beforeAll(async () => {
    lab = await PageLab.start();
  });
  afterAll(() => lab?.close());

  it('is a script of less than 80 KiB and a style of less than 10, compressed', async () => {
    const user = await createUser(lab.app.merchant);
    const html = await (await fetch(onboardingUrl(lab.app, user))).text();
    const files = [...html.matchAll(/(?:src|href)="(\/onboarding\/[^"]+)"/g)].map(([, path]) => path!);
    expect(files).toHaveLength(2);
    const sizes: Record<string, number> = {};
    for (const path of files) {
      const response = await fetch(`${widgetUrl(lab.app)}${path}`);
      expect(response.headers.get('content-encoding')).toBe('gzip');
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      sizes[path.split('.').pop()!] = gzipSync(await response.text()).length;
    }
    console.log(`the onboarding page, compressed: ${JSON.stringify(sizes)} bytes`);
    expect(sizes['js']).toBeLessThan(80 * ONE_KIB);
    expect(sizes['css']).toBeLessThan(10 * ONE_KIB);
  });

  it(`can be used within a few times of what a static page takes, on a processor ${THROTTLING} times slower`, async () => {
    const user = await createUser(lab.app.merchant);
    const site = await serveSite(() => STATIC);
    const took = { page: [] as number[], static: [] as number[] };
    try {
      for (let visits = 0; visits < VISITS; visits += 1) {
        for (const [which, url] of [
          ['static', site.origin],
          ['page', onboardingUrl(lab.app, user)],
        ] as const) {
          const { page } = await lab.browser.visit([]);
          const cdp = await page.context().newCDPSession(page);
          await cdp.send('Emulation.setCPUThrottlingRate', { rate: THROTTLING });
          await page.goto(url, { waitUntil: 'commit' });
          took[which].push(await page.evaluate<number>(USABLE));
          await page.context().close();
        }
      }
    } finally {
      site.close();
    }
    const [page, plain] = [median(took.page), median(took.static)];
    console.log(
      `usable after ${page.toFixed(0)} ms, a static page after ${plain.toFixed(0)} ms, ratio ${(page / plain).toFixed(1)}`,
    );
    expect(page / plain).toBeLessThan(4);
  });
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
