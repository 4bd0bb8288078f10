import { DomainError } from '../../../kernel/domain-error.js';
import { parseDateTime } from '../../../kernel/instant.js';
import { readHead, readKey, requireTypes, type SignedHead, type SigningKey } from '../ledger/signed-head.js';

export const MANIFEST_FILE = 'manifest.json';
export const MANIFEST_FORMAT = 'disburse-export.v2';

/** The range of an export. It is the whole log if merchant, start and end are null. */
export interface ExportScope {
  readonly merchant: string | null;
  /** The start: a position (exclusive), or a time in ISO 8601 (inclusive). */
  readonly from: string | null;
  /** The end: a position (inclusive), or a time in ISO 8601 (exclusive). */
  readonly to: string | null;
  /** The number of events in each part except the last. */
  readonly part_events: number;
}

export interface Part {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly events: number;
  readonly first_position: string;
  readonly last_position: string;
}

export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT;
  readonly log_id: string;
  readonly scope: ExportScope;
  /** The position of the last event in the log when the export began; null for an empty log. */
  readonly log_end: string | null;
  readonly exported_at: string;
  readonly events: number;
  readonly first_position: string | null;
  readonly last_position: string | null;
  readonly parts: readonly Part[];
  /** The Merkle root over the leaf hashes (RFC 9162), in hex; null for a part of the log. */
  readonly merkle_root: string | null;
  readonly signed_head: SignedHead | null;
  /** The public keys of the ledger, oldest first, each signed by the key before it. */
  readonly signing_keys: readonly SigningKey[];
  /** The wrapped keys for the MACs of events; empty for a part of the log. */
  readonly key_ring: readonly Readonly<Record<'key_id' | 'master_id' | 'wrapped', string>>[];
}

export type Signed = Pick<Manifest, 'signed_head' | 'signing_keys' | 'key_ring'>;

export function isWhole({ merchant, from, to }: ExportScope): boolean {
  return merchant === null && from === null && to === null;
}

/** Parses a manifest. Throws `bad_request` if the manifest is invalid. */
export function readManifest(path: string, text: string): Manifest {
  try {
    const found = JSON.parse(text) as Manifest;
    requireTypes(found, { format: 'string', events: 'number', log_id: 'string', log_end: 'string null' });
    if (found.format !== MANIFEST_FORMAT) throw new TypeError(`unknown format ${String(found.format)}`);
    requireTypes(found.scope, SCOPE);
    for (const part of found.parts) requireTypes(part, PART);
    for (const key of found.key_ring) requireTypes(key, KEY);
    const { signed_head: head, signing_keys: keys } = found;
    return { ...found, signed_head: head === null ? null : readHead(head), signing_keys: keys.map(readKey) };
  } catch (error) {
    const why = `${path} is not a manifest of the format ${MANIFEST_FORMAT}: ${(error as Error).message}`;
    throw new DomainError('bad_request', why);
  }
}

const SCOPE = { merchant: 'string null', from: 'string null', to: 'string null', part_events: 'number' };
const PART = {
  file: 'string',
  bytes: 'number',
  sha256: 'string',
  events: 'number',
  first_position: 'string',
  last_position: 'string',
};
const KEY = { key_id: 'string', master_id: 'string', wrapped: 'string' };

export type LogPoint =
  { readonly kind: 'position'; readonly position: string } | { readonly kind: 'time'; readonly time: Date };

const POSITION = /^[0-9]{1,40}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export const POINT_FORMS =
  'a position of the log (digits alone), or a time: 2026-01-31, 2026-01-31T12:00, 2026-01-31T12:00:00.123, each in UTC ' +
  'unless it ends with an offset such as +02:00; a date alone is its midnight';

export function readPoint(text: string): LogPoint | null {
  if (POSITION.test(text)) return { kind: 'position', position: text.replace(/^0+(?=\d)/, '') };
  const given = text.trim();
  const time = parseDateTime(DATE.test(given) ? `${given}T00:00` : given);
  return time === null ? null : { kind: 'time', time };
}
