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

/** Checks whether an event is a fence, which marks a stream whose writer died before its first event. */
export function isFence(event: { readonly type: string }): boolean {
  return event.type === CLAIM_OWNER_ABANDONED;
}

export function claimStream(claim: Pick<Claim, 'category' | 'key'>): string {
  return `${claim.category}-${claim.key}`;
}

/** A stream that requests a claim. `established` is true if the stream has events other than fences. */
export interface Claimant {
  readonly stream: string;
  readonly established: boolean;
  readonly metadata: EventMetadata;
}

export function firstClaim(claim: Claim, { stream: owner, metadata }: Claimant): StreamAppend {
  return { stream: claimStream(claim), events: [claimedBy(owner, metadata)], expected: 'no_stream' };
}

/**
 * Returns the append that acquires a claim. Throws ClaimHeld if another, established stream holds the claim.
 *
 * On a store that is not atomic, a holder without events died, or is slow between its claim and its first
 * event. The claimant therefore appends a fence to the holder's stream. A slow holder then gets a conflict,
 * loads again and calls this function. It must append to the claim again, because another stream may have
 * acquired the claim.
 *
 * A holder with an event of `freedBy` never requests the claim again, so a read before the append suffices.
 * If two streams then request the claim, one of them gets a conflict.
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
    throw new DomainError('unavailable', `This version of the service does not know the event ${last.type}`);
  return { owner: String(last.data['owner']), revision: last.revision };
}

/** Appends a fence to `holder`, so that its pending write conflicts. Returns false if `holder` has events. */
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
