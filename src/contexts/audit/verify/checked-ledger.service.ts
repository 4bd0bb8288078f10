import { toMasterKeys, sealerOfWrapped } from '../../../platform/sealing/key-ring.js';
import { SealError, type Sealer } from '../../../platform/sealing/sealer.js';
import { forgedEvents } from '../../../platform/event-store/authentic-event-store.js';
import { isWhole, type Manifest, MANIFEST_FILE } from '../export/manifest.js';
import { headText, type SignedHead, type SigningKey } from '../ledger/signed-head.js';
import type { Heads, SigningKeys } from '../ledger/heads.store.js';
import { isAuthenticState, type Ledger, type LedgerState } from '../ledger/ledger.store.js';
import type { LedgerInputs } from './check-ledger.service.js';
import { HeadVerifier } from '../ledger/ledger-keys.commands.js';

export interface AuditorInputs {
  /** The heads that the auditor retained, out of the operators' reach. */
  readonly heads: readonly SignedHead[];
  /** The first public key that was published, or null if the auditor has none. */
  readonly key: Pick<SigningKey, 'key_id' | 'public_key'> | null;
  /** The sealer of the log's key ring, or null. It proves that the service wrote keys, rows and events. */
  readonly sealer: Pick<Sealer, 'openBytes' | 'isAuthentic'> | null;
  /** Reads the key ring again, for keys that were added during the check. */
  readonly refreshKeys?: (() => Promise<void>) | undefined;
}

function macCheck({
  sealer,
  refreshKeys = async () => undefined,
}: Pick<AuditorInputs, 'sealer' | 'refreshKeys'>): Pick<LedgerInputs, 'isForged'> {
  if (sealer === null) return {};
  return { isForged: async (event) => (await forgedEvents([event], sealer, refreshKeys)).length > 0 };
}

/** Reads the stored ledger. The log must be read later, so that the log has all events of the ledger. */
export async function currentLedger(
  stored: { readonly ledger: Ledger; readonly heads: Heads; readonly keys: SigningKeys },
  logId: string,
  { heads: kept, key, sealer, refreshKeys }: AuditorInputs,
): Promise<LedgerInputs> {
  // The head is read first, so that leaves and keys cover it.
  const newest = await stored.heads.newest();
  const state = await stored.ledger.state();
  return {
    state,
    leaves: (index, limit) => stored.ledger.leaves(index, limit),
    heads: withKept(stored.heads.all({ upTo: newest?.size ?? 0 }), kept),
    trust: new HeadVerifier(logId, await stored.keys.all(), key, sealer),
    retained: new Set(kept),
    forgedRows: sealer === null ? [] : await findForgedRows(stored.heads, state, sealer),
    ...macCheck({ sealer, refreshKeys }),
  };
}

async function findForgedRows(
  heads: Heads,
  state: LedgerState | null,
  sealer: Pick<Sealer, 'isAuthentic'>,
): Promise<readonly string[]> {
  const forged: string[] = [];
  if (state !== null && !isAuthenticState(state, sealer))
    forged.push('the service did not write the row of audit.ledger');
  const last = await heads.lastSigned(sealer);
  if (last === null) forged.push('the service did not write the row of audit.last_head');
  else if (last.size > 0 && (await heads.find(last)) === null)
    forged.push(`the head that was signed last, over ${last.size} events, is not in audit.heads`);
  return forged;
}

/**
 * Returns the heads of export and auditor with the keys of the manifest, or the reason why no head can be
 * compared. Returns null for a part of a log if the auditor has neither heads nor a key.
 */
export function exportedLedger(
  manifest: Manifest | null,
  { heads, key, sealer, refreshKeys }: AuditorInputs,
): LedgerInputs | string | null {
  const isRequested = key !== null || heads.length > 0;
  if (manifest === null || !isWhole(manifest.scope))
    return isRequested ? `${SIGNATURE}: no head is of a part of the log` : null;
  const { log_id, signed_head: head, signing_keys: keys } = manifest;
  const all = head === null ? heads : [head, ...heads];
  if (all.length === 0 && isRequested) return `${SIGNATURE}: ${MANIFEST_FILE} names none`;
  const trust = new HeadVerifier(log_id, keys, key, sealer);
  const check = macCheck({ sealer, refreshKeys });
  return { state: null, leaves: async () => [], heads: withKept([], all), trust, ...check };
}

const SIGNATURE = 'the signature of the head';

/** The sealer of the keys in the manifest, or the reason why there is none. */
export function exportedSealer(
  { key_ring }: Manifest,
  keys: Parameters<typeof toMasterKeys>[0],
): Sealer | string {
  try {
    const sealer = sealerOfWrapped(key_ring, toMasterKeys(keys));
    return sealer ?? `no key in ${MANIFEST_FILE} is wrapped by this MASTER_KEY`;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return `a key in ${MANIFEST_FILE} was changed`;
  }
}

/** Merges stored and retained heads in the order of their sizes, without duplicates. */
async function* withKept(
  stored: AsyncIterable<SignedHead> | readonly SignedHead[],
  kept: readonly SignedHead[],
): AsyncGenerator<SignedHead> {
  const sorted = kept.toSorted((a, b) => a.size - b.size);
  const left = new Map(sorted.map((head) => [toIdentity(head), head]));
  for await (const head of stored) {
    for (const [text, each] of left) {
      if (each.size >= head.size) break;
      left.delete(text);
      yield each;
    }
    left.delete(toIdentity(head));
    yield head;
  }
  yield* left.values();
}

function toIdentity(head: SignedHead): string {
  return head.signature + headText(head);
}
