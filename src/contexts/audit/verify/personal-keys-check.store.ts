import { DAY_MS } from '../../../kernel/clock.js';
import { everyRow } from '../../../platform/postgres/batches.js';
import type { Sealer } from '../../../platform/sealing/sealer.js';
import { associatedDataOfPersonalKey } from '../../../platform/sealing/personal-keys.js';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import { type CheckedTables, type Context, knownEvents } from '../../../platform/context.js';
import type { EventTypeDefinition } from '../../../platform/event-store/event-codec.js';
import type { TableCheck } from '../../../platform/projections/table-check.js';
import { DifferentRows, type TableComparison } from '../../../platform/projections/compare-tables.js';

export const PERSONAL_KEYS = 'platform.personal_keys';
/** The maximum time from an erasure's event until its key is dropped, with retries. */
const ERASING_MS = DAY_MS;

/**
 * Checks that each person with data in the log has a key until the erasure, and none afterwards. A person is
 * a user or the person of an order. With the master key it also checks that each key opens for its person.
 */
export class PersonalKeysCheck implements TableCheck {
  readonly name = PERSONAL_KEYS;
  private readonly erases: NonNullable<Context['erases']>;
  private readonly sealed: ReadonlyMap<string, NonNullable<EventTypeDefinition['sealed']>>;
  /** The persons with sealed data in the events up to `position`, whose keys must exist. */
  private readonly persons = new Set<string>();
  private readonly erased = new Map<string, Date>();
  /** The time of the snapshot in ms. Erasures continue while the log is replayed. */
  private readonly snapshotAt = Date.now();

  constructor(
    private readonly tables: Pick<CheckedTables, 'query'>,
    private readonly sealer: Pick<Sealer, 'openBytes'> | null,
    contexts: readonly Context[],
    private readonly position: string | null,
  ) {
    this.erases = Object.assign({}, ...contexts.map(({ erases }) => erases));
    const types = knownEvents(contexts);
    this.sealed = new Map(types.flatMap(({ type, sealed }) => (sealed ? [[type, sealed]] : [])));
  }

  async add(page: readonly RecordedEvent[]): Promise<void> {
    for (const { type, data, position, recordedAt } of page) {
      const erased = this.erases[type];
      if (erased !== undefined) this.erased.set(String(data[erased]), recordedAt);
      const sealed = this.sealed.get(type);
      if (sealed === undefined || comparePositions(position, this.position) > 0) continue;
      if (sealed.fields.some((field) => typeof data[field] === 'string'))
        this.persons.add(String(data[sealed.subject]));
    }
  }

  async compare(): Promise<readonly TableComparison[]> {
    const different = new DifferentRows();
    let rows = 0;
    await everyRow<{ readonly subject: string; readonly wrapped_key: string | null }>(
      this.tables.query,
      `select subject, wrapped_key from ${PERSONAL_KEYS}
       where $1::text is null or subject > $1 order by subject limit $2`,
      ({ subject }) => subject,
      ({ subject, wrapped_key: wrapped }) => {
        rows += 1;
        const wrong = this.findWrong(subject, wrapped);
        if (wrong !== null) different.add(`${PERSONAL_KEYS} ${subject}: ${wrong}`);
        this.persons.delete(subject);
      },
    );
    for (const subject of this.persons)
      if (!this.erased.has(subject))
        different.add(`${PERSONAL_KEYS} ${subject}: no row, and the events say nothing of an erasure`);
    return [different.of(PERSONAL_KEYS, rows)];
  }

  private findWrong(subject: string, wrapped: string | null): string | null {
    const erasedAt = this.erased.get(subject);
    if (wrapped === null) {
      return erasedAt === undefined && this.persons.has(subject)
        ? 'the key was dropped, and the events say nothing of an erasure'
        : null;
    }
    if (erasedAt !== undefined && this.snapshotAt - erasedAt.getTime() > ERASING_MS)
      return `there is a key, and the person was erased at ${erasedAt.toISOString()}`;
    return this.opens(subject, wrapped) ? null : 'the key does not open: it is not the one of this person';
  }

  private opens(subject: string, wrapped: string): boolean {
    try {
      this.sealer?.openBytes(wrapped, associatedDataOfPersonalKey(subject));
      return true;
    } catch {
      return false;
    }
  }
}
