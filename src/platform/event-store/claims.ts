import { CLAIM_OWNER_ABANDONED, CLAIM_ACQUIRED } from '../../kernel/claims.js';
import { DomainError } from '../../kernel/domain-error.js';
import { newId } from '../../kernel/ids.js';
import { ClaimHeld, type Claim } from './command-loop-types.js';
import type { EventTypeDefinition } from './event-codec.js';
import type { EventMetadata, EventStore, NewEvent, StreamAppend } from './port.js';

/** Event names of claims. */
export const CLAIM_EVENTS: readonly EventTypeDefinition[] = [
  { type: CLAIM_ACQUIRED },
  { type: CLAIM_OWNER_ABANDONED },
];

/** The mark that fences a stream whose writer took a claim and then died. The aggregate ignores it. */
export function isFence(event: { readonly type: string }): boolean {
  return event.type === CLAIM_OWNER_ABANDONED;
}

export function claimStream(claim: Pick<Claim, 'category' | 'key'>): string {
  return `${claim.category}-${claim.key}`;
}

/** A stream that requests a claim. `established`: it holds events beyond fences, so that its claims are safe. */
export interface Claimant {
  readonly stream: string;
  readonly established: boolean;
  readonly metadata: EventMetadata;
}

/** The append for a claim that is presumed free. */
export function firstClaim(claim: Claim, { stream: owner, metadata }: Claimant): StreamAppend {
  return { stream: claimStream(claim), events: [claimedBy(owner, metadata)], expected: 'no_stream' };
}

/**
 * The append for a claim whose stream exists, after reading it.
 *
 * A holder without events died, or is slow, between its claim and its first event; only a store that is
 * not atomic allows that. The fence settles which: a mark at the revision of the holder's stream. A holder that is
 * merely slow then conflicts with the mark, loads again and returns here. It must write to the claim again
 * even though it still seems to hold it, because the stream that fenced it may be about to take the claim.
 *
 * A holder that is done with it (`freedBy`) stays so: that it is, may be read before the append. Of two that then request the
 * claim, one conflicts at its revision and finds the other.
 *
 * Throws {@link ClaimHeld} when an established owner holds it.
 */
export async function contestedClaim(
  store: EventStore,
  claim: Claim,
  claimant: Claimant,
): Promise<StreamAppend> {
  const stream = claimStream(claim);
  const held = await readClaim(store, stream);
  if (held === null) return firstClaim(claim, claimant);
  const { owner, revision } = held;
  if (owner === claimant.stream && claimant.established) return { stream, events: [], expected: revision };
  const isFree =
    owner === claimant.stream ||
    (await isFreed(store, claim, owner)) ||
    (await fence(store, owner, claimant.metadata));
  if (!isFree) throw new ClaimHeld(claim, owner);
  return { stream, events: [claimedBy(claimant.stream, claimant.metadata)], expected: revision };
}

/** The stream that holds the claim; null for a free one. */
export async function claimOwner(
  store: EventStore,
  claim: Pick<Claim, 'category' | 'key'>,
): Promise<string | null> {
  return (await readClaim(store, claimStream(claim)))?.owner ?? null;
}

async function isFreed(store: EventStore, { freedBy }: Claim, holder: string): Promise<boolean> {
  return freedBy !== undefined && (await store.readStream(holder)).some(({ type }) => type === freedBy);
}

async function readClaim(
  store: EventStore,
  stream: string,
): Promise<{ readonly owner: string; readonly revision: number } | null> {
  const [last] = await store.readStream(stream, { lastOnly: true });
  if (last === undefined) return null;
  // A newer version may hold it under a name that this one does not know.
  if (last.type !== CLAIM_ACQUIRED)
    throw new DomainError('unavailable', `This version of the service does not know ${last.type} yet`);
  return { owner: String(last.data['owner']), revision: last.revision };
}

/** Fences `holder`. True when it has no events and can write none before it reads its claims again. */
export async function fence(store: EventStore, holder: string, metadata: EventMetadata): Promise<boolean> {
  for (;;) {
    const events = await store.readStream(holder);
    if (!events.every(isFence)) return false;
    const mark = { id: newId(), type: CLAIM_OWNER_ABANDONED, data: {}, metadata };
    const expected = events.at(-1)?.revision ?? 'no_stream';
    const result = await store.commit({ appends: [{ stream: holder, events: [mark], expected }] });
    if (result.outcome === 'committed') return true;
  }
}

function claimedBy(owner: string, metadata: EventMetadata): NewEvent {
  return { id: newId(), type: CLAIM_ACQUIRED, data: { owner }, metadata };
}
