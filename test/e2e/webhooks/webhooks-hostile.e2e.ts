import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/kernel/ids.js';
import { Database } from '../../../src/platform/postgres/database.js';
import { HOSTILE_RECEIVERS } from '../../support/webhooks/hostile/catalogue.js';
import { makeCertificates } from '../../support/webhooks/hostile/certificates.js';
import { challenge, warmUp, type Challenged } from '../../support/webhooks/hostile/challenge.js';
import type { Hosted, HostileReceiver } from '../../support/webhooks/hostile/receiver.js';
import { SendingProcess } from '../../support/webhooks/hostile/sending-process.js';
import { dropTestDatabase, testDatabaseUrl } from '../../support/postgres.js';
import { eventually } from '../../support/eventually.js';
import { WebhookWorker } from '../../support/webhooks/webhook-worker.js';

/** Instead of the 30 s of production. */
const TIMEOUT_MS = 5000;
/** Less than a second deadline. */
const LATE_MS = 2000;
const certificates = makeCertificates();

describe('a hostile receiver', () => {
  let sender: SendingProcess;
  let hosts: Hosted[];
  let grownBy: number;
  let results: ReadonlyMap<string, Challenged>;

  beforeAll(async () => {
    sender = await SendingProcess.start(TIMEOUT_MS, certificates.authority);
    hosts = await Promise.all(HOSTILE_RECEIVERS.map((kind) => kind.start(certificates)));
    await warmUp(sender, certificates, 50);
    const { rss } = await sender.memory();
    const challenged = await Promise.all(
      HOSTILE_RECEIVERS.map((kind, index) => challenge(kind, hosts[index]!, sender, TIMEOUT_MS, LATE_MS)),
    );
    grownBy = (await sender.memory()).peak - rss;
    results = new Map(challenged.map((each) => [each.name, each]));
  });
  afterAll(async () => {
    await sender.stop();
    await Promise.all(hosts.map((host) => host.stop()));
  });

  it.each(HOSTILE_RECEIVERS.map(({ name }) => name))('%s', (name) =>
    expect(results.get(name)?.complaints).toEqual([]),
  );

  it('costs little memory, with all of them at once', () => expect(grownBy).toBeLessThan(64 * 2 ** 20));

  it('leaves no socket behind', () =>
    eventually(async () => ((await sender.memory()).sockets === 0 ? true : null)));
});

interface AttemptRow extends Record<string, unknown> {
  readonly attempt: number;
  readonly outcome: string;
  readonly http_status: number | null;
  readonly failure_phase: string | null;
  readonly excerpt_bytes: number | null;
  readonly error: string | null;
}

describe('a delivery to a hostile receiver', () => {
  let databaseUrl: string;
  let worker: WebhookWorker;

  beforeAll(async () => {
    databaseUrl = await testDatabaseUrl();
    const settings = { WEBHOOK_RETRY_SCHEDULE_SECONDS: '0', WEBHOOK_TIMEOUT_MS: '3000' };
    worker = await WebhookWorker.start({ databaseUrl, settings });
  });
  afterAll(async () => {
    await worker.close();
    await dropTestDatabase(databaseUrl);
  });

  const kindOf = (name: string): HostileReceiver => HOSTILE_RECEIVERS.find((kind) => kind.name === name)!;

  /** Delivers one event to the receiver and waits for its end. */
  async function deliver(name: string): Promise<{ state: string; attempts: readonly AttemptRow[] }> {
    const hosted = await kindOf(name).start(certificates);
    try {
      const merchantId = newId();
      const { id } = await worker.register(merchantId, hosted.url);
      await worker.publish(merchantId);
      const [row] = await worker.settled(id);
      const attempts = await worker.get(Database).query<AttemptRow>(
        `select attempt, outcome, http_status, failure_phase, octet_length(response_excerpt) excerpt_bytes, error
         from webhooks.attempts where endpoint_id = $1 order by attempt`,
        [id],
      );
      return { state: row!.state, attempts };
    } finally {
      await hosted.stop();
    }
  }

  const failing = [
    ['accepts and never responds', 'timeout'],
    ['drips its body', 'timeout'],
    ['closes after the request', 'send'],
    ['resets within its response', 'response'],
    ['endless header fields', 'response'],
    ['garbage before the status line', 'response'],
    ['a self-signed certificate', 'tls'],
    ['refuses connections', 'connect'],
  ] as const;

  it('is tried again, then exhausted, and each attempt has its class of failure', async () => {
    const delivered = await Promise.all(failing.map(([name]) => deliver(name)));
    for (const [index, [name, phase]] of failing.entries()) {
      const { state, attempts } = delivered[index]!;
      const attempt = { outcome: 'retry', http_status: null, failure_phase: phase, excerpt_bytes: null };
      expect({ name, state, attempts }).toMatchObject({
        name,
        state: 'exhausted',
        attempts: [
          { attempt: 1, ...attempt },
          { attempt: 2, ...attempt },
        ],
      });
      for (const { error } of attempts) expect(error).not.toMatch(/secret|^$/);
    }
  });

  it.each([
    ['endless chunks', 'succeeded', 200, 1024],
    ['gzip bomb', 'succeeded', 200, 1024],
    ['410 Gone', 'exhausted', 410, 0],
    ['responds before it has read the request', 'exhausted', 413, 0],
  ])('%s: %s after one attempt', async (name, state, status, bytes) => {
    expect(await deliver(name)).toMatchObject({
      state,
      attempts: [{ attempt: 1, http_status: status, failure_phase: null, excerpt_bytes: bytes }],
    });
  });

  it('a redirect to an internal address is a failure, and is not followed', async () => {
    const { state, attempts } = await deliver('redirects to an internal address with 307');
    expect(state).toBe('exhausted');
    expect(attempts.map(({ http_status }) => http_status)).toEqual([307, 307]);
  });

  it('Retry-After postpones the next attempt beyond the schedule', async () => {
    const hosted = await kindOf('429 with Retry-After: seconds').start(certificates);
    const merchantId = newId();
    const { id } = await worker.register(merchantId, hosted.url);
    await worker.publish(merchantId);
    const [row] = await eventually(async () => {
      const rows = await worker.get(Database).query<{ in_s: number }>(
        `select extract(epoch from due_at - now())::float8 in_s from webhooks.deliveries
         where endpoint_id = $1 and attempts = 1 and state = 'pending'`,
        [id],
      );
      return rows.length === 1 ? rows : null;
    });
    expect(row!.in_s).toBeGreaterThan(110);
    expect(row!.in_s).toBeLessThanOrEqual(120);
    await hosted.stop();
  });
});
