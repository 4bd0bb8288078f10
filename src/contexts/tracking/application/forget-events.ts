import type { Forget, Get } from '../../../platform/context.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ErasedEvents, type KeptBatch } from '../store/erased-events.js';
import { bodyWithout } from './batch-items.js';

/**
 * Blanks the events of an erased person, by external_id, in the table of events and in stored bodies; only their ids
 * remain. Pending ones are not forwarded. Returns false until every batch from before the erasure is processed.
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

/** The error of a parser quotes the text, so it is not logged. */
function mentions({ batch_id }: KeptBatch, body: Buffer, externalId: string): boolean {
  try {
    return bodyWithout(body, externalId) !== null;
  } catch {
    throw new Error(`the body of batch ${batch_id} cannot be read`);
  }
}
