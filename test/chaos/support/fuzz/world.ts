import { call, type Credentials } from '../../../../bench/support/sign.js';
import { activePayee } from '../payees.js';
import { randomHash, randomPhone } from '../operations.js';

/** An operation as the service's own document names it. */
export interface Endpoint {
  readonly method: string;
  /** With `{id}` where an id belongs. */
  readonly path: string;
  readonly query: readonly string[];
}

/** Who and what the fuzzed requests are about. */
export interface World {
  readonly merchant: Credentials;
  readonly endpoints: readonly Endpoint[];
  /** Ids of all kinds that exist. */
  readonly ids: readonly string[];
  /** Users who have begun nothing yet. */
  readonly users: readonly string[];
}

interface Document {
  readonly paths: Readonly<
    Record<string, Record<string, { readonly parameters?: readonly { name?: string; in?: string }[] }>>
  >;
}

/** Something of each kind that an id can name, and every operation that the service says it has. */
export async function makeWorld(baseUrl: string, merchant: Credentials): Promise<World> {
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document;
  const endpoints = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.flatMap(({ name, in: place }) =>
        place === 'query' && name !== undefined ? [name] : [],
      ),
    })),
  );
  const post = (path: string, body: unknown): Promise<unknown> =>
    call(baseUrl, merchant, 'POST', `/merchants/v1/${path}`, 201, body);
  const users: string[] = [];
  for (let made = 0; made < 5; made += 1) {
    const { user } = (await post('users', { phone_number: randomPhone() })) as { user: { id: string } };
    users.push(user.id);
  }
  const payee = await activePayee(baseUrl, merchant);
  const { payout } = (await post('payouts/report', {
    user_id: payee.id,
    payout: { amount: '1', transaction_hash: randomHash() },
  })) as { payout: { id: string } };
  const { webhook_endpoint } = (await post('webhook_endpoints', {
    webhook_endpoint: { url: 'http://127.0.0.1:9/' },
  })) as { webhook_endpoint: { id: string } };
  return { merchant, endpoints, users, ids: [payee.id, payout.id, webhook_endpoint.id, ...users] };
}
