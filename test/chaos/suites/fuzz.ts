import fc, { type Arbitrary } from 'fast-check';
import { checkBooks } from '../support/books.js';
import { Fuzzer } from '../support/fuzz/fuzzer.js';
import { runFuzzer } from '../support/fuzz/run-fuzzer.js';
import { createWorld, validBody, type World } from '../support/fuzz/world.js';
import { honestLoad } from '../support/honest-load.js';
import { SignedClient, signingHeaders } from '../../support/http/signed-client.js';
import { createUser } from '../../support/payouts/payout-calls.js';
import { Shared } from '../support/shared.js';
import { chooseSeed, percentile, type Suite } from '../support/suite.js';
import { mostly } from '../support/fuzz/hostile.js';
import {
  body,
  headers,
  key,
  METHODS,
  query,
  segment,
  typed,
  type FuzzedRequest,
} from '../support/fuzz/parts.js';

const STEPS = ['code', 'phone', 'details', 'identity', 'state', 'inbox', '__proto__', 'constructor', 'x'];

/** Requests that undici can send, with hostile contents. */
const apiRequest = (world: World): Arbitrary<FuzzedRequest> =>
  fc.constantFrom(...world.endpoints).chain((endpoint) => requestOf(endpoint, world));

function requestOf(
  { method, path, query: known }: World['endpoints'][number],
  world: World,
): Arbitrary<FuzzedRequest> {
  const odd = fc.constantFrom(`${path}/`, `${path};a=b`, path.toUpperCase(), path.replaceAll('s', '%73'));
  const target = fc
    .tuple(mostly(25, fc.constant(path), odd), segment(world.ids), query(Object.keys(known)))
    .map(([each, id, text]) => each.replace('{id}', () => id) + text);
  return fc
    .tuple(mostly(14, fc.constant(method), METHODS), fc.constantFrom(...world.ids))
    .chain(([used, id]) => fc.tuple(fc.constant(used), body(validBody(method, path, id), used)))
    .chain(([used, bytes]) =>
      fc
        .tuple(target, typed(bytes), headers, fc.option(key), fc.option(wrongSignature, { freq: 9 }))
        .map(([at, type, more, idempotencyKey, forge]) => ({
          port: 'api',
          method: used,
          path: at,
          body: bytes,
          headers: {
            ...type,
            ...more,
            ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
            ...signature(world, used, at, bytes, forge),
          },
        })),
    );
}

function widgetRequest(world: World): Arbitrary<FuzzedRequest> {
  const { merchant, users } = world;
  const ids = fc.tuple(
    mostly(9, fc.constant(merchant.apiKey), segment(world.ids)),
    mostly(3, fc.constantFrom(...users), segment(world.ids)),
  );
  const page = fc
    .tuple(
      ids,
      query(['callback_url', 'merchant_id', 'user_id']),
      mostly(9, fc.constant('GET'), METHODS),
      headers,
    )
    .map(([[shop, user], more, method, given]) => {
      const path = `/onboarding?merchant_id=${shop}&user_id=${user}&${more.slice(1)}`;
      return { port: 'widget', method, path, headers: given, body: null };
    });
  const person = {
    phone_number: '+491511234567',
    code: '123456',
    first_name: 'Ada',
    last_name: 'Lovelace',
    date_of_birth: '1985-12-10',
  };
  const bearer = fc.constantFrom('', 'Bearer ', 'Basic x', `Bearer ${'.'.repeat(3000)}`);
  const method = mostly(19, fc.constant('POST'), METHODS);
  const step = fc
    .tuple(ids, fc.constantFrom(...STEPS), body(person, 'POST'), headers, bearer, method)
    .chain(([[shop, user], name, bytes, given, authorization, used]) =>
      typed(bytes).map((type) => ({
        port: 'widget',
        method: used,
        path: `/onboarding/${shop}/${user}/${name}`,
        headers: { ...type, ...given, authorization },
        body: bytes,
      })),
    );
  return mostly<FuzzedRequest>(2, step, page);
}

/** Forgeries that do not lock the merchant out. */
type Forge = (valid: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
const stranger = { 'svc-api-key': '00000000-0000-4000-8000-000000000000' };
const wrongSignature = fc.constantFrom<Forge[]>(
  () => ({}),
  (valid) => ({ 'svc-api-key': valid['svc-api-key']! }),
  (valid) => ({ ...valid, 'svc-api-key': "' or 1=1" }),
  (valid) => ({ ...valid, 'svc-timestamp': '9'.repeat(50) }),
  (valid) => ({ ...valid, ...stranger, 'svc-signature': 'x' }),
  (valid) => ({ ...valid, ...stranger, 'svc-signature': 'f'.repeat(5000) }),
);

function signature(
  { merchant }: World,
  method: string,
  target: string,
  bytes: Buffer | null,
  forge: Forge | null,
): Readonly<Record<string, string>> {
  const valid = signingHeaders(merchant, method, target, bytes ?? '');
  return forge?.(valid) ?? valid;
}

/** The maximum time of a response to another merchant, also on a busy machine. */
const MAX_HONEST_MS = 30_000;

/**
 * Sends `--count` fuzzed requests to every documented operation, to unknown paths and to the widget. They are
 * signed ones with hostile contents, and broken HTTP. `--seed` determines all of it. `--only N` sends the Nth
 * alone.
 */
export const fuzz: Suite = async (options) => {
  const { verdict, say } = options;
  const seed = chooseSeed(options);
  await Shared.run(async (shared) => {
    const service = await shared.service('service');
    const { baseUrl, client, secondMerchant: merchant, port, widgetPort: widget } = service;
    const world = await createWorld(client);
    const requests = fc.oneof(
      { weight: 71, arbitrary: apiRequest(world) },
      { weight: 11, arbitrary: widgetRequest(world) },
    );
    const broken = { of: requests, percent: 18 };
    const fuzzer = new Fuzzer(seed, { ports: { api: port, widget }, requests, broken });
    const target = { port, merchant, userId: await createUser(new SignedClient(baseUrl, merchant)) };
    let isDone = false;
    const honest = honestLoad(target, verdict, () => isDone);
    await runFuzzer(fuzzer, service, options);
    isDone = true;
    const { tookMs, refused, tally } = await honest;
    say(`honest ${tally.toString()}, p99 ${percentile(tookMs, 0.99).toFixed(0)} ms`);
    verdict.none('an honest request did not get 200 or 201', refused);
    verdict.expect(
      Math.max(...tookMs) < MAX_HONEST_MS,
      `an honest request waits less than ${MAX_HONEST_MS} ms`,
    );
    say(`audit ${await checkBooks(shared, verdict)}`);
    verdict.equal(await service.stop(), 'exit code 0', 'SIGTERM ends it');
  });
};
