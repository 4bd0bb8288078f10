import { residentMiB } from '../../../bench/support/memory.js';
import { call, type Credentials } from '../../../bench/support/sign.js';
import type { Service } from '../../../bench/support/service.js';
import { during, type Attack } from '../support/attacks/attack.js';
import { honestLoad, type Experience } from '../support/attacks/honest-load.js';
import { CREATE_USER, randomHash, REPORT } from '../support/operations.js';
import { portOf, Shared } from '../support/shared.js';
import { percentile, type Suite, type SuiteOptions } from '../support/suite.js';

/** How many connections each attack holds, or requests per second it makes. */
const SIZE_OF: Readonly<Record<Attack['kind'], number>> = {
  'unread-mismatches': 300,
  'read-mismatches': 7,
  'unread-pages': 60,
  'unfinished-bodies': 600,
};
export const ATTACKS = Object.keys(SIZE_OF) as Attack['kind'][];

/** What the service may hold in its heap, and in memory altogether. */
const MEMORY_MIB = 512;
const QUIET_SECONDS = 15;
const P99_TIMES = 3;

/** A page of the hostile merchant: as many payouts with as much metadata as there may be. */
const PAYOUTS = 1000;
const METADATA_BYTES = 16_000;

/**
 * Clients that do not take their responses, do not finish their requests, or ask for what costs most, while an honest
 * merchant from another address goes on: its p99 beside that of quiet times before and after, and the memory of the service.
 */
export const slowReaders: Suite = async (options) => {
  const shared = await Shared.start();
  try {
    const env = { NODE_OPTIONS: `--max-old-space-size=${MEMORY_MIB}` };
    const service = await shared.service('service', env);
    const userId = await createUser(service, service.merchant);
    const pages = options.attack === undefined || options.attack === 'unread-pages';
    if (pages) await fillPage(service, options.sizes?.payouts ?? PAYOUTS);
    for (let round = 1; round <= options.count; round += 1) {
      for (const kind of options.attack === undefined ? ATTACKS : [options.attack]) {
        await endure(service, kind, userId, options);
      }
    }
  } finally {
    await shared.close();
  }
};

async function endure(
  service: Service,
  kind: Attack['kind'],
  userId: string,
  { say, verdict, sizes = {} }: SuiteOptions,
): Promise<void> {
  const forSeconds = sizes.seconds ?? 180;
  const measure = (seconds: number): Promise<Experience> =>
    honestLoad(portOf(service), service.merchant, userId, seconds);
  const quietSeconds = Math.min(QUIET_SECONDS, forSeconds / 4);
  await measure(Math.min(3, quietSeconds));
  const quietBefore = await measure(quietSeconds);
  const attack: Attack = {
    kind,
    port: portOf(service),
    // The hostile merchant of `unread-pages` signs rightly; elsewhere the honest one's public id is used.
    merchant: kind === 'unread-pages' ? service.secondMerchant : service.merchant,
    connections: Math.ceil(SIZE_OF[kind] * ((sizes.percent ?? 100) / 100)),
    addresses: sizes.addresses ?? 4,
  };
  const before = residentMiB(service.child.pid);
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, residentMiB(service.child.pid))), 250);
  let attacked: Experience = quietBefore;
  const report = await during(attack, async () => {
    attacked = await measure(forSeconds);
  }).finally(() => clearInterval(watch));

  // Half of the quiet time lies behind the attack: whatever else the machine does shall count on both sides.
  const quietAfter = await measure(quietSeconds);
  const quiet = { ...quietBefore, tookMs: [...quietBefore.tookMs, ...quietAfter.tookMs] };

  const [calm, harried] = [percentile(quiet.tookMs, 0.99), percentile(attacked.tookMs, 0.99)];
  const describe = ({ tookMs }: Experience): string =>
    `p50 ${percentile(tookMs, 0.5).toFixed(1)} ms, p99 ${percentile(tookMs, 0.99).toFixed(1)} ms`;
  say(`${kind}: ${attack.connections} for ${forSeconds} s from ${attack.addresses} addresses`);
  say(`  honest merchant: quiet ${describe(quiet)}; attacked ${describe(attacked)} (${attacked.tally})`);
  say(`  memory: ${before} MiB before, ${most} MiB at most; attacker: ${JSON.stringify(report)}`);
  verdict.equal(service.child.exited(), null, `${kind}: the service lives`);
  verdict.none(attacked.refused, `${kind}: an honest request did not get 200 or 201`);
  verdict.expect(attacked.tookMs.length > 0, `${kind}: the honest merchant was served`);
  verdict.expect(most <= MEMORY_MIB, `${kind}: resident memory stays within ${MEMORY_MIB} MiB`, most);
  const times = sizes['p99-times'] ?? P99_TIMES;
  verdict.expect(
    harried <= times * calm,
    `${kind}: p99 of the honest merchant within ${times} times the quiet one`,
    `${harried} ms, not within ${times} times ${calm} ms`,
  );
}

async function createUser({ baseUrl }: Service, who: Credentials): Promise<string> {
  const body: unknown = JSON.parse(CREATE_USER.body(''));
  const { user } = (await call(baseUrl, who, 'POST', CREATE_USER.path, 201, body)) as {
    user: { id: string };
  };
  return user.id;
}

/** Payouts of the second merchant, as large as they may be. */
async function fillPage(service: Service, count: number): Promise<void> {
  const { baseUrl, secondMerchant: who } = service;
  const userId = await createUser(service, who);
  const note = 'n'.repeat(METADATA_BYTES);
  const report = (): Promise<unknown> => {
    const payout = { amount: '1', transaction_hash: randomHash(), custom_metadata: { note } };
    return call(baseUrl, who, 'POST', REPORT.path, 201, { user_id: userId, payout });
  };
  for (let done = 0; done < count; done += 50) await Promise.all(Array.from({ length: 50 }, report));
}
