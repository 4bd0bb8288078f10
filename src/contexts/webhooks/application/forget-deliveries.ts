import type { Forget, Get } from '../../../platform/context.js';
import { ViewProgress } from '../../../platform/projections/view-progress.js';
import { DELIVERIES_SAGA } from './deliveries-saga.js';
import { ErasedDeliveries, placeBefore, type Place } from '../store/erased-deliveries.js';

/** Clocks of a delivery and of the user's creation may differ by as much. */
const MARGIN_MS = 86_400_000;

/**
 * Drops deliveries that tell of an erased person and arrived, as if their time were over. What the merchant did not get yet
 * stays until it does, or until its own time is over: it holds ids, amounts and what the merchant itself reported.
 */
export function forgetDeliveries(get: Get): Forget {
  return async ({ userId, merchantId, createdAt }, signal) => {
    // What happened to the person before is a delivery by then.
    if (!(await get(ViewProgress).current(DELIVERIES_SAGA))) return false;
    const deliveries = get(ErasedDeliveries);
    const since = new Date(Date.parse(createdAt) - MARGIN_MS).toISOString();
    for (const endpointId of await deliveries.endpoints(merchantId)) {
      for (let place: Place | null = placeBefore(since); place !== null;) {
        if (signal.aborted) return false;
        place = await deliveries.drop(endpointId, userId, place);
      }
    }
    return true;
  };
}
