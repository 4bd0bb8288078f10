import type { ReadItem } from '../batch-items.js';
import type { AnalyticsEvent } from '../ports.js';

/** An item of a merchant's batch as the provider gets it. */
export function analyticsEvent(merchantId: string, item: ReadItem): AnalyticsEvent {
  return {
    insertId: item.eventId,
    userId: `${merchantId}:${item.userExternalId}`,
    deviceId: item.deviceId,
    eventType: item.eventName,
    time: Date.parse(item.eventDatetime),
    payload: item.payload,
  };
}
