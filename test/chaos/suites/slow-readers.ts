import { residentMiB } from '../../../bench/support/memory.js';
import { SignedClient } from '../../support/http/signed-client.js';
import { createUser, randomHash } from '../../support/payouts/payout-calls.js';
import { during, type Attack } from '../support/attacks/attack.js';
import { honestLoad, type Experience } from '../support/honest-load.js';
import { expectStatus, REPORT, reportBody } from '../support/payouts.js';
import type { ServiceProcess } from '../../../bench/support/service.js';
import { Shared } from '../support/shared.js';
import { percentile, type Suite, type SuiteOptions } from '../support/suite.js';

/** The connections of each attack, or its requests per second. */
const SIZE_OF: Readonly<Record<Attack['kind'], number>> = {
  'unread-mismatches': 300,
  'read-mismatches': 7,
  'unread-pages': 60,
  'unfinished-bodies': 600,
};
export const ATTACKS = Object.keys(SIZE_OF) as Attack['kind'][];

/** The bound of the service's heap and of its resident memory. */
const MEMORY_MIB = 512;
const QUIET_SECONDS = 15;
const P99_TIMES = 3;

/** The payouts of the hostile merchant, with the maximum metadata. */
const PAYOUTS = 1000;
const METADATA_BYTES = 16_000;

/**
 * Clients do not read their responses, do not finish their requests, or send the most expensive ones. An
 * honest merchant works from another address. Its p99 is compared with quiet times before and after. The
 * service's memory is bounded.
 */
export const slowReaders: Suite = async (options) => {
  await Shared.run(async (shared) => {
    const env = { NODE_OPTIONS: `--max-old-space-size=${MEMORY_MIB}` };
    const service = await shared.service('service', env);
    const userId = await createUser(service.client);
    const attacks = options.attack === undefined ? ATTACKS : [options.attack];
    if (attacks.includes('unread-pages')) await fillPage(service, options.sizes?.payouts ?? PAYOUTS);
    for (let round = 1; round <= options.count; round += 1)
      for (const kind of attacks) await endure(service, kind, userId, options);
  });
};

async function endure(
  service: ServiceProcess,
  kind: Attack['kind'],
  userId: string,
  { say, verdict, sizes = {} }: SuiteOptions,
): Promise<void> {
  const { seconds: attackSeconds = 180, 'p99-times': times = P99_TIMES } = sizes;
  const { port } = service;
  const measure = (seconds: number): Promise<Experience> => {
    const end = performance.now() + seconds * 1000;
    const target = { port, merchant: service.merchant, userId };
    return honestLoad(target, verdict, () => performance.now() > end);
  };
  const quietSeconds = Math.min(QUIET_SECONDS, attackSeconds / 4);
  await measure(Math.min(3, quietSeconds));
  const quietBefore = await measure(quietSeconds);
  const attack: Attack = {
    kind,
    port,
    // The merchant of `unread-pages` signs correctly. Other attacks use the honest merchant's public id.
    merchant: kind === 'unread-pages' ? service.secondMerchant : service.merchant,
    connections: Math.ceil(SIZE_OF[kind] * ((sizes.percent ?? 100) / 100)),
    addresses: sizes.addresses ?? 4,
  };
  let maxMiB = 0;
  const watch = setInterval(() => (maxMiB = Math.max(maxMiB, residentMiB(service.pid))), 250);
  const [attacked, report] = await during(attack, () => measure(attackSeconds)).finally(() =>
    clearInterval(watch),
  );

  // Half of the quiet time follows the attack, so that other work of the machine counts on both sides.
  const quietAfter = await measure(quietSeconds);
  const quietMs = [...quietBefore.tookMs, ...quietAfter.tookMs];
  const [quietP99, attackedP99] = [percentile(quietMs, 0.99), percentile(attacked.tookMs, 0.99)];
  say(`${kind}: ${attack.connections} for ${attackSeconds} s from ${attack.addresses} addresses`);
  say(
    `  honest p99: quiet ${quietP99.toFixed(1)} ms, attacked ${attackedP99.toFixed(1)} ms (${attacked.tally})`,
  );
  say(`  memory: ${maxMiB} MiB at most; attacker: ${JSON.stringify(report)}`);
  verdict.equal(service.exited(), null, `${kind}: the service lives`);
  verdict.none(`${kind}: an honest request did not get 200 or 201`, attacked.refused);
  verdict.expect(attacked.tookMs.length > 0, `${kind}: the honest merchant was served`);
  verdict.expect(maxMiB <= MEMORY_MIB, `${kind}: resident memory stays within ${MEMORY_MIB} MiB`, maxMiB);
  verdict.expect(
    attackedP99 <= times * quietP99,
    `${kind}: p99 of the honest merchant within ${times} times the quiet one`,
    `${attackedP99} ms, not within ${times} times ${quietP99} ms`,
  );
}

async function fillPage({ baseUrl, secondMerchant: who }: ServiceProcess, count: number): Promise<void> {
  const client = new SignedClient(baseUrl, who);
  const userId = await createUser(client);
  const note = 'n'.repeat(METADATA_BYTES);
  const report = async (): Promise<unknown> =>
    expectStatus(await client.post(REPORT.path, reportBody(userId, 1_000_000, randomHash(), note)), 201);
  for (let done = 0; done < count; done += 50) await Promise.all(Array.from({ length: 50 }, report));
}
