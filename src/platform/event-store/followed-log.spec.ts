import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { onTestDatabase } from '../../../test/support/postgres.js';
import { newId } from '../../kernel/ids.js';
import { ConfigError } from '../config/settings.js';
import { FollowedLog } from './followed-log.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { Checkpoints } from '../projections/checkpoints.js';

describe('the log that a database belongs to', () => {
  const [db, former, old] = [onTestDatabase(), onTestDatabase(), onTestDatabase()];
  const store = new InMemoryEventStore();

  beforeAll(async () => {
    await new FollowedLog(db.database, store).verify();
  });

  it('is the first log that the database is used with', async () => {
    await expect(new FollowedLog(db.database, store).verify()).resolves.toBeUndefined();
    const other = new FollowedLog(db.database, new InMemoryEventStore());
    await expect(other.verify()).rejects.toThrow(ConfigError);
    await expect(other.verify()).rejects.toThrow('Set EVENT_STORE_URL to the event store of the service');
  });

  it('must contain every event up to the checkpoints', async () => {
    const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
    await store.commit({ appends: [{ stream: 's-1', events, expected: 'no_stream' }] });
    const head = (await store.head())!;
    const checkpoints = new Checkpoints(db.database);
    await checkpoints.ensure(['views.some']);
    const log = new FollowedLog(db.database, store);
    await checkpoints.advance('views.some', null, head);
    await expect(log.verify()).resolves.toBeUndefined();
    await checkpoints.advance('views.some', head, String(Number(head) + 1));
    await expect(log.verify()).rejects.toThrow('ends before the checkpoint of views.some');
  });

  it('cannot be a former primary, which ends before the last position that this process read', async () => {
    const promoted = new InMemoryEventStore();
    const events = [{ id: newId(), type: 'x.v1', data: {}, metadata: {} }];
    await promoted.commit({ appends: [{ stream: 's-1', events, expected: 'no_stream' }] });
    const log = new FollowedLog(former.database, promoted);
    await log.verify();
    await expect(log.verify()).resolves.toBeUndefined();
    jest.spyOn(promoted, 'head').mockResolvedValueOnce(null);
    await expect(log.verify()).rejects.toThrow('the address leads to a former primary');
    await expect(log.verify()).resolves.toBeUndefined();
  });

  it('cannot be another log if checkpoints exist but no log was recorded yet', async () => {
    const checkpoints = new Checkpoints(old.database);
    await checkpoints.ensure(['views.some']);
    await checkpoints.advance('views.some', null, (await store.head())!);
    const wrong = new FollowedLog(old.database, new InMemoryEventStore());
    await expect(wrong.verify()).rejects.toThrow('ends before the checkpoint of views.some');
    await expect(new FollowedLog(old.database, store).verify()).resolves.toBeUndefined();
  });
});
