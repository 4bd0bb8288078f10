import { sha256 } from '../../../kernel/sha256.js';
import { canonicalText } from './canonical-text.js';

/** An event as a store gives it back, before upcasters and with sealed fields sealed. */
export interface StoredEvent {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: object;
  readonly metadata: object;
  readonly recordedAt: Date;
  /** `data` and `metadata` as the JSON that is stored, where the store has it at hand. */
  readonly dataText?: string;
  readonly metadataText?: string;
}

/** An event as auditors exchange it: one line of an export, one leaf of the ledger. Nothing else belongs to it. */
export interface EventLeaf {
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

export function eventLeaf(event: StoredEvent): EventLeaf {
  const { position, stream, revision, id, type, data, metadata, recordedAt } = event;
  return { position, stream, revision, id, type, data, metadata, recorded_at: recordedAt.toISOString() };
}

/** The canonical text of the leaf of an event. Throws SyntaxError where the store holds no JSON. */
export function leafText(event: StoredEvent): string {
  const { dataText, metadataText, position, recordedAt, revision, stream, type, id } = event;
  const data = canonicalOf(dataText) ?? canonicalJson(event.data);
  const metadata = canonicalOf(metadataText) ?? canonicalJson(event.metadata);
  return (
    `{"data":${data},"id":${JSON.stringify(id)},"metadata":${metadata},"position":${JSON.stringify(position)},` +
    `"recorded_at":"${recordedAt.toISOString()}","revision":${JSON.stringify(revision)},` +
    `"stream":${JSON.stringify(stream)},"type":${JSON.stringify(type)}}`
  );
}

function canonicalOf(stored: string | undefined): string | null {
  return stored === undefined ? null : canonicalText(stored);
}

/**
 * The one text of a JSON value: RFC 8785, with members ordered by UTF-16 code units and without white space. What
 * differs only in that, in the writing of a number or in escapes gives the same text. Throws SyntaxError for a number
 * that JSON cannot hold: `1e999` would be written as null is.
 */
export function canonicalJson(value: unknown): string {
  // One call for the whole text costs a quarter of one for each member.
  const copy = inOrder(value);
  return copy === UNORDERED ? memberByMember(value) : JSON.stringify(copy);
}

const UNORDERED = Symbol('unordered');
/** Objects keep members whose names begin so in an order of their own, or not as members. */
const ODD_NAME = /^[0-9]|^__proto__$/;

/** The value with the members of its objects in order; {@link UNORDERED} where no object can be. */
function inOrder(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new SyntaxError('a number is too large');
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const copies = value.map(inOrder);
    return copies.includes(UNORDERED) ? UNORDERED : copies;
  }
  const members = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(members).sort()) {
    if (ODD_NAME.test(name)) return UNORDERED;
    const member = inOrder(members[name]);
    if (member === UNORDERED) return UNORDERED;
    copy[name] = member;
  }
  return copy;
}

function memberByMember(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(memberByMember).join(',')}]`;
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${memberByMember(member)}`;
  }
  return `{${text}}`;
}

/** SHA-256 over 0x00 and `text` as UTF-8: the leaf of RFC 9162. `text` is the canonical JSON of an {@link EventLeaf}. */
export function leafHash(text: string): Buffer {
  return sha256(`\0${text}`);
}

/** The hash by which the ledger knows an event. Throws SyntaxError where the store holds no JSON. */
export function hashOfEvent(event: StoredEvent): Buffer {
  return leafHash(leafText(event));
}
