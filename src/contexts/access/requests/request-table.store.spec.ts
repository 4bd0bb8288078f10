import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import type { RequestRecord } from '../../../platform/http/request-log.js';
import { RequestTable } from './request-table.store.js';

const db = onTestDatabase();
const DAY_MS = 86_400_000;

const request = (over: Partial<RequestRecord> = {}): RequestRecord => ({
  requestId: randomUUID(),
  merchantId: randomUUID(),
  credentialId: null,
  startedAt: performance.now() - 250,
  client: '192.0.2.1',
  method: 'POST',
  path: '/merchants/v1/payouts/report',
  queryNames: ['status', 'created_from'],
  status: 401,
  durationMs: 12.345,
  refusal: 'svc-signature does not match the request',
  stringToSign: '1\nPOST\n/merchants/v1/payouts/report\nsha256:ab (2 bytes)',
  ...over,
});

const partitions = async (): Promise<string[]> => {
  const rows = await db.database.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'access.requests'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
};

describe('the table of requests', () => {
  const table = (): RequestTable => new RequestTable(db.database);
  beforeAll(() => new RequestTable(db.database).keep());

  it('stores every field of a request, and its time of arrival by the clock of the database', async () => {
    // PostgreSQL has no text with NUL.
    const one = request({ refusal: '\0 must be given once' });
    await table().write({ requests: [one], usage: [], credentialIds: [] }, false);
    const [row] = await db.database.query(
      `select *, extract(epoch from clock_timestamp() - at) as age from access.requests where request_id = $1`,
      [one.requestId],
    );
    expect(row).toMatchObject({
      merchant_id: one.merchantId,
      credential_id: null,
      query_names: one.queryNames,
      duration_ms: 12.35,
      refusal: '\ufffd must be given once',
      string_to_sign: one.stringToSign,
    });
    expect(Number(row!['age'])).toBeGreaterThanOrEqual(0.2);
    expect(Number(row!['age'])).toBeLessThan((performance.now() - one.startedAt) / 1000 + 1);
  });

  it('writes a repeated batch only once and adds up the requests of each merchant', async () => {
    const one = request();
    const { merchantId } = one;
    const batch = { requests: [one], usage: [{ merchantId, requests: 3, refused: 1 }], credentialIds: [] };
    await table().write(batch, false);
    await table().write(batch, true);
    await table().write({ ...batch, requests: [request({ merchantId })] }, false);
    const [row] = await db.database.query(
      `select (select count(*)::int from access.requests r where r.merchant_id = $1) as rows,
              requests::int, refused::int from access.daily_requests where merchant_id = $1`,
      [merchantId],
    );
    expect(row).toEqual({ rows: 2, requests: 6, refused: 2 });
  });

  it('updates the last use of a credential at most once a minute', async () => {
    const id = randomUUID();
    const use = async (): Promise<Date> => {
      await table().write({ requests: [], usage: [], credentialIds: [id] }, false);
      const sql = 'select last_used_at from access.credential_uses where credential_id = $1';
      return (await db.database.query<{ last_used_at: Date }>(sql, [id]))[0]!.last_used_at;
    };
    const first = await use();
    expect(await use()).toEqual(first);
    await db.database.query(
      `update access.credential_uses set last_used_at = last_used_at - interval '2 minutes' where credential_id = $1`,
      [id],
    );
    expect((await use()).getTime()).toBeGreaterThanOrEqual(first.getTime());
  });
});

describe('the partitions of the request log', () => {
  const log = (): RequestTable => new RequestTable(db.database);

  it('exist three days ahead and are dropped after seven days; daily counts are deleted after ninety', async () => {
    const start = Date.parse('2031-03-10T23:59:00Z');
    const keep = (days: number): Promise<void> => log().keep(undefined, new Date(start + days * DAY_MS));
    await keep(0);
    await keep(0);
    const merchantId = randomUUID();
    const insert = `insert into access.daily_requests values ($1, $2, 1, 0)`;
    for (const day of ['2030-12-09', '2031-01-01']) await db.database.query(insert, [merchantId, day]);
    const named = (days: readonly string[]): string[] => days.map((day) => `access.requests_203103${day}`);
    expect(await partitions()).toEqual(expect.arrayContaining(named(['09', '10', '11', '12', '13'])));
    await keep(7);
    expect((await partitions()).slice(0, 2)).toEqual(named(['10', '11']));
    await keep(8);
    expect((await partitions())[0]).toBe('access.requests_20310311');
    const left = await db.database.query(
      'select day::text from access.daily_requests where merchant_id = $1 order by day',
      [merchantId],
    );
    expect(left).toEqual([{ day: '2031-01-01' }]);
  });

  it('are created only once when several processes start together', async () => {
    const now = new Date('2032-05-05T12:00:00Z');
    await Promise.all([1, 2, 3].map(() => log().keep(undefined, now)));
    expect(await partitions()).toHaveLength(5);
  });
});
