import { randomUUID } from 'node:crypto';
import type { Credentials, SignedClient } from '../../../support/http/signed-client.js';
import { createPayee, createUser, randomHash } from '../../../support/payouts/payout-calls.js';
import { expectStatus, randomPhone, REGISTER_ENDPOINT, reportPayout } from '../payouts.js';
import { oneOf } from '../suite.js';
import { endpointsOf, type Document, type ScopedEndpoint } from './admin/endpoints.js';

export interface World {
  readonly merchant: Credentials;
  readonly endpoints: readonly ScopedEndpoint[];
  readonly ids: readonly string[];
  /** Users who have not started onboarding. */
  readonly users: readonly string[];
}

/** Creates a resource of each kind, and reads the operations of the service's document. */
export async function createWorld(client: SignedClient): Promise<World> {
  const document = (await (await fetch(`${client.baseUrl}/openapi.json`)).json()) as Document;
  const endpoints = endpointsOf(document, '/');
  const users: string[] = [];
  for (let n = 0; n < 5; n += 1) users.push(await createUser(client));
  const payee = await createPayee(client);
  const payout = await reportPayout(client, payee, 1_000_000, randomHash());
  const registered = await client.post(REGISTER_ENDPOINT.path, REGISTER_ENDPOINT.body(''));
  const { id } = expectStatus(registered, 201).json().webhook_endpoint as { id: string };
  return { merchant: client.credentials, endpoints, users, ids: [payee.id, payout, id, ...users] };
}

/** Returns a valid body of an operation on the user. URLs are on loopback, because the service calls them. */
export function validBody(method: string, path: string, user_id: string): unknown {
  switch (`${method} ${path.replace('/merchants/v1/', '')}`) {
    case 'POST users':
      return { phone_number: randomPhone(), email: 'ada@example.com', external_id: randomUUID() };
    case 'POST payouts/report':
      return {
        user_id,
        payout: { amount: '12.5', transaction_hash: randomHash(), custom_metadata: { note: 'fuzz', n: 1.5 } },
      };
    case 'POST events': {
      const event = {
        event_name: 'Order Paid',
        payload: { amount: '1.50', items: [{ sku: 'a' }] },
        event_datetime: '2026-01-31T12:00:00.000Z',
        user_external_id: 'customer-1',
        device_id: randomUUID(),
      };
      return { events: [1, 2, 3].map(() => ({ ...event, event_id: randomUUID() })) };
    }
    case 'POST webhook_endpoints':
    case 'PATCH webhook_endpoints/{id}': {
      const url = oneOf([
        'http://127.0.0.1:9/a?b=c',
        'http://[::1]:9/%00',
        'http://0x7f.1:9/#',
        'http://2130706433:9/',
      ]);
      return {
        webhook_endpoint: { url, description: 'fuzz', event_types: ['payout.received'], status: 'enabled' },
      };
    }
    case 'POST webhook_endpoints/{id}/rotate_secret':
      return { overlap_seconds: 3600 };
    case 'POST webhook_endpoints/{id}/recover':
      return { since: new Date(Date.now() - 3_600_000).toISOString() };
    case 'POST sandbox/transfers':
      return { to: `0x${'1'.repeat(40)}`, user_id, amount: '0.000001' };
    default:
      return {};
  }
}
