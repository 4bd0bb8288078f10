import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  hostileAddresses,
  hostileUrls,
  hostOf,
  malformedUrls,
  publicAddresses,
} from '../../support/webhooks/addresses/hostile-addresses.js';
import {
  halfResolvedNames,
  hostileNames,
  publicNames,
} from '../../support/webhooks/addresses/hostile-names.js';
import type { NetworkReport } from '../../support/webhooks/addresses/network.js';
import {
  HASTY_MS,
  NETWORK,
  TIMEOUT_MS,
  type Posted,
} from '../../support/webhooks/addresses/network-report.js';
import { runInOwnNetwork } from '../../support/webhooks/addresses/own-network.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const PATH = '/merchants/v1/webhook_endpoints';
/** The kernel refuses TCP to multicast and broadcast, and to link-local IPv6 without a zone. */
const UNCONNECTABLE =
  /^(2(2[4-9]|3\d)\.|255\.255\.255\.255$|127\.255\.255\.255$|::ffff:ffff:ffff$|fe[89ab]|ff)/;
const PRODUCTION = {
  MODE: 'production',
  PUBLIC_URL: 'https://api.example',
  WIDGET_URL: 'https://widget.example',
  PAY_URL: 'https://pay.example',
};
const NOT_PUBLIC = /resolves to an address that is not public|resolves to more than 512 addresses/;
const NEVER = 'is refused, and never reached';

const report = await runInOwnNetwork<NetworkReport>(NETWORK);
const found = report!;
const inOwnNetwork = report === null ? describe.skip : describe;

/** Every URL was refused for its address, and nothing was connected to. */
function expectRefused(posted: readonly Posted[], reasons: readonly RegExp[]): void {
  expect(posted).toHaveLength(reasons.length);
  for (const [index, reason] of reasons.entries()) {
    const error: unknown = expect.stringMatching(reason);
    expect(posted[index]).toMatchObject({ outcome: 'address', reached: [], error });
  }
}

inOwnNetwork('in a network where every address would be reached', () => {
  it('at least 200 hostile addresses and each hostile name are reached without the guard', () => {
    const { addresses, names, localhost } = found.unguarded;
    const entries = Object.entries(addresses);
    const missed = entries.filter(([, result]) => result !== 'reached').map(([address]) => address);
    for (const address of missed) expect(address).toMatch(UNCONNECTABLE);
    expect(entries.length - missed.length).toBeGreaterThanOrEqual(200);
    expect(Object.values(names)).toEqual(hostileNames.map(() => 'reached'));
    expect(Object.values(localhost)).toEqual(['reached', 'reached', 'reached']);
  });

  it(`each of ${hostileAddresses.length} hostile addresses ${NEVER}`, () => {
    const reasons = hostileAddresses.map(([, reason]) => reason);
    expectRefused(found.hostile.slice(0, reasons.length), reasons);
    expectRefused(found.hostileOverHttp.slice(0, reasons.length), reasons);
  });

  it(`each of ${hostileUrls.length} hostile spellings ${NEVER}`, () => {
    const reasons = hostileUrls.map(([, reason]) => reason);
    expectRefused(found.hostile.slice(hostileAddresses.length), reasons);
    expectRefused(found.hostileOverHttp.slice(hostileAddresses.length), reasons);
  });

  it('user names do not hide the host', () => {
    expect(found.withUser.length).toBeGreaterThan(1);
    expectRefused(
      found.withUser,
      found.withUser.map(() => /loopback/),
    );
  });

  it('sandbox mode reaches loopback, and no other of them', () => {
    const refused = found.hostileInSandbox.filter(({ outcome }) => outcome === 'address');
    expect(found.hostileInSandbox.length - refused.length).toBe(4);
    expect(refused.flatMap(({ reached }) => reached)).toEqual([]);
    const reached = found.hostileInSandbox.flatMap((each) => each.reached);
    expect(reached).toEqual(['127.0.0.0', '127.128.0.0', '::1']);
  });

  it(`each of ${hostileNames.length + halfResolvedNames.length} hostile names ${NEVER}`, () =>
    expectRefused(
      found.names,
      [...hostileNames, ...halfResolvedNames].map(() => NOT_PUBLIC),
    ));

  it('where a name leads inside the network, the operator learns and the merchant does not', () => {
    for (const [index, { reason }] of [...hostileNames, ...halfResolvedNames].entries()) {
      const { error, logged } = found.names[index]!;
      expect([error, ...logged].join()).toMatch(reason);
      expect(error?.split(' resolves to ')[1]).not.toMatch(/[0-9]\.[0-9]|::|private|loopback|metadata/);
    }
  });

  it(`each of ${publicAddresses.length} public addresses is reached`, () => {
    expect(found.publicAddresses.map(({ outcome, reached }) => [outcome, reached])).toEqual(
      publicAddresses.map((address) => [204, [address]]),
    );
  });

  it.each(publicNames.map(({ label, at }, index) => ({ label, at, index })))(
    'the public name $label is reached',
    ({ at, index }) => {
      const { outcome, reached } = found.publicNames[index]!;
      expect(outcome).toBe(204);
      expect(at).toContain(reached.at(-1));
    },
  );
});

inOwnNetwork('a name that changes its address', () => {
  const { rebinding } = found ?? {};
  const good = { outcome: 204, reached: ['8.8.8.8'] };
  const bad = { outcome: 'address', reached: [] };

  it('is good at registration and bad at the connect: refused', () => {
    expect(rebinding.registration).toBeNull();
    expect(rebinding.registered).toMatchObject(bad);
  });
  it('becomes bad after the check: the address that was checked is the one that is used', () => {
    expect(rebinding.afterCheck).toMatchObject(good);
    expect(rebinding.questionsOfOneConnect).toBe(1);
  });
  it('is bad at every other question: refused then', () =>
    expect(rebinding.everyOther).toMatchObject([good, bad, good, bad, good, bad, good, bad]));
  it('becomes bad while its connection is kept: that one may be used, a new one is refused', () =>
    expect(rebinding.kept).toMatchObject([good, { outcome: 204, reached: [] }, bad]));
  it('becomes good: reached', () => expect(rebinding.becomesGood).toMatchObject([bad, good]));
  it('stays: reached each time', () => expect(rebinding.stays).toMatchObject([good, good, good]));
});

inOwnNetwork('names and addresses', () => {
  it('that never respond delay no other receiver, nor queries of our own', () => {
    for (const { other, ownMs, outcomes, unresponsiveMs } of [
      found.unresponsive,
      found.unresponsiveShortNames,
    ]) {
      expect(other).toMatchObject({ outcome: 204 });
      // A query without a response takes a third of the time.
      expect(other.ms).toBeLessThan(TIMEOUT_MS / 3);
      expect(ownMs).toBeLessThan(TIMEOUT_MS / 3);
      expect(new Set(outcomes)).toEqual(new Set(['dns']));
      expect(unresponsiveMs).toBeLessThan(TIMEOUT_MS);
    }
    expect(found.unresponsive.outcomes).toHaveLength(50);
  });

  it('that never respond are tried four at most, within the time of one request', () => {
    expect(found.allDead).toMatchObject({ outcome: 'timeout', reached: Array(4).fill('9.9.9.9') });
    expect(found.allDead.ms).toBeLessThan(2 * HASTY_MS);
  });

  it('are queried once, however many wait', () => expect(found.questionsOfSixteen).toBe(1));

  it('leave nothing behind', () => {
    expect(found.leftovers).toEqual([]);
    expect(found.queriesWithoutResponse).toBe(1);
  });
});

inOwnNetwork('ranges an operator allows', () => {
  it('are reached, by address and by short name, and nothing else', () => {
    const outcomes = found.allowed.map(({ outcome, reached }) => [outcome, ...reached]);
    const reached = [
      [204, '10.1.2.3'],
      [204, 'fd00:1::1'],
      [204, '10.1.0.5'],
      [204, '10.1.0.9'],
    ];
    expect(outcomes).toEqual([...reached, ...Array.from({ length: 4 }, () => ['address'])]);
  });
});

describe('over HTTP, in production', () => {
  let app: TestApp | undefined;
  beforeAll(async () => {
    app = await startTestApp({ ...PRODUCTION, RATE_LIMIT_PER_MINUTE: '10000' });
  });
  afterAll(() => app?.close());

  /** Every fifth: each call is signed, limited and written down, and the guard itself has seen them all. */
  const sample = [
    ...hostileAddresses.map(([address, reason]) => [`https://${hostOf(address)}/`, reason] as const),
    ...hostileUrls,
    ...malformedUrls,
  ].filter(([url], index) => index % 5 === 0 && !/[\s\p{Cc}]/u.test(url) && url !== '');

  it(`POST and PATCH refuse ${sample.length} of them, and errors.url says why`, async () => {
    const merchant = await app!.newMerchant();
    const created = await merchant.post(PATH, { webhook_endpoint: { url: 'https://8.8.8.8/' } });
    expect(created.status).toBe(201);
    const { id } = created.json<{ webhook_endpoint: { id: string } }>().webhook_endpoint;
    for (const [url, reason] of sample) {
      const body = { webhook_endpoint: { url } };
      const responses = [
        await merchant.post(PATH, body),
        await merchant.call({ method: 'PATCH', path: `${PATH}/${id}`, body }),
      ];
      for (const response of responses) {
        expect([url, response.status]).toEqual([url, 422]);
        const { errors } = response.json<{ errors: { url: string[] } }>();
        expect(errors).toEqual({ url: [expect.stringMatching(reason)] });
      }
    }
  });
});
