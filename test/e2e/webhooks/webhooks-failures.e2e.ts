import { beforeEach, expect, it } from '@jest/globals';
import { Destinations } from '../../../src/contexts/webhooks/store/destinations.js';
import { onTestApp } from '../../support/app.js';
import type { ApiResponse, SignedClient } from '../../support/http/signed-client.js';

const PATH = '/merchants/v1/webhook_endpoints';

interface EndpointBody {
  readonly id: string;
  readonly updated_at: string;
  readonly failure_count: number;
  readonly disabled_cause: string | null;
  readonly disabled_at: string | null;
}

const app = onTestApp();
let merchant: SignedClient;
let id: string;

beforeEach(async () => {
  merchant = await app.newMerchant();
  const response = await merchant.post(PATH, { webhook_endpoint: { url: 'https://8.8.8.8/hooks' } });
  expect(failuresIn(response)).toEqual(none);
  ({ id } = endpointIn(response));
  await since(24);
});

const none = { failure_count: 0, disabled_cause: null, disabled_at: null };

/** The endpoint of the response, the first one of a list. */
function endpointIn(response: ApiResponse): EndpointBody {
  const { webhook_endpoint, webhook_endpoints } = response.json<{
    webhook_endpoint?: EndpointBody;
    webhook_endpoints?: EndpointBody[];
  }>();
  return (webhook_endpoint ?? webhook_endpoints?.[0])!;
}

function failuresIn(
  response: ApiResponse,
): Pick<EndpointBody, 'failure_count' | 'disabled_cause' | 'disabled_at'> {
  const { failure_count, disabled_cause, disabled_at } = endpointIn(response);
  return { failure_count, disabled_cause, disabled_at };
}

const get = () => merchant.get(`${PATH}/${id}`);
const patch = (webhook_endpoint: object) =>
  merchant.call({ method: 'PATCH', path: `${PATH}/${id}`, body: { webhook_endpoint } });

/** Attempts with this outcome that began so many hours ago. */
const attempts = (outcome: string, ...hoursAgo: number[]) =>
  app.database.query(
    `insert into webhooks.attempts (delivery_id, attempt, endpoint_id, started_at, duration_ms, outcome)
     select gen_random_uuid(), 1, $1, now() - make_interval(secs => 3600 * hours), 1, $2
     from unnest($3::float8[]) as hours`,
    [id, outcome, hoursAgo],
  );
/** Failures count since so many hours ago. */
const since = (hours: number) =>
  app.database.query(
    'update webhooks.endpoint_snapshots set failures_since = now() - make_interval(hours => $2) where endpoint_id = $1',
    [id, hours],
  );

it('every response has the failures within six hours, since the endpoint was enabled', async () => {
  await attempts('retry', 5.9, 1, 6.1);
  await attempts('exhausted', 0.1, 7);
  await attempts('succeeded', 0.5, 0.2);
  const three = { ...none, failure_count: 3 };
  expect(failuresIn(await get())).toEqual(three);
  expect(failuresIn(await merchant.get(PATH))).toEqual(three);
  expect(failuresIn(await patch({ description: 'x' }))).toEqual(three);
  expect(failuresIn(await merchant.post(`${PATH}/${id}/rotate_secret`))).toEqual(three);
  await since(4);
  expect(failuresIn(await get())).toEqual({ ...none, failure_count: 2 });
});

it('only enabling what is disabled clears them; disabling says when and why, once', async () => {
  await attempts('retry', 1, 2);
  expect(failuresIn(await patch({ status: 'enabled' }))).toEqual({ ...none, failure_count: 2 });
  const response = await patch({ status: 'disabled' });
  const disabled = {
    failure_count: 2,
    disabled_cause: 'merchant',
    disabled_at: endpointIn(response).updated_at,
  };
  expect(failuresIn(response)).toEqual(disabled);
  expect(failuresIn(await patch({ status: 'disabled', description: 'again' }))).toEqual(disabled);
  expect(failuresIn(await get())).toEqual(disabled);
  expect(failuresIn(await patch({ status: 'enabled' }))).toEqual(none);
  expect(failuresIn(await get())).toEqual(none);
});

it('the failures of an endpoint include none of other endpoints', async () => {
  const other = await merchant.post(PATH, { webhook_endpoint: { url: 'https://8.8.4.4/' } });
  await attempts('retry', 1);
  expect(failuresIn(await merchant.get(`${PATH}/${endpointIn(other).id}`))).toEqual(none);
});

it.each([
  ['DELETE', () => merchant.call({ method: 'DELETE', path: `${PATH}/${id}` })],
  ['PATCH', () => patch({ status: 'disabled' })],
])('after the response to %s no sender goes by what it saw before', async (_, change) => {
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
