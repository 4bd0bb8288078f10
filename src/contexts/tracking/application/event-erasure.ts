import { Injectable } from '@nestjs/common';
import { Forgets, type ForgottenPerson } from '../../../platform/operations/erasure.js';
import { failpoint } from '../../../platform/failpoints.js';
import { ErasedEvents } from '../store/erased-events.js';
import { bodyWithout } from './batch-items.js';

/**
 * Blanks the events of an erased person, by external_id, in the table of events and in stored bodies; only their ids
 * remain. Pending ones are not forwarded. Returns false until every batch from before the erasure is processed.
 */
@Injectable()
export class EventErasure {
  constructor(private readonly events: ErasedEvents) {}

  @Forgets('tracking')
  async forget({ merchantId, externalId, erasedAt }: ForgottenPerson, signal: AbortSignal): Promise<boolean> {
    if (externalId === null) return true;
    if (await this.events.isBehind(merchantId, erasedAt)) return false;
    while (await this.events.blankSome(merchantId, externalId)) if (signal.aborted) return false;
    failpoint('erasure.events_blanked');
    for (const batchId of await this.events.batches(merchantId)) {
      if (signal.aborted) return false;
      const isRewritten = await this.events.rewrite(batchId, (body) => {
        try {
          return bodyWithout(body, externalId);
        } catch {
          // The error of a parser quotes the text, so it is not logged.
          throw new Error(`the body of batch ${batchId} cannot be read`);
        }
      });
      if (isRewritten) failpoint('erasure.batch_rewritten');
    }
    return true;
  }
}
