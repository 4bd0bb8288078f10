import { createHash } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Aggregate, DomainEvent, SnapshotShape } from '../../kernel/aggregate.js';
import { Database } from '../postgres/database.js';
import { PersonalKeys, type PersonalKey } from '../sealing/personal-keys.js';
import { Sealer } from '../sealing/sealer.js';

/** Snapshots that a process writes at a time; further ones are left for a later load. */
const MAX_WRITES = 4;

/** A state with everything up to `revision` folded in, whose event there is `eventId`. */
export interface Snapshot<S> {
  readonly state: S;
  readonly revision: number;
  readonly eventId: string;
}

interface Row {
  readonly revision: number;
  readonly event_id: string;
  readonly subject: string | null;
  readonly sealed_state: string;
  [column: string]: unknown;
}

/**
 * Folded states of long streams, in `event_store.snapshots` next to any event store. Never the truth: one
 * that is missing, damaged, of another version of the code or of a person who was forgotten is no snapshot, and no
 * trouble here is trouble for a command. Sealed like personal fields in events, and bound to its place in the stream.
 */
@Injectable()
export class Snapshots {
  private readonly logger = new Logger(Snapshots.name);
  private readonly writes = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    @Inject(Sealer) private readonly sealer: PersonalKey,
    @Inject(PersonalKeys) private readonly personalKeys: Pick<PersonalKeys, 'obtain' | 'find'>,
  ) {}

  /** What is kept of a stream; null when there is nothing to go by. Whether the stream agrees is for the caller to see. */
  async find<S, E extends DomainEvent>(
    { snapshots }: Aggregate<S, E>,
    stream: string,
  ): Promise<Snapshot<S> | null> {
    if (snapshots === undefined) return null;
    try {
      const [row] = await this.database.query<Row>(
        `select revision, event_id, subject, sealed_state from event_store.snapshots
         where stream = $1 and shape = $2`,
        [stream, shapeOf(snapshots)],
      );
      if (row === undefined) return null;
      const { revision, event_id: eventId, subject } = row;
      const key = subject === null ? this.sealer : (await this.personalKeys.find([subject])).get(subject);
      if (key === undefined) return null;
      const text = key.open(row.sealed_state, placeOf(stream, snapshots, { revision, eventId }));
      return { state: snapshots.unpack(JSON.parse(text)), revision, eventId };
    } catch (error) {
      this.logger.warn({ msg: 'a snapshot is not used', stream, cause: String(error) });
      return null;
    }
  }

  /** Keeps a state, some time after the call. Not when one of the same stream is being written. */
  save<S, E extends DomainEvent>(
    { snapshots }: Aggregate<S, E>,
    stream: string,
    snapshot: Snapshot<S>,
  ): void {
    if (snapshots === undefined) return;
    this.inBackground(stream, async () => {
      const subject = snapshots.subject?.(snapshot.state) ?? null;
      const key = subject === null ? this.sealer : await this.personalKeys.obtain(subject);
      if (key === null) return;
      const text = JSON.stringify(snapshots.pack(snapshot.state));
      await this.database.query(
        `insert into event_store.snapshots (stream, shape, revision, event_id, subject, sealed_state)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (stream, shape) do update set revision = excluded.revision, event_id = excluded.event_id,
           subject = excluded.subject, sealed_state = excluded.sealed_state
         where snapshots.revision <= excluded.revision`,
        [
          stream,
          shapeOf(snapshots),
          snapshot.revision,
          snapshot.eventId,
          subject,
          key.seal(text, placeOf(stream, snapshots, snapshot)),
        ],
      );
    });
  }

  /** Drops a snapshot with which its stream does not agree: the event store was restored to an earlier time. */
  drop<S, E extends DomainEvent>(
    { snapshots }: Aggregate<S, E>,
    stream: string,
    { eventId }: Snapshot<S>,
  ): void {
    if (snapshots === undefined) return;
    this.logger.warn({ msg: 'a snapshot does not belong to its stream: it is dropped', stream });
    this.inBackground(stream, async () => {
      await this.database.query(
        'delete from event_store.snapshots where stream = $1 and shape = $2 and event_id = $3',
        [stream, shapeOf(snapshots), eventId],
      );
    });
  }

  /** Drops what is kept of a person; without the key of the person it is no use anyway. */
  async forget(subject: string): Promise<void> {
    await this.database.query('delete from event_store.snapshots where subject = $1', [subject]);
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    while (this.writes.size > 0) await Promise.all(this.writes.values());
  }

  private inBackground(stream: string, work: () => Promise<void>): void {
    if (this.writes.has(stream) || this.writes.size >= MAX_WRITES) return;
    const write = work()
      .catch((error: unknown) =>
        this.logger.warn({ msg: 'a snapshot was not written', stream, cause: String(error) }),
      )
      .finally(() => this.writes.delete(stream));
    this.writes.set(stream, write);
  }
}

/** Names what the code makes of a stream. */
function shapeOf<S>({ version, events }: SnapshotShape<S>): string {
  const names = createHash('sha256')
    .update([...events].sort().join())
    .digest('hex');
  return `${version}.${names.slice(0, 16)}`;
}

/** A sealed state opens only as what it was sealed as: of this code, this stream, up to this event. */
function placeOf<S>(
  stream: string,
  shape: SnapshotShape<S>,
  { revision, eventId }: Pick<Snapshot<S>, 'revision' | 'eventId'>,
): string {
  return `snapshot/${stream}/${shapeOf(shape)}/${revision}/${eventId}`;
}
