import type { StoredEvent } from './event-leaf.js';
import { leafHash, leafText, type EventLeaf } from './event-leaf.js';

/** A line of an export: the canonical JSON of an event with its leaf hash as one member more, the last one. */
export interface ExportLine {
  /** Without the line break. */
  readonly text: string;
  readonly leaf: Buffer;
}

/** What the leaf adds to the canonical text, which ends with a brace. */
const LEAF = /^,"leaf":"([0-9a-f]{64})"\}$/;
const LEAF_LENGTH = 75;

/** Throws SyntaxError where the store holds no JSON. */
export function exportLine(event: StoredEvent): ExportLine {
  const text = leafText(event);
  const leaf = leafHash(text);
  return { text: `${text.slice(0, -1)},"leaf":"${leaf.toString('hex')}"}`, leaf };
}

/** An event as an export tells it, and its place in the tree. */
export interface ExportedEvent extends StoredEvent {
  readonly leaf: Buffer;
}

/** The event of a line, or why it is none: cut, not JSON, or not what its leaf hash says. */
export function readLine(line: string): ExportedEvent | string {
  const found = LEAF.exec(line.slice(-LEAF_LENGTH));
  if (found === null) return 'is cut, or no line of an export';
  const text = `${line.slice(0, -LEAF_LENGTH)}}`;
  const leaf = leafHash(text);
  if (leaf.toString('hex') !== found[1]) return 'does not have its leaf hash: it was changed';
  try {
    const { recorded_at, ...event } = JSON.parse(text) as EventLeaf;
    const recordedAt = new Date(recorded_at);
    if (typeof event.position === 'string' && !Number.isNaN(recordedAt.getTime()))
      return { ...event, recordedAt, leaf };
  } catch {
    // Below.
  }
  return 'is no event';
}
