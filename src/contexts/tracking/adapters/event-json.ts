import type { AnalyticsEvent } from '../application/ports.js';

/** The event as JSON text in Amplitude's terms; the payload stays byte for byte what the merchant sent. */
export function eventJson({ deviceId, ...event }: AnalyticsEvent): string {
  const device = deviceId === null ? '' : `"device_id":${JSON.stringify(deviceId)},`;
  return (
    `{"user_id":${JSON.stringify(event.userId)},${device}"event_type":${JSON.stringify(event.eventType)},` +
    `"time":${event.time},"insert_id":"${event.insertId}","event_properties":${event.payload}}`
  );
}
