import type { Sealer } from '../sealing/sealer.js';
import type { NewEvent, RecordedEvent } from './port.js';

export type Macs = Pick<Sealer, 'mac' | 'isAuthentic'>;

/** For log lines. */
export const FORGED_EVENT = 'forged event: its MAC is missing or wrong, the service did not write it there';

const EVENT = 'event';
const MAC_AT_END = /([{,])"mac":"([\w.-]+)"\}$/;

/** The event with a MAC over its place in its stream, id, type, data and other metadata, as the last member of its metadata. */
export function withMac(event: NewEvent, stream: string, revision: number, macs: Macs): NewEvent {
  const { id, type, data, metadata } = event;
  const dataText = JSON.stringify(data);
  const othersText = JSON.stringify({ ...metadata, mac: undefined });
  const mac = macs.mac(EVENT, macText({ stream, revision, id, type }, dataText, othersText));
  const start = othersText === '{}' ? '{' : `${othersText.slice(0, -1)},`;
  return {
    id,
    type,
    data,
    dataText,
    metadata: { ...metadata, mac },
    metadataText: `${start}"mac":"${mac}"}`,
  };
}

interface Macced extends Pick<
  RecordedEvent,
  'stream' | 'revision' | 'id' | 'type' | 'dataText' | 'metadataText'
> {
  readonly data: object;
  readonly metadata: object;
}

/** Whether the service wrote this event at this place of its stream. */
export function hasValidMac(event: Macced, macs: Pick<Macs, 'isAuthentic'>): boolean {
  const metadataText = event.metadataText ?? JSON.stringify(event.metadata);
  const match = MAC_AT_END.exec(metadataText);
  if (match === null || (match[1] === '{' && match.index > 0)) return false;
  const others = match[1] === '{' ? '{}' : `${metadataText.slice(0, match.index)}}`;
  const dataText = event.dataText ?? JSON.stringify(event.data);
  return macs.isAuthentic(EVENT, macText(event, dataText, others), match[2]);
}

/** The events that the service did not write. Refreshes the key ring once before it calls an event forged. */
export async function forgedEvents<E extends Macced>(
  events: readonly E[],
  macs: Pick<Macs, 'isAuthentic'>,
  refreshKeys: () => Promise<void>,
): Promise<readonly E[]> {
  const suspects = events.filter((event) => !hasValidMac(event, macs));
  if (suspects.length === 0) return suspects;
  await refreshKeys();
  return suspects.filter((event) => !hasValidMac(event, macs));
}

/** None of the three parts contains a line feed when the service wrote it, so that they divide in one way only. */
function macText(
  { stream, revision, id, type }: Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type'>,
  dataText: string,
  metadataText: string,
): string {
  return `${JSON.stringify([stream, revision, id, type])}\n${dataText}\n${metadataText}`;
}
