import { describe, expect, it } from '@jest/globals';
import { ConsoleSite } from '../../support/access/console-site.js';
import { onSharedApp } from '../../support/app.js';

const HALF_A_DAY_SECONDS = 43_200;

describe('the end of a session of the console', () => {
  const site = new ConsoleSite(onSharedApp());

  it('comes twelve hours after the login, however busy its person is', async () => {
    const { browser, id } = await site.signedIn();
    const session = (await browser.call('/session')).json();
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
    const { expires_at } = (await browser.call('/session')).json();
    expect((await browser.call('/admin/v1/whoami')).status).toBe(200);
    expect((await browser.call('/session')).json()).toMatchObject({ expires_at });
    await expire(-1);
    expect((await browser.call('/session')).status).toBe(401);
    expect((await browser.call('/admin/v1/whoami')).status).toBe(401);
  });
});
