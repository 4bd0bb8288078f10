import { isWhole, MANIFEST_FILE, type Manifest } from '../domain/manifest.js';
import { ledgerOfHeads, type Brought, type LedgerAtHand } from './checked-ledger.js';

/**
 * What an export of the whole log is held against: its signed head, and the keys that its manifest lists, of which
 * `known` is the auditor's. Otherwise why its head is not checked; null: there is none, and nobody asked for it.
 */
export function exportedLedger(
  manifest: Manifest | null,
  known: Brought['key'],
): LedgerAtHand | string | null {
  if (manifest === null || !isWhole(manifest.asked))
    return known === null ? null : `${SIGNATURE}: ${IN_PART}`;
  const { log_id, signed_head: head, signing_keys: keys } = manifest;
  if (head === null && known !== null) return `${SIGNATURE}: ${WITHOUT_HEAD}`;
  return ledgerOfHeads(log_id, head === null ? [] : [head], keys, known);
}

const SIGNATURE = 'the signature of the head';
const IN_PART = 'no head is of a part of the log';
const WITHOUT_HEAD = `${MANIFEST_FILE} names none`;
