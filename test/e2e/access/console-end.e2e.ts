import { CommandBus } from '@nestjs/cqrs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UpdateOperator } from '../../../src/contexts/access/application/operator-commands.js';
import { startConsole, type Console } from '../../support/access/console-site.js';
import { CookieClient } from '../../support/access/cookie-client.js';
import { eventually } from '../../support/eventually.js';

const HALF_A_DAY_SECONDS = 43_200;

/** Server-sent events of a console that is open. */
class OpenPage {
  /** When the service ended the stream; null while it is open. */
  endedAt: number | null = null;
  private text = '';

  static async of(site: Console, browser: CookieClient): Promise<OpenPage> {
    const cookie = `console=${browser.cookie('console')}`;
    const response = await fetch(`${site.origin}/live`, { headers: { cookie } });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const page = new OpenPage();
    void page.read(response.body!);
    return page;
  }

  get received(): string {
    return this.text;
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of body) this.text += decoder.decode(bytes);
    this.endedAt = Date.now();
  }
}

describe('the end of a session of the console', () => {
  let site: Console;
  beforeAll(async () => {
    site = await startConsole();
  });
  afterAll(() => site.close());

  it('comes twelve hours after the login', async () => {
    const { browser } = await site.signedIn();
    const session = (await browser.call('/session')).json<{ authenticated_at: string; expires_at: string }>();
    const lasts = Date.parse(session.expires_at) - Date.parse(session.authenticated_at);
    expect(lasts / 1000).toBe(HALF_A_DAY_SECONDS);
    const expire = (seconds: number): Promise<unknown> =>
      site.app.database.query(
        `update access.console_sessions set expires_at = now() + make_interval(secs => $1)`,
        [seconds],
      );
    await expire(30);
    expect((await browser.call('/admin/v1/whoami')).status).toBe(200);
    await expire(-1);
    expect((await browser.call('/session')).status).toBe(401);
    expect((await browser.call('/admin/v1/whoami')).status).toBe(401);
  });

  it.each<readonly [string, (browser: CookieClient, id: string) => Promise<unknown>]>([
    ['the person signs out in another tab', (browser) => browser.post('/logout')],
    [
      'the person is disabled',
      (_, id) => site.app.app.get(CommandBus).execute(new UpdateOperator(id, { status: 'disabled' })),
    ],
  ])('ends the live changes of its pages within two seconds once %s', async (_, end) => {
    const { browser, id } = await site.signedIn('administrator');
    const { browser: other } = await site.signedIn('administrator');
    const [page, otherPage] = [await OpenPage.of(site, browser), await OpenPage.of(site, other)];
    await site.app.newMerchant();
    await eventually(async () => page.received.includes('"kind":"merchant"'));
    const endsAt = Date.now();
    await end(browser, id);
    await eventually(async () => page.endedAt !== null);
    expect(page.endedAt! - endsAt).toBeLessThan(2000);
    expect(otherPage.endedAt).toBeNull();
    expect((await fetch(`${site.origin}/live`)).status).toBe(401);
  });
});

it('a session of the console ends however busy its person is', async () => {
  const site = await startConsole({ CONSOLE_SESSION_SECONDS: '3' });
  try {
    const { browser } = await site.signedIn();
    const began = Date.now();
    await eventually(async () => (await browser.call('/session')).status === 401);
    expect(Date.now() - began).toBeGreaterThan(2000);
    expect(Date.now() - began).toBeLessThan(5000);
  } finally {
    await site.close();
  }
});
