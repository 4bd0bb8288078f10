import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createResources } from '../../support/access/resources.js';
import { sharedApp } from '../../support/app.js';
import type { ApiResponse, SignedCall } from '../../support/http/signed-client.js';
import { createUser } from '../../support/payouts/payout-calls.js';

const V1 = '/merchants/v1';

type Method = NonNullable<SignedCall['method']>;
interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly hasBody: boolean;
  readonly isKeyed: boolean;
}
interface Documented {
  readonly security?: readonly object[];
  readonly requestBody?: object;
  readonly parameters?: readonly { readonly name?: string; readonly $ref?: string }[];
}

/** Bodies that get as far as the question whose the resource is. */
const BODIES: Readonly<Record<string, () => object>> = {
  [`PATCH ${V1}/webhook_endpoints/{id}`]: () => ({ webhook_endpoint: { status: 'disabled' } }),
  [`POST ${V1}/webhook_endpoints/{id}/recover`]: () => ({ since: new Date(Date.now() - 1000) }),
};
/** Requests that are executed once under one key, by their operation. */
const KEYED: Readonly<Record<string, () => object | undefined>> = {
  [`POST ${V1}/users`]: () => ({ phone_number: '+15550009876' }),
  [`POST ${V1}/webhook_endpoints`]: () => ({ webhook_endpoint: { url: 'https://8.8.8.8/hooks' } }),
  [`POST ${V1}/webhook_endpoints/{id}/test_delivery`]: () => undefined,
  [`POST ${V1}/webhook_endpoints/{id}/rotate_secret`]: () => undefined,
  [`POST ${V1}/webhook_deliveries/{id}/resend`]: () => undefined,
  [`POST ${V1}/sandbox/users/{id}/complete_onboarding`]: () => undefined,
  [`DELETE ${V1}/webhook_endpoints/{id}`]: () => undefined,
};

const app = await sharedApp();
const { merchant } = app;
const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
};
const operations = Object.entries(document.paths)
  .filter(([path]) => path.startsWith(V1))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase() as Method,
      path,
      hasBody: requestBody !== undefined,
      isKeyed: parameters.some(
        ({ name, $ref }) => name === 'Idempotency-Key' || $ref?.endsWith('IdempotencyKey'),
      ),
    })),
  );
const ids = await createResources(app);

/** All operations of the service's own document. */
describe('every operation of the merchant API', () => {
  /** A resource of the merchant, by the segment before its id. */

  const nameOf = ({ method, path }: Operation): string => `${method} ${path}`;
  const pathOf = ({ path }: Operation, id: string): string => path.replace('{id}', id);
  const ownId = ({ path }: Operation): string => ids.get(/(\w+)\/\{id\}/.exec(path)?.[1] ?? '') ?? randomUUID();
  /** The status of each call, by the operation. */
  const statuses = async (
    of: readonly Operation[],
    call: (operation: Operation) => Promise<ApiResponse>,
  ): Promise<Record<string, number>> => {
    expect(of.length).toBeGreaterThan(4);
    const results = await Promise.all(of.map(async (each) => [nameOf(each), (await call(each)).status]));
    return Object.fromEntries(results) as Record<string, number>;
  };
  const all = (of: readonly Operation[], status: number): Record<string, number> =>
    Object.fromEntries(of.map((each) => [nameOf(each), status]));

  it.each([
    ['without a signature', null],
    ['with a wrong signature', '0'.repeat(64)],
  ])('401 %s', async (_, signature) => {
    const found = await statuses(operations, (each) =>
      merchant.call({
        method: each.method,
        path: pathOf(each, ownId(each)),
        headers: { 'svc-signature': signature },
        ...(each.hasBody ? { body: {} } : {}),
      }),
    );
    expect(found).toEqual(all(operations, 401));
  });

  it.each([
    ['that another merchant has', (each: Operation) => ownId(each), () => app.secondMerchant],
    ['that does not exist', () => randomUUID(), () => merchant],
    ['that is no uuid', () => 'nonsense', () => merchant],
  ])('404 for a resource %s', async (_, id, client) => {
    const ofResources = operations.filter(({ path }) => path.includes('{id}'));
    const found = await statuses(ofResources, (each) =>
      client().call({ method: each.method, path: pathOf(each, id(each)), body: BODIES[nameOf(each)]?.() }),
    );
    expect(found).toEqual(all(ofResources, 404));
  });

  it('400 for malformed JSON', async () => {
    const withBody = operations.filter(({ hasBody }) => hasBody);
    const found = await statuses(withBody, (each) =>
      merchant.call({ method: each.method, path: pathOf(each, ownId(each)), body: '{"a": ' }),
    );
    expect(found).toEqual(all(withBody, 400));
  });

  it('400 for an Idempotency-Key that is no quoted uuid', async () => {
    const keyed = operations.filter(({ isKeyed }) => isKeyed);
    const found = await statuses(keyed, (each) =>
      merchant.call({
        method: each.method,
        path: pathOf(each, ownId(each)),
        headers: { 'idempotency-key': randomUUID() },
        ...(each.hasBody ? { body: {} } : {}),
      }),
    );
    expect(found).toEqual(all(keyed, 400));
  });

  it.each(Object.keys(KEYED))('%s is replayed under its key, byte for byte', async (name) => {
    const operation = operations.find((each) => nameOf(each) === name)!;
    const path = pathOf(
      operation,
      name.includes('complete_onboarding') ? await createUser(merchant) : ownId(operation),
    );
    const call = { method: operation.method, path, body: KEYED[name]!(), idempotencyKey: randomUUID() };
    const [first, again] = [await merchant.call(call), await merchant.call(call)];
    expect(first.status).toBeLessThan(300);
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect([first, again].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
  });
});
