import { Fault } from '../../../kernel/fault.js';
import { datePoint, type DatePoint } from '../../../platform/dto/date-point.js';
import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';

/** A point of the log. */
type LogPoint =
  { readonly kind: 'position'; readonly position: string } | { readonly kind: 'time'; readonly time: Date };

const POSITION = /^[0-9]{1,40}$/;

export const POINT_FORMS =
  'a position of the log (digits alone), or a time: 2026-01-31, 2026-01-31T12:00, 2026-01-31T12:00:00.123, each in UTC ' +
  'unless it ends with an offset such as +02:00; a date alone is its midnight';

/** Returns null when the text is neither a position nor a time. */
export function readPoint(text: string): LogPoint | null {
  if (POSITION.test(text)) return { kind: 'position', position: text.replace(/^0+(?=\d)/, '') };
  const point = datePoint.read(text);
  return point instanceof Fault ? null : { kind: 'time', time: (point as DatePoint).at };
}

/** Checks that the event is at most at the position, or before the time. */
export function isUpTo(to: LogPoint, { position, recordedAt }: RecordedEvent): boolean {
  return to.kind === 'position' ? comparePositions(position, to.position) <= 0 : recordedAt < to.time;
}
