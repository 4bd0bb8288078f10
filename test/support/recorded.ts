import { newId } from '../../src/kernel/ids.js';
import type { JsonObject, RecordedEvent } from '../../src/platform/event-store/port.js';

let position = 0;

/** A stored event that a subscription reads, at a rising position. */
export function recorded(type: string, data: JsonObject): RecordedEvent {
  position += 1;
  return {
    id: newId(),
    type,
    data,
    metadata: {},
    stream: `some-${position}`,
    revision: 0,
    recordedAt: new Date(),
    position: String(position).padStart(10, '0'),
  };
}
