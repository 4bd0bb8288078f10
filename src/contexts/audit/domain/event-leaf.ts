import { sha256 } from '../../../kernel/sha256.js';

/** An event as a store returns it, before upcasters and with sealed fields sealed. */
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

/** An event as auditors exchange it: one line of an export, one leaf of the ledger. Nothing else belongs to it. */
interface EventLeaf {
  /** Place among all events, in decimal digits. */
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: object;
  readonly metadata: object;
  /** ISO 8601 in UTC, to the millisecond. */
  readonly recorded_at: string;
}

export function eventLeaf(event: LeafEvent, position = event.position): EventLeaf {
  const { stream, revision, id, type, data, metadata, recordedAt } = event;
  return { position, stream, revision, id, type, data, metadata, recorded_at: recordedAt.toISOString() };
}

/**
 * The one text of a JSON value: RFC 8785, with members ordered by UTF-16 code units and without white space. What
 * differs only in that, in the writing of a number or in escapes gives the same text. Throws SyntaxError for a number
 * that JSON cannot hold: `1e999` would be written as null is.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new SyntaxError('a number is too large');
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  // The standard demands the order of UTF-16 code units.
  for (const name of Object.keys(value).sort()) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** SHA-256 over 0x00 and `text` as UTF-8: the leaf of RFC 9162. `text` is the canonical JSON of an {@link EventLeaf}. */
export function leafHash(text: string): Buffer {
  return sha256(`\0${text}`);
}

/** The hash by which the ledger knows an event, or would know it at another position. Throws SyntaxError where the store holds no JSON. */
export function hashOfEvent(event: LeafEvent, position?: string): Buffer {
  return leafHash(canonicalJson(eventLeaf(event, position)));
}

/**
 * A line of an export: an event with its leaf hash as one member more, the last one. `data` and `metadata` keep the order
 * of their members, which the MAC of the event covers; the leaf is over the canonical text.
 */
export interface ExportLine {
  readonly position: string;
  /** The text without the line break. */
  readonly text: string;
  readonly leaf: Buffer;
}

/** The members that the leaf adds to the text of the event, which ends with a brace. */
const LEAF = /^,"leaf":"([0-9a-f]{64})"\}$/;
const LEAF_LENGTH = 75;
const POSITION = /^[0-9]{1,40}$/;

/** Throws SyntaxError where the store holds no JSON. */
export function exportLine(event: LeafEvent): ExportLine {
  const leaf = hashOfEvent(event);
  const text = JSON.stringify(eventLeaf(event));
  const { position } = event;
  return { position, text: `${text.slice(0, -1)},"leaf":"${leaf.toString('hex')}"}`, leaf };
}

/** An event of an export, and its leaf in the tree: the hash of its line, which {@link readLine} has verified. */
export interface ExportedEvent extends LeafEvent {
  readonly leaf: Buffer;
}

/** The event of a line, or why it is none: cut, not JSON, or not what its leaf hash says. */
export function readLine(line: string): ExportedEvent | string {
  const found = LEAF.exec(line.slice(-LEAF_LENGTH));
  if (found === null) return 'is cut, or no line of an export';
  const event = parseEvent(`${line.slice(0, -LEAF_LENGTH)}}`);
  if (event?.leaf.toString('hex') !== found[1]) return 'does not have its leaf hash: it was changed';
  // No other member: nothing of a line is read that the text of an event does not have.
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
