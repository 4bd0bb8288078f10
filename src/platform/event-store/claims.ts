import { CLAIM_OWNER_ABANDONED, CLAIM_ACQUIRED } from '../../kernel/claims.js';
import { DomainError } from '../../kernel/domain-error.js';
import { newId } from '../../kernel/ids.js';
import { ClaimHeld, type Claim } from './command-loop-types.js';
import type { EventTypeDefinition } from './event-codec.js';
import type { EventMetadata, EventStore, NewEvent, StreamAppend } from './port.js';

export const CLAIM_EVENTS: readonly EventTypeDefinition[] = [
  { type: CLAIM_ACQUIRED },
  { type: CLAIM_OWNER_ABANDONED },
];

/** Checks for a fence, the mark of a stream whose writer died before its first event. Aggregates ignore fences. */
export function isFence(event: { readonly type: string }): boolean {
  return event.type === CLAIM_OWNER_ABANDONED;
}

export function claimStream(claim: Pick<Claim, 'category' | 'key'>): string {
  return `${claim.category}-${claim.key}`;
}

/** A stream that requests a claim. An `established` one has events other than fences, so that its claims hold. */
export interface Claimant {
  readonly stream: string;
  readonly established: boolean;
  readonly metadata: EventMetadata;
}

/** The append for a claim that is assumed to be free. */
export function firstClaim(claim: Claim, { stream: owner, metadata }: Claimant): StreamAppend {
  return { stream: claimStream(claim), events: [claimedBy(owner, metadata)], expected: 'no_stream' };
}

/**
 * Returns the append for a claim whose stream may exist, after a read of that stream.
 *
 * On a store that is not atomic, a holder without events died or is slow between its claim and its first event. A
 * fence, a mark in the holder's stream, settles the case. A slow holder conflicts with the fence, loads again and
 * returns here. It must append to the claim again although it holds it, because the stream that fenced it may acquire
 * the claim.
 *
 * A holder with an event of `freedBy` never requests the claim again, so a read before the append suffices. If two
 * streams then request the claim, one gets a conflict at its revision and finds the other.
 *
 * Throws {@link ClaimHeld} if an established owner holds the claim.
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

/** Returns the stream that holds the claim, or null. */
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
  // A newer version may use another event type.
  if (last.type !== CLAIM_ACQUIRED)
    throw new DomainError('unavailable', `This version of the service does not know ${last.type} yet`);
  return { owner: String(last.data['owner']), revision: last.revision };
}

/** Fences `holder`, which must then read its claims again to write. Returns false if it has events. */
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
