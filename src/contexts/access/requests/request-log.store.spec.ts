import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RequestRecord } from '../../../platform/http/request-log.js';
import type { RequestBatch } from './request-table.store.js';
import { BufferedRequestLog } from './request-log.store.js';

const SECRET = randomUUID();

const request = (over: Partial<RequestRecord> = {}): RequestRecord => ({
  requestId: randomUUID(),
  merchantId: 'm1',
  credentialId: SECRET,
  startedAt: performance.now(),
  method: 'GET',
  client: '192.0.2.1',
  path: '/merchants/v1/payouts',
  queryNames: [],
  status: 200,
  durationMs: 1,
  refusal: null,
  stringToSign: null,
  ...over,
});

/** A log whose first `failures` writes find the database unavailable, and its written batches. */
function written(failures = 0) {
  const batches: { batch: RequestBatch; repeated: boolean }[] = [];
  let left = failures;
  const write = async (batch: RequestBatch, repeated: boolean): Promise<void> => {
    batches.push({ batch, repeated });
    if (left-- > 0) throw new Error('unavailable');
  };
  return { log: new BufferedRequestLog({ write } as never), batches };
}

describe('the request log', () => {
  it('writes recorded requests in one batch with the counts of each merchant', async () => {
    const { log, batches } = written();
    for (const merchantId of ['m2', 'm1', 'm2']) log.record(request({ merchantId }));
    log.record(request({ merchantId: 'm1', status: 422 }));
    await log.flush();
    await log.flush();
    expect(batches).toHaveLength(1);
    expect(batches[0]!.batch.requests).toHaveLength(4);
    expect(batches[0]!.batch.credentialIds).toEqual([SECRET]);
    expect(batches[0]!.batch.usage).toEqual([
      { merchantId: 'm2', requests: 2, refused: 0 },
      { merchantId: 'm1', requests: 2, refused: 1 },
    ]);
  });

  it('retries the same batch after a failure and marks the retry as repeated', async () => {
    const { log, batches } = written(1);
    log.record(request());
    await expect(log.flush()).rejects.toThrow('unavailable');
    log.record(request());
    await log.flush();
    expect(batches.map(({ repeated }) => repeated)).toEqual([false, true, false]);
    expect(batches[1]!.batch).toBe(batches[0]!.batch);
    expect(batches[2]!.batch.requests).toHaveLength(1);
  });

  it('drops a batch with a value that the database refuses, and then writes the next batch', async () => {
    const batches: RequestBatch[] = [];
    const write = async (batch: RequestBatch): Promise<void> => {
      batches.push(batch);
      if (batches.length === 1) throw Object.assign(new Error('invalid byte sequence'), { code: '22021' });
    };
    const log = new BufferedRequestLog({ write } as never);
    log.record(request());
    await expect(log.flush()).rejects.toThrow('invalid byte sequence');
    log.record(request({ merchantId: 'm2' }));
    await log.flush();
    expect(batches[1]!.requests.map(({ merchantId }) => merchantId)).toEqual(['m2']);
  });

  describe('with unsigned requests', () => {
    const refused = (over: Partial<RequestRecord>): RequestRecord =>
      request({ credentialId: null, status: 401, ...over });
    const rowsOf = async (requests: readonly RequestRecord[]): Promise<readonly RequestRecord[]> => {
      const { log, batches } = written();
      for (const each of requests) log.record(each);
      await log.flush();
      return batches.flatMap(({ batch }) => batch.requests);
    };

    it('accepts 300 small rows per merchant and minute, 100 per address, and fewer large rows', async () => {
      const many = (clients: number, over: Partial<RequestRecord> = {}): RequestRecord[] =>
        Array.from({ length: 500 }, (_, n) => refused({ client: `192.0.2.${n % clients}`, ...over }));
      expect(await rowsOf(many(1))).toHaveLength(100);
      expect(await rowsOf(many(9))).toHaveLength(300);
      expect(await rowsOf(many(9, { stringToSign: 'x'.repeat(1024) }))).toHaveLength(100);
    });

    it('accepts all rows of an address with a signed request, however many requests strangers send', async () => {
      const strangers = Array.from({ length: 900 }, (_, n) => refused({ client: `198.51.100.${n % 200}` }));
      const own = Array.from({ length: 50 }, () => refused({}));
      const rows = await rowsOf([request(), ...strangers, ...own]);
      expect(rows.filter(({ client }) => client === '192.0.2.1')).toHaveLength(51);
      expect(rows).toHaveLength(351);
    });
  });

  it('drops requests while its buffer is full, but counts them', async () => {
    const { log, batches } = written();
    for (let n = 0; n < 40_010; n += 1) log.record(request());
    await log.flush();
    const total = batches.reduce((sum, { batch }) => sum + batch.requests.length, 0);
    expect(total).toBe(40_000);
    expect(batches[0]!.batch.usage[0]).toMatchObject({ requests: 40_010 });
  });

  it('writes the buffered requests when the process stops', async () => {
    const { log, batches } = written();
    log.record(request());
    await log.beforeApplicationShutdown();
    expect(batches).toHaveLength(1);
  });
});
