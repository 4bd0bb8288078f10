import { deriveId } from '../../../kernel/ids.js';
import { LISTED_TYPES } from './webhook-endpoints.js';

/**
 * The id of a delivery follows from event and endpoint, and from a type that has to be listed: one event may be sent as
 * several of those.
 */
export function deliveryId(eventId: string, endpointId: string, type: string): string {
  const isListed = LISTED_TYPES.some((listed) => listed === type);
  return deriveId(eventId, endpointId, ...(isListed ? [type] : []));
}
