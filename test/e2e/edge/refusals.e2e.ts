import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { EVENT_TYPES } from '../../../src/contexts/webhooks/endpoints/event-types.js';
import { sharedApp } from '../../support/app.js';
import type { ApiResponse, SignedCall } from '../../support/http/signed-client.js';
import { MerchantWebhooks } from '../../support/webhooks/merchant-webhooks.js';

const V1 = '/merchants/v1';
const ROTATE = 'POST webhook_endpoints/ID/rotate_secret';
const URL_OF = { url: 'https://8.8.8.8/hooks' };
const TYPES = EVENT_TYPES.join(', ');
const OBJECT = 'The request body must be a JSON object';

interface Problem {
  readonly status: number;
  readonly detail: string;
  readonly errors: Readonly<Record<string, readonly string[]>>;
}

const app = await sharedApp();

const { merchant } = app;
const endpointId = await new MerchantWebhooks(app, merchant).register(URL_OF.url);
/** Sends a body to an operation such as `PATCH webhook_endpoints/ID`. */
const send = (operation: string, body: string): Promise<ApiResponse> => {
  const [method, path = ''] = operation.split(' ') as [SignedCall['method'], string?];
  return merchant.call({ method, path: `${V1}/${path.replace('ID', endpointId)}`, body });
};
function said(response: ApiResponse): Problem {
  const { status, detail, errors } = response.json();
  return { status, detail, errors };
}
const invalid = (detail: string, errors: Problem['errors'] = {}): Problem => ({
  status: 422,
  detail,
  errors,
});

/** Integrators read these sentences first. Each names the fault and the expected value. */
describe('a refusal', () => {
  it.each<readonly [operation: string, body: string, field: string, message: string | RegExp]>([
    ...['{}', '{"url":"https://8.8.8.8/"}', '{"webhook_endpoint":null}'].map(
      (body) => ['POST webhook_endpoints', body, 'webhook_endpoint', 'is required'] as const,
    ),
    ...['POST webhook_endpoints', 'PATCH webhook_endpoints/ID'].flatMap((operation) =>
      ['[]', '"x"', '7'].map(
        (wrapper) =>
          [operation, `{"webhook_endpoint":${wrapper}}`, 'webhook_endpoint', 'must be an object'] as const,
      ),
    ),
    ['PATCH webhook_endpoints/ID', '{"webhook_endpoint":null}', 'webhook_endpoint', 'must be an object'],
    ['POST webhook_endpoints', '{"webhook_endpoint":{}}', 'url', 'is required'],
    ['POST webhook_endpoints', '{"webhook_endpoint":{"url":null}}', 'url', 'is required'],
    ['POST webhook_endpoints', '{"webhook_endpoint":{"url":7}}', 'url', 'must be a string'],
    ...(
      [
        ['{"url":null}', 'url', 'must be a string'],
        ['{"status":"paused"}', 'status', 'must be one of enabled, disabled'],
        ['{"signing_secret":"whsec_x"}', 'signing_secret', /^cannot be changed/],
        ['{"signing_secret":null}', 'signing_secret', /^cannot be changed/],
      ] as const
    ).map(
      ([changes, ...rest]) =>
        ['PATCH webhook_endpoints/ID', `{"webhook_endpoint":${changes}}`, ...rest] as const,
    ),
    ['POST payouts/report', '{"user_id":"x"}', 'payout', 'is required'],
    ['POST payouts/report', '{"user_id":"x","payout":null}', 'payout', 'is required'],
    ['POST payouts/report', '{"user_id":"x","payout":[]}', 'payout', 'must be an object'],
    ['POST payouts/report', '{"user_id":"x","payout":"x"}', 'payout', 'must be an object'],
    ['POST webhook_endpoints/ID/recover', '{}', 'since', 'is required'],
    ['POST webhook_endpoints/ID/recover', '{"since":7}', 'since', /^must be a date and time such as/],
    [ROTATE, '{"overlap_seconds":"x"}', 'overlap_seconds', 'must be an integer'],
    [ROTATE, '{"overlap_seconds":-1}', 'overlap_seconds', 'must be from 0 to 86400'],
    ['POST sandbox/transfers', '{"amount":"1"}', 'to', 'is required'],
    ['POST sandbox/transfers', '{"to":["x"],"amount":"1"}', 'to', 'must be a string'],
    ['POST users', '{}', 'phone_number', 'is required'],
  ])('of %s %s names the field and its fault: %s %s', async (operation, body, field, message) => {
    const { status, detail, errors } = said(await send(operation, body));
    expect([status, Object.keys(errors)]).toEqual([422, [field]]);
    expect(errors[field]).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)]);
    expect(detail).toBe(`${field} ${errors[field]![0]}`);
  });

  it('names both missing parts of a report', async () => {
    expect(said(await merchant.post(`${V1}/payouts/report`, {}))).toEqual(
      invalid('user_id is required; payout is required', {
        user_id: ['is required'],
        payout: ['is required'],
      }),
    );
  });

  it.each([
    [['payout.received', 'payout.nonsense'], `[1] must be one of ${TYPES}`],
    [['payout.received', 7], `[1] must be one of ${TYPES}`],
    [['payout.received', 'payout.received'], '[1] must not repeat another one'],
    [[], ' must name at least one event type'],
    ['payout.received', ' must be an array of event types'],
  ])('explains why %j is wrong: event_types%s', async (event_types, message) => {
    const refusal = invalid(`event_types${message}`, { event_types: [message.trim()] });
    const body = (more: object) => JSON.stringify({ webhook_endpoint: { ...more, event_types } });
    expect(said(await send('POST webhook_endpoints', body(URL_OF)))).toEqual(refusal);
    expect(said(await send('PATCH webhook_endpoints/ID', body({})))).toEqual(refusal);
  });

  describe.each(['[]', '"text"', '7', 'true', 'null'])('of the body %s', (body) => {
    it.each([
      ...[
        'POST users',
        'POST payouts/report',
        'POST webhook_endpoints',
        'PATCH webhook_endpoints/ID',
        ROTATE,
      ],
      ...['POST webhook_endpoints/ID/recover', 'POST sandbox/transfers'],
    ])('by %s demands an object', async (operation) => {
      expect(said(await send(operation, body))).toEqual(invalid(OBJECT));
    });

    it('by POST /events demands an object, with 400 instead of 422', async () =>
      expect(said(await merchant.post(`${V1}/events`, body))).toEqual({
        status: 400,
        detail: OBJECT,
        errors: {},
      }));
  });
});

describe('an unknown query parameter', () => {
  it.each([
    [
      'payouts',
      /^foo is not a parameter of this list \(user_id, status, transaction_hash, external_id, totals, created_from, /,
    ],
    ['webhook_endpoints', /^foo is not a parameter of this list, which has none$/],
    [
      'webhook_endpoints/ENDPOINT/deliveries',
      /^foo is not a parameter of this list \(status, type, created_from, /,
    ],
    ['users/USER/events', /^foo is not a parameter of this list \(event_name, event_from, event_to, /],
  ])('gets 400 with the known parameters of the list: GET /%s?foo=1', async (path, sentence) => {
    const user = await merchant.post(`${V1}/users`, { phone_number: '+15550001111' }, randomUUID());
    const userId = user.status === 201 ? user.json().user.id : randomUUID();
    const list = `${V1}/${path.replace('ENDPOINT', endpointId).replace('USER', userId)}`;
    for (const query of ['foo=1', 'foo=', 'foo=1&foo=2', 'foo=1&user_id=x'])
      expect(said(await merchant.get(`${list}?${query}`))).toEqual({
        status: 400,
        detail: expect.stringMatching(sentence),
        errors: {},
      });
  });

  it('gets 400 in a list, so that a misspelt filter does not list everything', async () => {
    for (const query of ['User_id=x', 'stauts=pending', 'constructor=x', '__proto__=x', '%66oo=1'])
      expect((await merchant.get(`${V1}/payouts?${query}`)).status).toBe(400);
  });

  it('is ignored outside of lists', async () => {
    for (const path of [`webhook_endpoints/${endpointId}`, `webhook_endpoints/${endpointId}/stats`])
      expect((await merchant.get(`${V1}/${path}?foo=1`)).status).toBe(200);
  });
});
