/** Of the folder that an export is. */
export const MANIFEST_FILE = 'manifest.json';
export const MANIFEST_FORMAT = 'disburse-export.v1';

/** What an export was asked for. Times are ISO 8601; both ends null and no merchant: the whole log. */
export interface Asked {
  readonly merchant: string | null;
  /** After this position, or at this time or later. */
  readonly from: string | null;
  /** Up to this position, or before this time. */
  readonly to: string | null;
  /** Events of a part, the last one excepted. */
  readonly part_events: number;
}

/** One file of an export. */
export interface Part {
  readonly file: string;
  readonly bytes: number;
  /** Of the bytes of the file, in hex. */
  readonly sha256: string;
  readonly events: number;
  readonly first_position: string;
  readonly last_position: string;
}

/** What an export says of itself, in `manifest.json` beside its parts. */
export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT;
  /** Which log: the identity that stays with the events. */
  readonly log_id: string;
  readonly asked: Asked;
  /** The newest event of the log when the export began: nothing after it was looked at. Null: the log was empty. */
  readonly log_end: string | null;
  readonly exported_at: string;
  readonly events: number;
  readonly first_position: string | null;
  readonly last_position: string | null;
  readonly parts: readonly Part[];
  /** The Merkle root over the leaf hashes (RFC 9162), in hex; null unless it is the whole log. */
  readonly merkle_root: string | null;
  /** The newest signed head of the ledger; null when there is none. */
  readonly signed_head: { readonly size: number; readonly root: string } | null;
}

export function isWhole({ merchant, from, to }: Asked): boolean {
  return merchant === null && from === null && to === null;
}

/** The manifest of a text, or why it is none. */
export function readManifest(text: string): Manifest | string {
  let found: Partial<Manifest>;
  try {
    found = JSON.parse(text) as Partial<Manifest>;
  } catch {
    return 'is no JSON';
  }
  if (found?.format !== MANIFEST_FORMAT) return `is not of the format ${MANIFEST_FORMAT}`;
  if (!Array.isArray(found.parts) || typeof found.events !== 'number' || found.asked === undefined)
    return 'lacks what a manifest says';
  return found as Manifest;
}
