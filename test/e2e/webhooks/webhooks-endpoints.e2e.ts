import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { Destinations } from '../../../src/contexts/webhooks/endpoints/destinations.store.js';
import { sharedApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { TestReceiver } from '../../support/webhooks/receiver.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';

const PATH = '/merchants/v1/webhook_endpoints';
const DEFAULTS = {
  description: null,
  status: 'enabled',
  event_types: null,
  failure_count: 0,
  disabled_cause: null,
  disabled_at: null,
};

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly signing_secret?: string;
}

const app = await sharedApp();
let merchant: SignedClient;

beforeEach(async () => {
  merchant = await app.newMerchant();
});

const register = (fields: object, key?: string) => merchant.post(PATH, { webhook_endpoint: fields }, key);
async function registered(fields: object = { url: 'https://8.8.8.8/hooks' }): Promise<Endpoint> {
  const response = await register(fields);
  expect(response.status).toBe(201);
  return response.json().webhook_endpoint;
}
function withoutSecret(endpoint: Endpoint): Endpoint {
  const listed: { signing_secret?: string } & Endpoint = { ...endpoint };
  delete listed.signing_secret;
  return listed;
}
const patch = (id: string, webhook_endpoint: unknown) =>
  merchant.call({ method: 'PATCH', path: `${PATH}/${id}`, body: { webhook_endpoint } });
const remove = (id: string) => merchant.call({ method: 'DELETE', path: `${PATH}/${id}` });

describe('POST webhook_endpoints', () => {
  it('201: registers an endpoint and returns the secret this once', async () => {
    const response = await register({ url: 'https://8.8.8.8/hooks', description: 'orders' });
    expect(response.status).toBe(201);
    const { webhook_endpoint } = response.json();
    expect(Object.keys(webhook_endpoint)).toEqual([
      ...['id', 'url', 'description', 'status', 'created_at', 'updated_at', 'event_types', 'failure_count'],
      ...['disabled_cause', 'disabled_at', 'signing_secret'],
    ]);
    expect(webhook_endpoint).toMatchObject({
      ...DEFAULTS,
      url: 'https://8.8.8.8/hooks',
      description: 'orders',
    });
    expect(webhook_endpoint.signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const listed = withoutSecret(webhook_endpoint);
    expect((await merchant.get(`${PATH}/${listed.id}`)).json()).toEqual({ webhook_endpoint: listed });
    expect((await merchant.get(PATH)).json()).toEqual({ webhook_endpoints: [listed] });
  });

  it('201: is replayed byte for byte under its key, and the secret is nowhere in clear', async () => {
    const key = randomUUID();
    const first = await register({ url: 'https://8.8.8.8/' }, key);
    const again = await register({ url: 'https://8.8.8.8/' }, key);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(
      (await merchant.get(PATH)).json<{ webhook_endpoints: unknown[] }>().webhook_endpoints,
    ).toHaveLength(1);
    const secret = first.json().webhook_endpoint.signing_secret!;
    const rows = await app.database.query(
      `select 1 from event_store.responses where position($1 in body) > 0
       union all select 1 from event_store.events where position($1 in data::text) > 0
       union all select 1 from webhooks.endpoint_snapshots where position($1 in endpoint_snapshots::text) > 0`,
      [secret.slice('whsec_'.length)],
    );
    expect(rows).toEqual([]);
  });

  it.each([
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'https://8.8.8.8/', description: 7 }, 'description'],
    [{ url: 'https://8.8.8.8/', description: 'a\0b' }, 'description'],
    [{ url: 'https://8.8.8.8/', description: 'a\nb' }, 'description'],
    // Half of a surrogate pair is no text in PostgreSQL, so that no read model could apply the event.
    [{ url: 'https://8.8.8.8/', description: 'a\ud800b' }, 'description'],
    [{ url: 'https://8.8.8.8/\ud800' }, 'url'],
  ])('422: refuses %j', async (fields, field) => {
    const response = await register(fields);
    expect(response.status).toBe(422);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(Object.keys(response.json().errors)).toEqual([field]);
  });

  it('accepts a description of 255 code points and refuses one of 256', async () => {
    expect((await register({ url: 'https://8.8.8.8/', description: '😀'.repeat(255) })).status).toBe(201);
    expect((await register({ url: 'https://8.8.8.8/', description: '😀'.repeat(256) })).status).toBe(422);
  });

  it('422: refuses an eleventh endpoint, even if twenty race; its key stores the refusal of a wrong url, but not this one', async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => register({ url: `https://8.8.8.8/${index}` })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(responses.filter(({ status }) => status === 422)).toHaveLength(10);
    const [limit, wrong] = [randomUUID(), randomUUID()];
    expect((await register({ url: 'https://8.8.8.8/more' }, limit)).status).toBe(422);
    for (const replayed of [undefined, 'true']) {
      const response = await register({ url: 'https://127.0.0.1.nonsense:99999/' }, wrong);
      expect([response.status, response.headers['idempotent-replayed']]).toEqual([422, replayed]);
    }
    const [first] = (await merchant.get(PATH)).json<{ webhook_endpoints: Endpoint[] }>().webhook_endpoints;
    expect((await remove(first!.id)).status).toBe(204);
    expect((await register({ url: 'https://8.8.8.8/more' }, limit)).status).toBe(201);
  });
});

describe('GET webhook_endpoints', () => {
  it('200: lists the endpoints of the merchant, oldest first, and none of another merchant', async () => {
    const [first, second] = [await registered(), await registered()];
    const { webhook_endpoints } = (await merchant.get(PATH)).json<{ webhook_endpoints: Endpoint[] }>();
    expect(webhook_endpoints).toEqual([first, second].map(withoutSecret));
    expect((await app.secondMerchant.get(PATH)).json()).toEqual({ webhook_endpoints: [] });
  });
});

describe('PATCH webhook_endpoints/{id}', () => {
  it('200: changes only the fields in the body, and returns no secret', async () => {
    const before = withoutSecret(await registered());
    const { id } = before;
    const changes = { url: 'https://8.8.4.4/', description: 'new', status: 'disabled' };
    const response = await patch(id, { ...changes, event_types: ['payout.failed'] });
    expect(response.status).toBe(200);
    const { webhook_endpoint } = response.json();
    expect(webhook_endpoint).toEqual({
      ...before,
      ...changes,
      event_types: ['payout.failed'],
      disabled_cause: 'merchant',
      updated_at: webhook_endpoint.updated_at,
      disabled_at: webhook_endpoint.updated_at,
    });
    expect((await merchant.get(`${PATH}/${id}`)).json()).toEqual({ webhook_endpoint });
  });

  it('200: changes nothing if the body is empty', async () => {
    const before = withoutSecret(await registered());
    const response = await patch(before.id, {});
    expect(response.status).toBe(200);
    expect(response.json()).toEqual({ webhook_endpoint: before });
    const bare = await merchant.call({ method: 'PATCH', path: `${PATH}/${before.id}`, body: {} });
    expect([bare.status, bare.json()]).toEqual([200, { webhook_endpoint: before }]);
  });

  it('200: null clears the description, and subscribes to all event types again', async () => {
    const { id } = await registered({
      url: 'https://8.8.8.8/',
      description: 'old',
      event_types: ['payout.failed'],
    });
    const none = { description: null, event_types: null };
    expect((await patch(id, none)).json()).toMatchObject({ webhook_endpoint: none });
  });
});

describe('DELETE webhook_endpoints/{id}', () => {
  it('204: deletes the endpoint, then 404', async () => {
    const { id } = await registered();
    expect(await remove(id)).toMatchObject({ status: 204, text: '' });
    expect((await remove(id)).status).toBe(404);
    for (const path of [id, `${id}/deliveries`])
      expect((await merchant.get(`${PATH}/${path}`)).status).toBe(404);
  });
});

describe('POST webhook_endpoints/{id}/test_delivery', () => {
  let receiver: TestReceiver;
  beforeEach(async () => {
    receiver = await TestReceiver.start();
  });
  afterEach(() => receiver.stop());

  it.each(['enabled', 'disabled'])('202: sends a test to an endpoint that is %s', async (status) => {
    const { id, signing_secret } = await registered({ url: receiver.url });
    await patch(id, { status });
    const response = await merchant.post(`${PATH}/${id}/test_delivery`);
    expect(response.status).toBe(202);
    const { webhook_delivery } = response.json();
    expect(Object.keys(webhook_delivery)).toEqual(['id', 'type', 'occurred_at', 'data']);
    expect(webhook_delivery).toMatchObject({
      type: 'webhook_endpoint.test',
      data: { webhook_endpoint_id: id },
    });
    await eventually(() => receiver.received.length > 0);
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[0]];
    expect(headers['webhook-id']).toBe(webhook_delivery.id);
    const verified = new Webhook(signing_secret!).verify(body, headers as Record<string, string>);
    expect(verified).toMatchObject(webhook_delivery);
    // A successful delivery does not enable the endpoint.
    expect((await merchant.get(`${PATH}/${id}`)).json()).toMatchObject({ webhook_endpoint: { status } });
  });
});

describe('the failures of an endpoint', () => {
  const none = { failure_count: 0, disabled_cause: null, disabled_at: null };
  let id: string;
  beforeEach(async () => {
    const endpoint = await registered();
    expect(endpoint).toMatchObject(none);
    ({ id } = endpoint);
    await since(24);
  });

  /** Reads failures from the endpoint of the response, or the first one of a list. */
  function failuresIn(response: ApiResponse): typeof none & { readonly disabled_at: unknown } {
    const found = response.json<{ webhook_endpoint?: typeof none; webhook_endpoints?: (typeof none)[] }>();
    const { failure_count, disabled_cause, disabled_at } = (found.webhook_endpoint ??
      found.webhook_endpoints?.[0])!;
    return { failure_count, disabled_cause, disabled_at };
  }

  /** Adds attempts with this outcome that began `hoursAgo`. */
  const attempts = (outcome: string, ...hoursAgo: number[]) =>
    app.database.query(
      `insert into webhooks.attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome)
       select gen_random_uuid(), 1, $1, now() - make_interval(secs => 3600 * hours), 1, $2
       from unnest($3::float8[]) as hours`,
      [id, outcome, hoursAgo],
    );
  /** Moves the start of counted failures `hours` back. */
  const since = (hours: number) =>
    app.database.query(
      'update webhooks.endpoint_snapshots set failures_since = now() - make_interval(hours => $2) where endpoint_id = $1',
      [id, hours],
    );

  it('are counted in every response: those within six hours, since the endpoint was enabled', async () => {
    await attempts('retry', 5.9, 1, 6.1);
    await attempts('exhausted', 0.1, 7);
    await attempts('succeeded', 0.5, 0.2);
    const three = { ...none, failure_count: 3 };
    expect(failuresIn(await merchant.get(`${PATH}/${id}`))).toEqual(three);
    expect(failuresIn(await merchant.get(PATH))).toEqual(three);
    expect(failuresIn(await patch(id, { description: 'x' }))).toEqual(three);
    expect(failuresIn(await merchant.post(`${PATH}/${id}/rotate_secret`))).toEqual(three);
    await since(4);
    expect(failuresIn(await merchant.get(`${PATH}/${id}`))).toEqual({ ...none, failure_count: 2 });
  });

  it('are cleared only by enabling a disabled endpoint, and disabling records when and why once', async () => {
    await attempts('retry', 1, 2);
    expect(failuresIn(await patch(id, { status: 'enabled' }))).toEqual({ ...none, failure_count: 2 });
    const response = await patch(id, { status: 'disabled' });
    const disabled = {
      failure_count: 2,
      disabled_cause: 'merchant',
      disabled_at: response.json().webhook_endpoint.updated_at,
    };
    expect(failuresIn(response)).toEqual(disabled);
    expect(failuresIn(await patch(id, { status: 'disabled', description: 'again' }))).toEqual(disabled);
    expect(failuresIn(await merchant.get(`${PATH}/${id}`))).toEqual(disabled);
    expect(failuresIn(await patch(id, { status: 'enabled' }))).toEqual(none);
    expect(failuresIn(await merchant.get(`${PATH}/${id}`))).toEqual(none);
  });

  it.each([
    ['DELETE', () => remove(id)],
    ['PATCH', () => patch(id, { status: 'disabled' })],
  ])('apply to each attempt that begins after the response to %s', async (_, change) => {
    const senders: Destinations[] = [];
    let responded = false;
    const reading = (async () => {
      while (!responded) {
        const sender = new Destinations(app.database);
        await sender.load(id);
        senders.push(sender);
      }
    })();
    expect((await change()).status).toBeLessThan(300);
    const seen = await Promise.all(senders.map(async (sender) => (await sender.load(id))?.status));
    responded = true;
    await reading;
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).not.toContain('enabled');
  });
});
