import { Inject, Injectable } from '@nestjs/common';
import { ConfigError } from '../config/settings.js';
import { Database } from '../postgres/database.js';
import { Unreachable } from '../postgres/unavailable.js';
import { comparePositions, EVENT_STORE, EventStoreUnavailable, type EventStore } from './port.js';

/** Checks that the event store belongs to this database. Otherwise subscriptions would wait for ever. */
@Injectable()
export class FollowedLog {
  /** The end of the log at the last check. */
  private seen: string | null = null;

  constructor(
    private readonly database: Database,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Records the log on first use. Throws ConfigError for another log, or for a log that lacks events. */
  async verify(): Promise<void> {
    const found = await this.found();
    await this.requireFollowed(found);
    await this.requireWhole();
    // The log is recorded only after the checks. Another process may have recorded one first.
    const sql =
      'insert into event_store.followed_log (log_id) values ($1) on conflict do nothing returning 1';
    if ((await this.database.query(sql, [found])).length === 0) await this.requireFollowed(found);
  }

  private async requireFollowed(found: string): Promise<void> {
    const sql = 'select log_id from event_store.followed_log where log_id <> $1';
    const [other] = await this.database.query<{ log_id: string }>(sql, [found]);
    if (other === undefined) return;
    throw new ConfigError(
      `The event store is not the one that this database belongs to (${found}, expected ${other.log_id}). ` +
        'Set EVENT_STORE_URL to the event store of the service, also for operator programs, or DATABASE_URL to the database of this event store.',
    );
  }

  private async requireWhole(): Promise<void> {
    const { seen } = this;
    const checkpoints = await this.database.query<{ name: string; position: string }>(
      'select name, position from event_store.checkpoints where position is not null',
    );
    const [ahead = null] = checkpoints.toSorted((a, b) => comparePositions(b.position, a.position));
    // The head is read after the checkpoints, because it only grows.
    const head = await this.store.head();
    if (ahead !== null && comparePositions(ahead.position, head) > 0) {
      throw new EventsMissing(
        `The event store ends before the checkpoint of ${ahead.name} (${ahead.position}): events are missing, as after the restore of an older backup. ` +
          'Restore the event store from a copy that has them, or DATABASE_URL from a backup that is not newer than the event store.',
      );
    }
    if (comparePositions(seen, head) > 0) {
      throw new EventsMissing(
        `The event store ends at ${head}, and this process has seen it end at ${seen}: the address leads to a former primary, or events are missing. ` +
          'Point it to the server that was promoted; after a restore, start the process again.',
      );
    }
    if (comparePositions(head, this.seen) > 0) this.seen = head;
  }

  private async found(): Promise<string> {
    try {
      return await this.store.identity();
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      throw new Unreachable(`The event store of EVENT_STORE_URL is unavailable: ${error.message}`);
    }
  }
}

/** The error for a log that ends before a checkpoint, or before its earlier end. */
export class EventsMissing extends ConfigError {}
