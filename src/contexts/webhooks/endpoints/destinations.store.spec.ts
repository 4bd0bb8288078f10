import { beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestDatabase } from '../../../../test/support/postgres.js';
import { insertEndpoint } from '../../../../test/support/webhooks/webhook-rows.js';
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

const now = (id: string): Promise<Destination | null> => destinations.load(id);
const endpoint = (): Promise<string> => insertEndpoint(db.database);

describe('the check of an endpoint before a delivery is sent', () => {
  it('is one query for all concurrent deliveries', async () => {
    const ids = await Promise.all([1, 2, 3].map(endpoint));
    const found = await Promise.all([...ids, ...ids, ...ids].map(now));
    expect(found.map((each) => each?.status)).toEqual(Array(9).fill('enabled'));
    expect(found[0]).toMatchObject({ url: 'https://example.com', former_secrets: [] });
    expect(statements).toHaveLength(1);
  });

  it('observes a registration and a change by any process within 20 ms', async () => {
    const [changed, other, later] = [await endpoint(), await endpoint(), newId()];
    const before = { url: 'https://example.com', status: 'enabled', sealed_signing_secret: 's' };
    expect(await Promise.all([changed, other].map(now))).toMatchObject([before, before]);
    expect(await now(later)).toBeNull();
    const after = { url: 'https://example.org', status: 'disabled', sealed_signing_secret: 't' };
    await db.database.query(
      `update webhooks.endpoint_snapshots set url = $2, status = $3, sealed_signing_secret = $4 where endpoint_id = $1`,
      [changed, ...Object.values(after)],
    );
    await insertEndpoint(db.database, { id: later });
    await sleep(DESTINATION_FRESH_MS + 5);
    expect(await Promise.all([changed, other, later].map(now))).toMatchObject([after, before, before]);
  });

  it('fails while the database is unavailable and uses no earlier result', async () => {
    const id = await endpoint();
    await now(id);
    unavailable = true;
    await sleep(DESTINATION_FRESH_MS + 5);
    await expect(now(id)).rejects.toThrow('unavailable');
    unavailable = false;
    expect(await now(id)).toMatchObject({ status: 'enabled' });
  });
});
