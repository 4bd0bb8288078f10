import { setTimeout as sleep } from 'node:timers/promises';
import { HOSTILE_RECEIVERS } from '../../support/hostile/catalogue.js';
import { makeCertificates, type Certificates } from '../../support/hostile/certificates.js';
import { challenge, textOf, warmUp } from '../../support/hostile/challenge.js';
import type { HostileReceiver } from '../../support/hostile/receiver.js';
import { SendingProcess } from '../../support/hostile/sending-process.js';
import { seconds, type Suite, type SuiteOptions } from '../support/suite.js';

/** That of production (contract.md 14.2). */
const TIMEOUT_MS = 30_000;
const AT_ONCE = 100;
const WORST_MS = 31_000;
const WORST_GROWTH_MIB = 64;
const LEFT_AFTER_MS = 2000;

/**
 * Every receiver of the catalogue at the timeout of production: each gets one delivery after the other, all receivers
 * side by side. Then {@link AT_ONCE} of them at once, in each round others, and how much the sending process grew.
 */
export const hostile: Suite = async (options) => {
  const certificates = makeCertificates();
  await sendToAll(certificates, options);
  for (let round = 1; round <= options.count; round += 1) await sendAtOnce(round, certificates, options);
};

async function sendToAll(certificates: Certificates, { verdict, say }: SuiteOptions): Promise<void> {
  const sender = await SendingProcess.start(TIMEOUT_MS, certificates.authority);
  const hosts = await Promise.all(HOSTILE_RECEIVERS.map((kind) => kind.start(certificates)));
  try {
    await warmUp(sender, certificates);
    await Promise.all(
      HOSTILE_RECEIVERS.map(async (kind, index) => {
        const { name, sent, complaints } = await challenge(kind, hosts[index]!, sender, TIMEOUT_MS);
        const results = sent.map((each) => `${textOf(each)} after ${seconds(each.tookMs)}`);
        say(`  ${name}: ${results.join(', then ').slice(0, 200)}`);
        verdict.none(complaints, name);
        verdict.none(
          sent.filter(({ tookMs }) => tookMs > WORST_MS),
          `${name}: over within 31 s`,
        );
      }),
    );
  } finally {
    await sender.stop();
    await Promise.all(hosts.map((host) => host.stop()));
  }
}

async function sendAtOnce(
  round: number,
  certificates: Certificates,
  { verdict, say }: SuiteOptions,
): Promise<void> {
  const kinds = Array.from({ length: AT_ONCE }, (_, index) => inTurn(round, index));
  const sender = await SendingProcess.start(TIMEOUT_MS, certificates.authority);
  const hosts = await Promise.all(kinds.map((kind) => kind.start(certificates)));
  try {
    await warmUp(sender, certificates);
    await sender.memory();
    const before = await sender.memory();
    const sent = await Promise.all(hosts.map((host) => sender.post(host.url)));
    const { peak } = await sender.memory();
    await sleep(LEFT_AFTER_MS);
    const after = await sender.memory();
    const slowest = Math.max(...sent.map(({ tookMs }) => tookMs));
    const growth = (peak - before.rss) / 2 ** 20;
    say(
      `round ${round}  ${AT_ONCE} at once: the last over after ${seconds(slowest)}; resident before ${mib(before.rss)}, ` +
        `at most ${mib(peak)} (${growth.toFixed(1)} MiB more), afterwards ${mib(after.rss)}; ${after.sockets} sockets left`,
    );
    verdict.expect(slowest <= WORST_MS, `round ${round}: each over within 31 s`, seconds(slowest));
    verdict.expect(growth < WORST_GROWTH_MIB, `round ${round}: less than 64 MiB more`, `${growth} MiB`);
    verdict.equal(after.sockets, 0, `round ${round}: sockets left after ${seconds(LEFT_AFTER_MS)}`);
  } finally {
    await sender.stop();
    await Promise.all(hosts.map((host) => host.stop()));
  }
}

/** Those that hold on longest or send most come first in each round; the others take turns. */
function inTurn(round: number, index: number): HostileReceiver {
  const heavy = HOSTILE_RECEIVERS.filter(({ name, expected }) => {
    const waits = expected[0]!.some((each) => 'phase' in each && each.phase === 'timeout');
    return waits || /^(one )?endless|bomb|gzip/.test(name);
  });
  if (index < 2 * heavy.length) return heavy[index % heavy.length]!;
  const others = HOSTILE_RECEIVERS.filter((kind) => !heavy.includes(kind));
  return others[((round - 1) * (AT_ONCE - 2 * heavy.length) + index) % others.length]!;
}

function mib(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
