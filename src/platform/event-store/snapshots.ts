import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Aggregate, DomainEvent, SnapshotShape } from '../../kernel/aggregate.js';
import { sha256 } from '../../kernel/sha256.js';
import { Database } from '../postgres/database.js';
import { PersonalKeys, type PersonalKey } from '../sealing/personal-keys.js';
import { Sealer } from '../sealing/sealer.js';

/** The state of a stream after the event `eventId` at `revision`. */
interface Snapshot<S> {
  readonly state: S;
  readonly revision: number;
  readonly eventId: string;
}

interface Row {
  readonly revision: number;
  readonly event_id: string;
  readonly subject: string | null;
  readonly sealed_state: string;
}

/**
 * A cache of the states of long streams, sealed like personal fields and bound to their place in the stream.
 * Damaged, outdated and erased snapshots are ignored, and failures are only logged.
 */
@Injectable()
export class Snapshots {
  private readonly logger = new Logger(Snapshots.name);

  constructor(
    private readonly database: Database,
    @Inject(Sealer) private readonly sealer: PersonalKey,
    @Inject(PersonalKeys) private readonly personalKeys: Pick<PersonalKeys, 'obtain' | 'find'>,
  ) {}

  /** Returns the snapshot or null. The caller checks that the stream still has the event `eventId`. */
  async find<S, E extends DomainEvent>(
    { snapshots }: Aggregate<S, E>,
    stream: string,
  ): Promise<Snapshot<S> | null> {
    if (snapshots === undefined) return null;
    try {
      const [row] = await this.database.query<Row>(
        `select revision, event_id, subject, sealed_state from event_store.snapshots
         where stream = $1 and shape = $2`,
        [stream, toShape(snapshots)],
      );
      if (row === undefined) return null;
      const { revision, event_id: eventId, subject } = row;
      const key = subject === null ? this.sealer : (await this.personalKeys.find([subject])).get(subject);
      if (key === undefined) return null;
      const text = key.open(row.sealed_state, toAssociatedData(stream, snapshots, { revision, eventId }));
      return { state: snapshots.unpack(JSON.parse(text)), revision, eventId };
    } catch (error) {
      this.logger.warn({ msg: 'snapshot not used', stream, err: error });
      return null;
    }
  }

  async save<S, E extends DomainEvent>(
    { snapshots }: Aggregate<S, E>,
    stream: string,
    snapshot: Snapshot<S>,
  ): Promise<void> {
    if (snapshots === undefined) return;
    try {
      const subject = snapshots.subject?.(snapshot.state) ?? null;
      const key = subject === null ? this.sealer : await this.personalKeys.obtain(subject);
      if (key === null) return;
      const text = JSON.stringify(snapshots.pack(snapshot.state));
      await this.database.query(
        `insert into event_store.snapshots (stream, shape, revision, event_id, subject, sealed_state)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (stream, shape) do update set revision = excluded.revision, event_id = excluded.event_id,
           subject = excluded.subject, sealed_state = excluded.sealed_state`,
        [
          stream,
          toShape(snapshots),
          snapshot.revision,
          snapshot.eventId,
          subject,
          key.seal(text, toAssociatedData(stream, snapshots, snapshot)),
        ],
      );
    } catch (error) {
      this.logger.warn({ msg: 'snapshot not written', stream, err: error });
    }
  }

  async forget(subject: string): Promise<void> {
    await this.database.query('delete from event_store.snapshots where subject = $1', [subject]);
  }
}

/** Returns the name of the code that folds the stream: its version and a hash of its event types. */
function toShape<S>({ version, events }: SnapshotShape<S>): string {
  return `${version}.${sha256([...events].sort().join()).toString('hex', 0, 8)}`;
}

function toAssociatedData<S>(
  stream: string,
  shape: SnapshotShape<S>,
  { revision, eventId }: Pick<Snapshot<S>, 'revision' | 'eventId'>,
): string {
  return `snapshot/${stream}/${toShape(shape)}/${revision}/${eventId}`;
}
