import { beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { newId } from '../../../kernel/ids.js';
import type { Database } from '../../../platform/postgres/database.js';
import { DESTINATION_FRESH_MS, Destinations, type Destination } from './destinations.store.js';

const db = onTestDatabase();
let statements: string[];
let unavailable: boolean;
let destinations: Destinations;

beforeEach(() => {
  statements = [];
  unavailable = false;
  const query: Database['query'] = (sql, params) => {
    statements.push(sql);
    return unavailable ? Promise.reject(new Error('unavailable')) : db.database.query(sql, params);
  };
  destinations = new Destinations({ query } as Database);
});

const change = (sql: string, id: string) =>
  db.database.query(`update webhooks.endpoint_snapshots set ${sql} where endpoint_id = $1`, [id]);
const now = (id: string): Promise<Destination | null> => destinations.load(id);

async function endpoint(): Promise<string> {
  const id = newId();
  await db.database.query(
    `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, sealed_signing_secret, status, position)
     values ($1, $2, 'https://example.com', 's', 'enabled', '1')`,
    [id, newId()],
  );
  return id;
}

describe('the check of an endpoint before something is sent', () => {
  it('is one query for all concurrent deliveries', async () => {
    const ids = await Promise.all([1, 2, 3].map(endpoint));
    const found = await Promise.all([...ids, ...ids, ...ids].map(now));
    expect(found.map((each) => each?.status)).toEqual(Array(9).fill('enabled'));
    expect(found[0]).toMatchObject({ url: 'https://example.com', former_secrets: [] });
    expect(statements).toHaveLength(1);
  });

  it.each([
    ['disabled', `status = 'disabled'`, { status: 'disabled' }],
    ['deleted', `status = 'deleted'`, { status: 'deleted' }],
    ['moved', `url = 'https://example.org'`, { url: 'https://example.org' }],
    ['given another secret', `sealed_signing_secret = 't'`, { sealed_signing_secret: 't' }],
  ])('observes that the endpoint was %s by any process', async (_, sql, expected) => {
    const [changed, other] = [await endpoint(), await endpoint()];
    await Promise.all([now(changed), now(other)]);
    await change(sql, changed);
    await sleep(DESTINATION_FRESH_MS + 5);
    expect(await now(changed)).toMatchObject(expected);
    expect(await now(other)).toMatchObject({ status: 'enabled', url: 'https://example.com' });
  });

  it('finds an endpoint as soon as it is registered', async () => {
    const id = newId();
    expect(await now(id)).toBeNull();
    await db.database.query(
      `insert into webhooks.endpoint_snapshots (endpoint_id, merchant_id, url, sealed_signing_secret, status, position)
       values ($1, $2, 'https://example.com', 's', 'enabled', '1')`,
      [id, newId()],
    );
    await sleep(DESTINATION_FRESH_MS + 5);
    expect(await now(id)).toMatchObject({ status: 'enabled' });
  });

  it('fails while the database is unavailable, and uses no old result', async () => {
    const id = await endpoint();
    await now(id);
    unavailable = true;
    await sleep(DESTINATION_FRESH_MS + 5);
    await expect(now(id)).rejects.toThrow('unavailable');
    unavailable = false;
    expect(await now(id)).toMatchObject({ status: 'enabled' });
  });
});
