import { sha256 } from '../../../kernel/sha256.js';

/** An event as the event store returns it: not upcast, and with its personal fields still sealed. */
export interface LeafEvent {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: object;
  readonly metadata: object;
  readonly recordedAt: Date;
}

/** An event with only the members that the audit of histories and balances reads. */
export type PlacedEvent = Omit<LeafEvent, 'id' | 'metadata' | 'recordedAt'>;

/** The form of an event in a line of an export and in a leaf of the ledger. */
export interface EventLeaf extends Omit<LeafEvent, 'recordedAt'> {
  /** The time in ISO 8601, in UTC with milliseconds. */
  readonly recorded_at: string;
}

export function eventLeaf(event: LeafEvent, position = event.position): EventLeaf {
  const { stream, revision, id, type, data, metadata, recordedAt } = event;
  return { position, stream, revision, id, type, data, metadata, recorded_at: recordedAt.toISOString() };
}

/** Returns canonical JSON (RFC 8785). Throws SyntaxError for an infinite number, such as a parsed `1e999`. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new SyntaxError('a number is too large');
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  // RFC 8785 orders members by UTF-16 code units, as `sort` does.
  for (const name of Object.keys(value).sort()) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** The leaf hash of RFC 9162: SHA-256 over 0x00 and the canonical JSON of an {@link EventLeaf}. */
export function leafHash(text: string): Buffer {
  return sha256(`\0${text}`);
}

/** Returns the leaf hash of an event, at `position` if given. Throws as {@link canonicalJson} does. */
export function hashOfEvent(event: LeafEvent, position?: string): Buffer {
  return leafHash(canonicalJson(eventLeaf(event, position)));
}

/** A line of an export: an event, then its leaf hash. Members keep their order, because a MAC covers it. */
export interface ExportLine {
  readonly position: string;
  readonly text: string;
  readonly leaf: Buffer;
}

const LEAF = /^,"leaf":"([0-9a-f]{64})"\}$/;
const LEAF_LENGTH = 75;
const POSITION = /^[0-9]{1,40}$/;

/** Builds the export line of an event. Throws as {@link canonicalJson} does. */
export function exportLine(event: LeafEvent): ExportLine {
  const leaf = hashOfEvent(event);
  const text = JSON.stringify(eventLeaf(event));
  const { position } = event;
  return { position, text: `${text.slice(0, -1)},"leaf":"${leaf.toString('hex')}"}`, leaf };
}

/** An event of an export with the leaf hash that {@link readLine} has verified. */
export interface ExportedEvent extends LeafEvent {
  readonly leaf: Buffer;
}

/** Reads a line of an export. Returns its event, or a description of the fault. */
export function readLine(line: string): ExportedEvent | string {
  const found = LEAF.exec(line.slice(-LEAF_LENGTH));
  if (found === null) return 'is cut, or no line of an export';
  const event = parseEvent(`${line.slice(0, -LEAF_LENGTH)}}`);
  if (event?.leaf.toString('hex') !== found[1]) return 'does not have its leaf hash: it was changed';
  // Other members of the line are ignored.
  const { position, stream, revision, id, type, data, metadata, recorded_at, leaf } = event!;
  const recordedAt = new Date(recorded_at);
  if (typeof position !== 'string' || !POSITION.test(position) || Number.isNaN(recordedAt.getTime()))
    return 'is no event';
  return { position, stream, revision, id, type, data, metadata, recordedAt, leaf };
}

function parseEvent(text: string): (EventLeaf & Pick<ExportedEvent, 'leaf'>) | null {
  try {
    const event = JSON.parse(text) as EventLeaf;
    return { ...event, leaf: leafHash(canonicalJson(event)) };
  } catch {
    return null;
  }
}
