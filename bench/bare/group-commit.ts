import type pg from 'pg';
import type { BareEvent } from './event.js';

interface Waiting {
  readonly event: BareEvent;
  resolve(): void;
  reject(error: unknown): void;
}

const INSERT = {
  name: 'group-insert',
  text: `insert into group_events (id, stream, revision, type, data)
    select id, stream, 0, type, data
    from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as e (id, stream, type, data)`,
};

/** One insert in flight; what arrives meanwhile goes together in the next one. Nothing else: no claims, no stored responses. */
export class GroupCommit {
  private waiting: Waiting[] = [];
  private busy = false;

  constructor(private readonly pool: pg.Pool) {}

  append(event: BareEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ event, resolve, reject });
      if (!this.busy) void this.drain();
    });
  }

  private async drain(): Promise<void> {
    this.busy = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        const events = batch.map((each) => each.event);
        await this.pool.query({
          ...INSERT,
          values: [
            events.map((event) => event.id),
            events.map((event) => event.stream),
            events.map((event) => event.type),
            events.map((event) => event.data),
          ],
        });
        for (const each of batch) each.resolve();
      } catch (error) {
        for (const each of batch) each.reject(error);
      }
    }
    this.busy = false;
  }
}
