import type pg from 'pg';
import type { LedgerFinding } from '../../../../src/contexts/audit/domain/findings.js';
import type { Random } from '../random.js';

/** An event of the untouched log. */
export interface StoredRow {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** What was done, and how a check has to name it. */
export interface Done {
  readonly what: string;
  /** Whether the findings name it. */
  readonly isNamed: (findings: readonly LedgerFinding[]) => boolean;
  /** The auditor has a copy of the newest head, or the public key. */
  readonly needs?: 'head' | 'key';
}

export interface Scene {
  readonly tx: pg.ClientBase;
  readonly events: readonly StoredRow[];
  readonly random: Random;
}

/** Null: it came out as it was. */
export type Tampering = (scene: Scene) => Promise<Done | null>;

const EVENTS = 'event_store.events';
/** Most of an event is data. */
const COLUMNS = [
  ...['data', 'data', 'data', 'metadata', 'stream', 'type', 'id', 'revision', 'recorded_at'],
] as const;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

type At = { readonly position: string };
const at =
  (kinds: readonly LedgerFinding['kind'][], ...positions: readonly string[]): Done['isNamed'] =>
  (findings) =>
    positions.every((position) =>
      findings.some(
        (finding) => kinds.includes(finding.kind) && (finding as Partial<At>).position === position,
      ),
    );

/** One character of one column is another one. */
const flip: Tampering = async ({ tx, events, random }) => {
  const event = random.pick(events);
  const isNamed = at(['changed', 'unreadable'], event.position);
  const column = random.pick(COLUMNS);
  const what = `${column} of ${event.position} changed`;
  const set = (value: string, given: unknown): Promise<unknown> =>
    tx.query(`update ${EVENTS} set ${column} = ${value} where position = $1`, [event.position, given]);
  switch (column) {
    case 'revision':
      await set('$2::int', 1_000_000 + random.below(1000));
      return { what, isNamed };
    case 'recorded_at':
      await set('recorded_at + make_interval(secs => $2)', (1 + random.below(1_000_000)) / 1000);
      return { what, isNamed };
    case 'id':
      await set('$2::uuid', random.uuid());
      return { what, isNamed };
    default: {
      const text = event[column];
      const place = random.below(text.length);
      const changed = text.slice(0, place) + random.pick([...LETTERS]) + text.slice(place + 1);
      if (sameMeaning(column, text, changed)) return null;
      await set('$2', changed);
      return { what, isNamed };
    }
  }
};

function sameMeaning(column: string, one: string, other: string): boolean {
  if (one === other || (column !== 'data' && column !== 'metadata')) return one === other;
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return false;
  }
}

const drop: Tampering = async ({ tx, events, random }) => {
  const event = random.pick(events);
  await tx.query(`delete from ${EVENTS} where position = $1`, [event.position]);
  return { what: `event at ${event.position} deleted`, isNamed: at(['deleted'], event.position) };
};

const swap: Tampering = async ({ tx, events, random }) => {
  const [one, other] = [random.pick(events), random.pick(events)];
  if (one === other) return null;
  await tx.query(`update ${EVENTS} set position = -1 where position = $1`, [one.position]);
  await tx.query(`update ${EVENTS} set position = $2 where position = $1`, [other.position, one.position]);
  await tx.query(`update ${EVENTS} set position = $1 where position = -1`, [other.position]);
  return {
    what: `events at ${one.position} and ${other.position} swapped`,
    isNamed: at(['moved'], one.position, other.position),
  };
};

/** Into a gap of the positions, such as refused commits leave; or at their end or beginning. */
const insert: Tampering = async ({ tx, events, random }) => {
  const { rows } = await tx.query<{ position: string }>(
    `select p as position from generate_series(0, (select max(position) from ${EVENTS})) p
     where p not in (select position from ${EVENTS})`,
  );
  const { position } = random.pick(rows);
  const model = random.pick(events);
  await tx.query(
    `insert into ${EVENTS} select $1, stream, revision + 500000, $2, type, data, metadata, recorded_at
     from ${EVENTS} where position = $3`,
    [position, random.uuid(), model.position],
  );
  return { what: `a copy of ${model.position} inserted at ${position}`, isNamed: at(['inserted'], position) };
};

const truncate: Tampering = async ({ tx, events, random }) => {
  const event = random.pick(events);
  await tx.query(`delete from ${EVENTS} where position >= $1`, [event.position]);
  return {
    what: `log cut before ${event.position}`,
    isNamed: (findings) => findings.some(({ kind }) => kind === 'truncated'),
  };
};

export const PLAIN: Readonly<Record<string, Tampering>> = { flip, drop, swap, insert, truncate };
