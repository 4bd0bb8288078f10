import { describe, expect, it } from '@jest/globals';
import { sharedApp } from '../../support/app.js';
import { createPortalSession, PortalBrowser } from '../../support/http/portal-browser.js';

const reason = 'a test of what is recorded';
const HEX = '0123456789abcdef'.repeat(4);
const BAD = [
  ['a private key', `dsk_${HEX}`],
  ['a private key within a word', `shop_dsk_${HEX}`],
  ['a secret of the exchange, in capitals', `DXS_${HEX}`],
  ['an admin key', `xdsb_test_admin_${'a'.repeat(49)}`],
  ['a signing secret', 'whsec_C2FtcGxl'],
  ['an override of the direction', 'shop \u202egro.live'],
  ['an isolate', 'shop \u2066x\u2069'],
  ['a mark of the direction', 'shop\u200f'],
] as const;

const app = await sharedApp();
const admin = await app.newAdmin();
const { url } = await createPortalSession(app.merchant, { scopes: ['keys:write'] });
const portal = await PortalBrowser.enter(url);

describe('what operators and merchants write', () => {
  it.each(BAD)('is refused with %s in it, and nothing of it is recorded', async (_, bad) => {
    const merchant_id = app.merchant.credentials.apiKey;
    const inner = `x${bad}x`;
    for (const [field, path, body] of [
      ['name', '/merchants', { name: inner, reason }],
      ['name', '/operators', { name: inner, email: 'ada@example.com', role: 'viewer', reason }],
      ['name', '/credentials', { kind: 'payouts', merchant_id, name: inner, reason }],
      ['name', '/credentials', { kind: 'admin', name: inner, reason }],
      ['reason', '/merchants', { name: 'Shop', reason: inner }],
      ['ticket', '/merchants', { name: 'Shop', reason, ticket: inner }],
    ] as const) {
      const response = await admin.post(path, body);
      expect([path, response.status]).toEqual([path, 422]);
      expect(Object.keys(response.json().errors)).toEqual([field]);
    }
    const path = `/merchants/${merchant_id}`;
    const renamed = await admin.change(path, '', { name: inner, reason });
    const displayed = await admin.change(path, '', { embedding: { display_name: inner }, reason });
    const key = await portal.post('/api/v1/keys', { name: inner });
    expect([renamed.status, displayed.status, key.status]).toEqual([422, 422, 422]);
    const session = { actor: { id: '7', name: inner } };
    const { status } = await app.merchant.post('/merchants/v1/portal_sessions', session);
    // Marks of the direction are usual in names of some scripts: they are dropped.
    expect(status).toBe(/[\u200f\u202e\u2066]/.test(bad) ? 201 : 422);
    const [{ text } = { text: '' }] = await app.database.query<{ text: string }>(
      `select coalesce(string_agg(data::text, ' '), '') as text from event_store.events where type like 'operation.%'`,
    );
    expect(text).not.toContain(bad);
  });

  it.each(['', '   '])('names a leaked secret: %j is refused', async (token) => {
    const body = { token, url: 'https://paste.example/1', reason };
    const response = await admin.post('/credentials/revoke_leaked', body);
    expect([response.status, Object.keys(response.json().errors)]).toEqual([
      422,
      ['token'],
    ]);
  });

  it('retries nothing for a user whose onboarding has not begun: 409', async () => {
    const user = await app.merchant.post('/merchants/v1/users', { phone_number: '+15550007001' });
    const { id } = user.json().user;
    const response = await admin.change(`/users/${id}`, '/retry', { reason });
    expect(response.status).toBe(409);
  });
});
