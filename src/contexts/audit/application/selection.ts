import { comparePositions, type RecordedEvent } from '../../../platform/event-store/port.js';
import type { Asked } from '../domain/manifest.js';
import { readMoment, type Moment } from '../domain/moment.js';

/** Decides event by event, in the order of the log, what belongs to an export. */
export class Selection {
  /** Streams that are known to be of the merchant. */
  private readonly streams = new Set<string>();

  private readonly merchant: string | null;
  private readonly from: Moment;
  private readonly to: Moment;

  constructor({ merchant, from, to }: Pick<Asked, 'merchant' | 'from' | 'to'>) {
    this.merchant = merchant;
    this.from = from === null ? null : readMoment(from);
    this.to = to === null ? null : readMoment(to);
  }

  includes(event: RecordedEvent): boolean {
    const { merchant, from, to } = this;
    // Also outside of the range: a stream is known by its first event.
    if (merchant !== null && !this.isOf(merchant, event)) return false;
    return (from === null || isFrom(from, event)) && (to === null || isUpTo(to, event));
  }

  /** Nothing after this event can belong to it. Times of a log need not grow. */
  isOver({ position }: RecordedEvent): boolean {
    return this.to?.kind === 'position' && comparePositions(position, this.to.position) >= 0;
  }

  /** By what the event says of itself, by its stream, or by the stream that it is a claim of. */
  private isOf(merchant: string, { stream, data, metadata }: RecordedEvent): boolean {
    const said = data['merchant_id'] ?? metadata.merchant_id;
    const owner = data['owner'];
    const isOf =
      said === undefined
        ? this.streams.has(stream) || (typeof owner === 'string' && this.streams.has(owner))
        : said === merchant;
    if (isOf) this.streams.add(stream);
    return isOf;
  }
}

function isFrom(from: Exclude<Moment, null>, { position, recordedAt }: RecordedEvent): boolean {
  return from.kind === 'position' ? comparePositions(position, from.position) > 0 : recordedAt >= from.time;
}

function isUpTo(to: Exclude<Moment, null>, { position, recordedAt }: RecordedEvent): boolean {
  return to.kind === 'position' ? comparePositions(position, to.position) <= 0 : recordedAt < to.time;
}
