import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canBrowse, onTestBrowser } from '../../support/http/browser.js';
import { createPortalSession } from '../../support/http/portal-browser.js';
import { HOME, signIn } from '../../support/pages/console-page.js';
import { PageUser, STILL } from '../../support/pages/page-user.js';
import type { Operator } from '../../support/access/console-site.js';
import { PagesService } from '../../support/pages/pages-service.js';
import { hostileTexts, markOf, VICTIM, writeHostile, type HostileData } from './hostile-data.js';

/** `HOSTILE_TEXTS=1000` opens the page of each text in each field; the default is one field per text. */
const COUNT = Number(process.env['HOSTILE_TEXTS'] ?? 100);
const EVERY = process.env['HOSTILE_TEXTS'] === undefined ? 5 : 1;
/** Timeouts of a test, and of the writes before it. */
const [READING_MS, WRITING_MS] = [120_000 + (COUNT / EVERY) * 5_000, 60_000 + COUNT * 3_000];

const PAGE_MS = 15_000 + COUNT * 45;
const RETRY_MS = 5_000;

/** Runs before the scripts of a page and records violations of its policy. */
const WATCH = `reports = []; document.addEventListener('securitypolicyviolation', (event) => reports.push(
  [event.violatedDirective, event.blockedURI, event.sample].join(' ')));`;
/** Elements that exist if a text was parsed as markup. */
const FOREIGN = `document.querySelectorAll(\`script:not([src^="/console/assets/"], [src^="/portal/assets/"]), img, iframe,
  object, embed, base, meta[http-equiv], style, form[action], video, audio, math, template, [srcdoc],
  [href^="javascript:" i], [href^="data:text" i], body [onload], body [onerror], body [onfocus],
  body [ontoggle], body [onmouseover]\`).length`;

(canBrowse() ? describe : describe.skip)('texts of merchants, users and receivers', () => {
  const browser = onTestBrowser();
  const texts = hostileTexts(COUNT);
  const numbers = texts.map((_, number) => number);
  let service: PagesService;
  let data: HostileData;
  let ada: Operator;

  beforeAll(async () => {
    // Processing of the texts is not under test.
    service = await PagesService.start(async () => ({
      PAYOUT_CHECK_INTERVAL_MS: '60000',
      EXCHANGE_CHECK_INTERVAL_MS: '60000',
      RATE_LIMIT_PER_MINUTE: '1000000',
    }));
    ada = await service.newOperator('Ada Operator');
    data = await writeHostile(service, texts);
  }, WRITING_MS);
  afterAll(() => service?.close());

  async function watched(user: PageUser): Promise<PageUser> {
    user.page.on('dialog', (dialog) => {
      user.problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await user.page.addInitScript(WATCH);
    user.page.setDefaultTimeout(PAGE_MS);
    return user;
  }
  const signedIn = async (): Promise<PageUser> => watched(await signIn(browser, service, ada));

  const portal = async (body: object): Promise<PageUser> => {
    const { portalUrl, app } = service;
    const visit = await browser.visit([portalUrl], STILL);
    const user = await watched(new PageUser(visit, portalUrl));
    await user.open((await createPortalSession(app.merchant, body)).url, HOME);
    return user;
  };

  /** No script ran, nothing was refused, nothing is markup. */
  async function expectHarmless(user: PageUser): Promise<void> {
    expect(await user.page.evaluate('[typeof ran, reports, ' + FOREIGN + ']')).toEqual(['undefined', [], 0]);
    expect(user.problems).toEqual([]);
  }

  async function openList(user: PageUser, path: string): Promise<void> {
    await user.open(path);
    await user.settled();
    for (;;) {
      const more = user.page.getByRole('button', { name: 'Load more' });
      if ((await more.count()) === 0) break;
      const before = await user.rows().count();
      await more.click();
      await user.rows().nth(before).waitFor();
    }
  }

  async function expectAll(user: PageUser, displayed: readonly number[]): Promise<void> {
    const text = (await user.page.locator('main').textContent())!;
    expect(displayed.filter((number) => !text.includes(markOf(number)))).toEqual([]);
    await expectHarmless(user);
  }

  /** Follows a link without loading a document. */
  async function go(user: PageUser, path: string, mark: string): Promise<void> {
    await user.page.evaluate(`(() => {
      const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} });
      document.body.append(link);
      link.click();
      link.remove();
    })()`);
    const main = user.page.locator('main');
    const found = main.getByText(mark).first();
    // A session has a limit of pages per minute, which people do not reach.
    const retry = main.getByRole('button', { name: 'Retry' });
    const lacking = async (): Promise<never> => {
      throw new Error(`${path} lacks ${mark}: ${await main.innerText()}`);
    };
    await found.or(retry).first().waitFor().catch(lacking);
    while ((await retry.count()) > 0 && (await main.innerText()).includes('Too many requests')) {
      await sleep(RETRY_MS);
      await retry.click();
      await user.settled();
      const others = user.problems.filter((each) => !each.includes('status of 429'));
      user.problems.splice(0, user.problems.length, ...others);
    }
    await found.waitFor().catch(lacking);
  }

  /** The request log hides names of parameters, which may be values. */
  const textOf = (kind: string, number: number): string =>
    kind === 'requests' ? '? is not a parameter' : markOf(number);

  it.each(['/users', '/merchants', '/orders', '/operations', '/requests'])(
    'hostile texts are displayed as text in the list %s of the console',
    async (path) => {
      const user = await signedIn();
      await openList(user, path);
      // Only the detail pages have the texts.
      if (path === '/requests' || path === '/orders') return expectHarmless(user);
      await expectAll(user, numbers);
    },
    READING_MS,
  );

  it(
    'hostile texts are displayed as text on the detail pages of the console',
    async () => {
      const user = await signedIn();
      await user.open('/', HOME);
      const kinds = Object.entries(data) as [keyof HostileData, readonly string[]][];
      for (const [place, [kind, ids]] of kinds.entries())
        for (const number of numbers.filter((each) => each % EVERY === place % EVERY))
          await go(user, `/${kind}/${ids[number]}`, textOf(kind, number));
      await expectHarmless(user);
    },
    READING_MS,
  );

  it(
    'hostile texts are displayed as text in the lists and on the pages of the portal',
    async () => {
      const user = await portal({});
      await openList(user, `/events?user_external_id=${encodeURIComponent(VICTIM)}`);
      await expectAll(user, numbers);
      await openList(user, '/orders');
      await expectAll(user, numbers);
      for (const path of ['/endpoints', '/requests', '/lookups', '/keys']) {
        await openList(user, path);
        await expectHarmless(user);
      }
      for (const [place, kind] of (['payouts', 'orders', 'deliveries', 'requests'] as const).entries())
        for (const number of numbers.filter((each) => each % EVERY === place % EVERY))
          await go(user, `/${kind}/${data[kind][number]}`, textOf(kind, number));
      await expectHarmless(user);
    },
    READING_MS,
  );

  it(
    'the name of a portal session is displayed as text, and only its return URL is a link',
    async () => {
      const scopes = ['usage:read'];
      const user = await portal({ scopes });
      for (const number of numbers.filter((each) => each % EVERY === 0)) {
        const text = texts[number]!;
        const { url } = await createPortalSession(service.app.merchant, {
          scopes,
          actor: { id: text, name: text },
          return_url: `https://shop.example/${text.replace(/[^ -~]/gu, '')}`,
        });
        // The page reads the code of another link without a reload.
        await user.page.evaluate(
          `history.replaceState(null, '', '/enter'); location.hash = ${JSON.stringify(new URL(url).hash)}`,
        );
        await user.page.getByRole('button', { name: markOf(number) }).waitFor();
        const back = user.page.locator('.side').getByRole('link', { name: 'Back to shop.example' });
        expect(await back.getAttribute('href')).toMatch(/^https:\/\/shop\.example\//);
      }
      await expectHarmless(user);
    },
    READING_MS,
  );

  it.each([
    'javascript:globalThis.ran=1',
    ' javascript:globalThis.ran=1',
    'data:text/html,x',
    '//evil.example',
    'https://a@evil.example',
  ])('the return URL %s of a portal session is refused', async (return_url) => {
    const response = await service.app.merchant.post('/merchants/v1/portal_sessions', { return_url });
    expect(response.status).toBe(422);
  });
});
