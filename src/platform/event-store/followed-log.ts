import { Inject, Injectable } from '@nestjs/common';
import { ConfigError } from '../config/settings.js';
import { Database } from '../postgres/database.js';
import { Unreachable } from '../postgres/unavailable.js';
import { comparePositions, EVENT_STORE, EventStoreUnavailable, type EventStore } from './port.js';

/**
 * The check that the event store has the log of the read models and checkpoints in DATABASE_URL. With another log, or
 * one restored to an earlier state, subscriptions would wait for ever.
 */
@Injectable()
export class FollowedLog {
  /** The end of the log at the last check. */
  private seen: string | null = null;

  constructor(
    private readonly database: Database,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  /** Records the first log of this database. Throws {@link ConfigError} for any other, or a shorter one. */
  async verify(): Promise<void> {
    const found = await this.found();
    const [row] = await this.database.query<{ log_id: string }>(
      'select log_id from event_store.followed_log',
    );
    if (row !== undefined) requireSame(found, row.log_id);
    await this.requireWhole();
    // Recorded after the check: a shorter log is not the log of this database.
    const [met] = await this.database.query<{ log_id: string }>(
      `with met as (
         insert into event_store.followed_log (log_id) values ($1) on conflict do nothing returning log_id
       ) select log_id from met union all select log_id from event_store.followed_log`,
      [found],
    );
    if (met !== undefined) requireSame(found, met.log_id);
  }

  private async requireWhole(): Promise<void> {
    const { seen } = this;
    const ahead = await this.furthest();
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

  /** Reads the furthest checkpoint. The head is read later, because it only grows. */
  private async furthest(): Promise<{ readonly name: string; readonly position: string } | null> {
    const rows = await this.database.query<{ name: string; position: string }>(
      'select name, position from event_store.checkpoints where position is not null',
    );
    return rows.toSorted((a, b) => comparePositions(b.position, a.position))[0] ?? null;
  }
}

/** The error of a log that ends before a checkpoint of the database. */
export class EventsMissing extends ConfigError {}

function requireSame(found: string, followed: string): void {
  if (found === followed) return;
  throw new ConfigError(
    `The event store is not the one that this database belongs to (${found}, expected ${followed}). ` +
      'Set EVENT_STORE_URL to the event store of the service, also for operator programs, or DATABASE_URL to the database of this event store.',
  );
}
