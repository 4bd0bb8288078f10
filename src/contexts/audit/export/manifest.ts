import { DomainError } from '../../../kernel/domain-error.js';
import { readHead, readKey, requireTypes, type SignedHead, type SigningKey } from '../ledger/signed-head.js';

export const MANIFEST_FILE = 'manifest.json';
export const MANIFEST_FORMAT = 'disburse-export.v3';

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
  /** The events of each part but the last. */
  readonly part_events: number;
  /** The position of the last event at the start of the export; null for an empty log. */
  readonly log_end: string | null;
  readonly exported_at: string;
  readonly events: number;
  readonly first_position: string | null;
  readonly last_position: string | null;
  readonly parts: readonly Part[];
  /** The Merkle root over the leaf hashes (RFC 9162), in hex. */
  readonly merkle_root: string;
  /** The newest head; null before the first. */
  readonly signed_head: SignedHead | null;
  /** The public keys of the ledger, oldest first, each signed by the one before. */
  readonly signing_keys: readonly SigningKey[];
  /** The wrapped keys of the MACs of events. */
  readonly key_ring: readonly Readonly<Record<'key_id' | 'master_id' | 'wrapped', string>>[];
}

/** The members that the ledger and the key ring add to the manifest. */
export type Signed = Pick<Manifest, 'signed_head' | 'signing_keys' | 'key_ring'>;

/** Parses the manifest of a file. Throws `bad_request` for an invalid one. */
export function readManifest(path: string, text: string): Manifest {
  try {
    const found = JSON.parse(text) as Manifest;
    if (found.format !== MANIFEST_FORMAT) throw new TypeError(`its format is ${String(found.format)}`);
    requireTypes(found, EXPORT);
    for (const part of found.parts) requireTypes(part, PART);
    for (const key of found.key_ring) requireTypes(key, KEY);
    const { signed_head: head, signing_keys: keys } = found;
    return { ...found, signed_head: head === null ? null : readHead(head), signing_keys: keys.map(readKey) };
  } catch (error) {
    const why = `${path} is not a manifest of the format ${MANIFEST_FORMAT}: ${(error as Error).message}`;
    throw new DomainError('bad_request', why);
  }
}

const EXPORT = {
  log_id: 'string',
  part_events: 'number',
  log_end: 'string null',
  events: 'number',
  merkle_root: 'string',
};
const PART = {
  file: 'string',
  bytes: 'number',
  sha256: 'string',
  events: 'number',
  first_position: 'string',
  last_position: 'string',
};
const KEY = { key_id: 'string', master_id: 'string', wrapped: 'string' };
