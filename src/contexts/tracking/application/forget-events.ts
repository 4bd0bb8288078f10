import type { Forget, Get } from '../../../platform/context.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ErasedEvents, type KeptBatch } from '../store/erased-events.js';
import { bodyWithout } from './batch-items.js';

/**
 * Drops the events that carry the external_id of an erased person, from before and after the user was created: of those
 * that are counted the id alone stays, and of those in kept bodies too. What is not forwarded yet is not forwarded. Waits
 * until events were made of all batches from before the erasure.
 */
export function forgetEvents(get: Get): Forget {
  return async ({ merchantId, externalId, erasedAt }, signal) => {
    if (externalId === null) return true;
    const events = get(ErasedEvents);
    if (await events.isBehind(merchantId, erasedAt)) return false;
    while (await events.blankSome(merchantId, externalId)) if (signal.aborted) return false;
    failpoint('erasure.events_blanked');
    const without = (body: Buffer): ReturnType<typeof bodyWithout> => bodyWithout(body, externalId);
    for (const batch of await events.batches(merchantId)) {
      if (signal.aborted) return false;
      const body = await events.bodyOf(batch);
      if (body === null || !mentions(batch, body, externalId)) continue;
      await events.rewrite(batch, without);
      failpoint('erasure.batch_rewritten');
    }
    return true;
  };
}

/** What a parser says of a text quotes it: it is not for the log. */
function mentions({ batch_id }: KeptBatch, body: Buffer, externalId: string): boolean {
  try {
    return bodyWithout(body, externalId) !== null;
  } catch {
    throw new Error(`the body of batch ${batch_id} cannot be read`);
  }
}
