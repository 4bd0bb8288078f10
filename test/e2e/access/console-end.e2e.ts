import { CommandBus } from '@nestjs/cqrs';
import { describe, expect, it } from '@jest/globals';
import { UpdateOperator } from '../../../src/contexts/access/application/operator-commands.js';
import { ConsoleSite } from '../../support/access/console-site.js';
import type { CookieClient } from '../../support/access/cookie-client.js';
import { onSharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';

const HALF_A_DAY_SECONDS = 43_200;

/** Server-sent events of a console that is open. */
class OpenPage {
  hasEnded = false;
  private text = '';

  static async of(site: ConsoleSite, browser: CookieClient): Promise<OpenPage> {
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
    this.hasEnded = true;
  }
}

describe('the end of a session of the console', () => {
  const site = new ConsoleSite(onSharedApp());
  const disable = (_: CookieClient, id: string): Promise<unknown> =>
    site.app.app.get(CommandBus).execute(new UpdateOperator(id, { status: 'disabled' }));

  it('comes twelve hours after the login, however busy its person is', async () => {
    const { browser, id } = await site.signedIn();
    const session = (await browser.call('/session')).json<{ authenticated_at: string; expires_at: string }>();
    const lasts = Date.parse(session.expires_at) - Date.parse(session.authenticated_at);
    expect(lasts / 1000).toBe(HALF_A_DAY_SECONDS);
    const expire = (minutes: number): Promise<unknown> =>
      site.app.database.query(
        `update access.console_sessions
         set expires_at = now() + make_interval(mins => $1), last_seen_at = now() - interval '1 minute'
         where operator_id = $2`,
        [minutes, id],
      );
    await expire(5);
    const { expires_at } = (await browser.call('/session')).json<{ expires_at: string }>();
    expect((await browser.call('/admin/v1/whoami')).status).toBe(200);
    expect((await browser.call('/session')).json()).toMatchObject({ expires_at });
    await expire(-1);
    expect((await browser.call('/session')).status).toBe(401);
    expect((await browser.call('/admin/v1/whoami')).status).toBe(401);
  });

  it.each<readonly [string, (browser: CookieClient, id: string) => Promise<unknown>]>([
    ['the person signs out in another tab', (browser) => browser.post('/logout')],
    ['the person is disabled', disable],
  ])('ends the live changes of its pages once %s', async (_, end) => {
    const { browser, id } = await site.signedIn('administrator');
    const { browser: other } = await site.signedIn('administrator');
    const [page, otherPage] = [await OpenPage.of(site, browser), await OpenPage.of(site, other)];
    await site.app.newMerchant();
    await eventually(() => page.received.includes('"kind":"merchant"'));
    await end(browser, id);
    await eventually(() => page.hasEnded);
    expect(otherPage.hasEnded).toBe(false);
    expect((await fetch(`${site.origin}/live`)).status).toBe(401);
    await other.post('/logout');
  });
});
