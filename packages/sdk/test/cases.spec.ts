import { readFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { Pages, verifyWebhook, WebhookError } from '../src/index.js';
import { signatureHint } from '../src/errors.js';
import { reconcile } from '../src/reconcile.js';
import { hmacHex, idempotencyKeyOf, signAddress, signQuery, stringToSign } from '../src/signing.js';
import { waitOf } from '../src/transport.js';
import { at, bytesOf, clientOf, errorOf, waiting, type Recorded, type Step } from './recorded.js';

/** The cases of every client, which packages/python runs too. */
const CASES = JSON.parse(
  readFileSync(new URL('../../cases/cases.json', import.meta.url), 'utf8'),
) as Recorded;

describe('the SDK', () => {
  it.each(CASES.merchant_signatures)('computes the recorded signature of $name', async (each) => {
    const signed = stringToSign(each.seconds, each.method, each.path, bytesOf(each.body_base64));
    expect(signed).toEqual(bytesOf(each.signed_base64));
    expect(await hmacHex(each.secret, signed)).toBe(each.signature);
  });

  it.each(CASES.address_signatures)('computes the recorded signature of an address: $name', async (each) => {
    expect(await signAddress(each.secret, each.address)).toBe(each.signature);
  });

  it.each(CASES.query_signatures)('computes the recorded signature of a query: $name', async (each) => {
    expect(await signQuery(each.secret, each.path, new URLSearchParams(each.query))).toBe(each.signature);
  });

  it.each(CASES.own_ids)('derives the key from a caller id: $name', async ({ id, method, path, key }) => {
    expect(await idempotencyKeyOf(id, method, path)).toBe(key);
  });

  it.each(CASES.retries)('waits as long as recorded after $name', async (each) => {
    const bounds = [0, 1].map((random) =>
      at(each.now_ms, random, () =>
        waitOf(
          new Response(null, { status: each.status, headers: each.headers }),
          each.body,
          each.attempt,
          each.max_wait_ms,
        ),
      ),
    );
    expect(bounds).toEqual([each.at_least, each.at_most]);
  });

  it.each(CASES.attempts)('makes the attempts: $name', async ({ steps, attempts, outcome, waits, sent }) => {
    const { client, requests } = clientOf(steps, attempts);
    const { value, waited } = await waiting(() => client.users.get('u').then(() => 'ok', errorOf));
    expect(typeof value === 'string' ? value : value.name).toBe(outcome);
    expect(requests).toHaveLength(sent);
    expect(waited).toHaveLength(waits.length);
    waited.forEach((ms, n) => {
      expect(ms).toBeGreaterThanOrEqual(waits[n]![0]);
      expect(ms).toBeLessThanOrEqual(waits[n]![1]);
    });
  });

  it.each(CASES.pages)('reads the recorded pages of $name', async ({ first, bodies, cursors, ids }) => {
    const { client, requests } = clientOf(
      bodies.map((body) => ({ status: 200, body: JSON.stringify(body) })),
    );
    const listed = await client.payouts.list(first === null ? {} : { page_cursor: first }).all();
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(requests.map(({ url }) => url.searchParams.get('page_cursor'))).toEqual(cursors);
  });

  it.each(CASES.webhooks)('verifies the webhook: $name', async ({ secrets, body, headers, now, reason }) => {
    const bytes = Uint8Array.from(Buffer.from(body));
    for (const form of [body, Buffer.from(body), bytes, bytes.buffer, new DataView(bytes.buffer)]) {
      const verify = (): unknown =>
        at(now * 1000, 0, () => verifyWebhook(secrets.length === 1 ? secrets[0]! : secrets, form, headers));
      if (reason === null) expect(verify()).toEqual(JSON.parse(body));
      else {
        expect(verify).toThrow(WebhookError);
        expect(verify).toThrow(new RegExp(`^${reason}$`));
      }
    }
  });

  it.each([
    [{ id: 'e' }, 'object'],
    [[1], 'object'],
    [null, 'null'],
    [undefined, 'undefined'],
  ])('refuses the webhook body %j and names its type', (body, type) => {
    const { secrets, headers } = CASES.webhooks[0]!;
    expect(() => verifyWebhook(secrets, body as unknown as string, headers)).toThrow(
      new WebhookError(
        `The body is of type ${type}: expected the text or bytes that arrived, before they are parsed`,
      ),
    );
  });

  it.each(CASES.results)('reads the recorded result of $name', async ({ expected, ...response }) => {
    const { data = null, ...result } = await clientOf([response]).client.users.get('u');
    expect({ data, ...result }).toEqual({
      ...{ data: expected.data, status: expected.status },
      ...{ requestId: expected.request_id, replayed: expected.replayed },
    });
  });

  it.each(CASES.errors)('throws the recorded error of $name', async ({ expected, ...response }) => {
    const error = await clientOf([response], 1).client.users.get('u').then(errorOf, errorOf);
    const { name, status, title, detail, errors, requestId, message } = error;
    expect({ kind: name, status, title, detail, errors, request_id: requestId, message }).toEqual(expected);
  });

  it.each(CASES.hints)('gives the recorded hint for $name', ({ signed_base64, body, hint }) => {
    expect(signatureHint(body, bytesOf(signed_base64))).toBe(hint);
  });

  it.each(CASES.reconciliations)('reconciles as recorded: $name', async ({ own, listed, expected }) => {
    const result = await reconcile(each(listed), own);
    const ids = (payouts: readonly { readonly id: string }[]): string[] => payouts.map(({ id }) => id);
    expect({
      matched: result.matched,
      missing: result.missing.map((each) => own.indexOf(each)),
      unexpected: ids(result.unexpected),
      different: result.different.map((each) => [own.indexOf(each.expected), each.payout.id]),
      pending: ids(result.pending),
      expired: ids(result.expired),
    }).toEqual(expected);
  });

  it.each(CASES.calls)('sends the recorded call of $client: $name', async (each) => {
    const step: Step = { status: 200, body: '{"orders":[],"payouts":[],"events":[]}' };
    const requests = await callsOf(each, step);
    const [{ url, method, headers, body }] = requests as [(typeof requests)[0]];
    expect([method, url.pathname, body]).toEqual([
      each.expected.method,
      each.expected.path,
      each.expected.body,
    ]);
    expect([...url.searchParams].sort(([a], [b]) => (a < b ? -1 : 1))).toEqual(each.expected.query);
    for (const [name, value] of Object.entries(each.expected.headers)) expect(headers.get(name)).toBe(value);
    if (method === 'GET') expect(headers.get('idempotency-key')).toBeNull();
    else expect(headers.get('idempotency-key')).toMatch(/^"[0-9a-f-]{36}"$/);
  });
});

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Calls the method of a case, which has names as Python writes them. */
async function callsOf(each: Recorded['calls'][number], step: Step) {
  const { client, exchange, requests } = clientOf([step], 1, each.api_key, each.secret);
  const names = each.operation.split('.').map((name) => name.replace(/_./g, (two) => two[1]!.toUpperCase()));
  type Node = { readonly [name: string]: Node } & ((...given: unknown[]) => unknown);
  let node = (each.client === 'merchant' ? client : exchange) as unknown as Node;
  for (const name of names.slice(0, -1)) node = node[name]!;
  const given: unknown[] = [];
  if (each.address !== undefined) given.push({ id: each.id, withdraw_address: each.address });
  else if (each.id !== undefined) given.push(each.id);
  if (each.body !== undefined) given.push(each.body);
  if (each.expected.query.length > 0 && each.address === undefined) given.push(each.query);
  if (each.expected.method !== 'GET')
    given.push(each.own_id === undefined ? undefined : { idempotencyKey: each.own_id });
  const now = jest.spyOn(Date, 'now').mockReturnValue(each.now * 1000);
  const called = node[names.at(-1)!]!(...given);
  await (called instanceof Pages ? called.all() : called);
  now.mockRestore();
  return requests;
}
