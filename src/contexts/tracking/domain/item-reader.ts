import { itemOf, type EventItem, type ValidItem } from './event-item.js';

/** An item of an accepted body. */
export interface ReadItem extends EventItem {
  /** JSON text, exactly as it was sent. */
  readonly payload: string;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Makes a bracket the brace of its side; nothing else that stands outside of strings becomes a brace. */
const BRACE_BIT = 0x20;

/**
 * The items of a body that was accepted (domain/event-batch.ts), in order, in one pass: payloads are not parsed, and stay
 * what was sent. Of repeated keys the last one counts, as it does for JSON.parse. Of bodies that were not accepted it
 * gives anything or throws.
 */
export function readItems(body: Buffer): ReadItem[] {
  return new ItemReader(body.toString('utf8')).read();
}

class ItemReader {
  private at: number;

  constructor(private readonly json: string) {
    // A byte order mark may stand before it.
    this.at = json.indexOf('{');
  }

  read(): ReadItem[] {
    let items: RawItem[] = [];
    this.enter();
    while (this.json.charCodeAt(this.at) === QUOTE) {
      if (this.key() === 'events') items = this.items();
      else this.skipValue();
      this.separator();
    }
    return items.map(readItem);
  }

  private items(): RawItem[] {
    const items: RawItem[] = [];
    if (this.json.charCodeAt(this.at) !== OPEN_BRACKET) {
      this.skipValue();
      return items;
    }
    this.enter();
    while (this.at < this.json.length && (this.json.charCodeAt(this.at) | BRACE_BIT) !== CLOSE_BRACE) {
      if (this.json.charCodeAt(this.at) === OPEN_BRACE) items.push(this.item());
      else this.skipValue();
      this.separator();
    }
    this.at += 1;
    return items;
  }

  private item(): RawItem {
    const item = new RawItem();
    this.enter();
    while (this.json.charCodeAt(this.at) === QUOTE) {
      const key = this.key();
      const start = this.at;
      this.skipValue();
      // The members by their use; others are ignored.
      if (key === 'payload') item.payload = this.json.slice(start, this.at);
      else if (key === 'event_id') item.event_id = this.text(start);
      else if (key === 'event_name') item.event_name = this.text(start);
      else if (key === 'event_datetime') item.event_datetime = this.text(start);
      else if (key === 'user_external_id') item.user_external_id = this.text(start);
      else if (key === 'device_id') item.device_id = this.text(start);
      this.separator();
    }
    this.at += 1;
    return item;
  }

  /** The key that begins here; goes on to its value. */
  private key(): string {
    const start = this.at;
    this.skipValue();
    const key = this.text(start)!;
    this.skipSpace();
    this.at += 1;
    this.skipSpace();
    return key;
  }

  /** The string from `start` to here; null for any other value. */
  private text(start: number): string | null {
    if (this.json.charCodeAt(start) !== QUOTE) return null;
    const inner = this.json.slice(start + 1, this.at - 1);
    return inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
  }

  private skipValue(): void {
    const { json } = this;
    const { length } = json;
    let depth = 0;
    let at = this.at;
    while (at < length) {
      const code = json.charCodeAt(at);
      if (code === QUOTE) {
        at += 1;
        for (let each = json.charCodeAt(at); each !== QUOTE && at < length; each = json.charCodeAt(at))
          at += each === BACKSLASH ? 2 : 1;
        if (depth === 0) break;
      } else if (code >= OPEN_BRACKET) {
        const brace = code | BRACE_BIT;
        if (brace === OPEN_BRACE) depth += 1;
        else if (brace === CLOSE_BRACE) {
          depth -= 1;
          if (depth === 0) break;
          if (depth < 0) return this.stopAt(at);
        }
      } else if (depth === 0 && (code === COMMA || isSpace(code))) return this.stopAt(at);
      at += 1;
    }
    this.stopAt(at + 1);
  }

  private stopAt(at: number): void {
    this.at = at;
  }

  /** Over the bracket that opens here. */
  private enter(): void {
    this.at += 1;
    this.skipSpace();
  }

  /** Over the comma after a value, if another one follows. */
  private separator(): void {
    this.skipSpace();
    if (this.json.charCodeAt(this.at) !== COMMA) return;
    this.at += 1;
    this.skipSpace();
  }

  private skipSpace(): void {
    while (isSpace(this.json.charCodeAt(this.at))) this.at += 1;
  }
}

/** The members of an item that count, decoded; those that are no strings are null. */
class RawItem {
  payload = '';
  event_id: string | null = null;
  event_name: string | null = null;
  event_datetime: string | null = null;
  user_external_id: string | null = null;
  device_id: string | null = null;
}

/** They are valid since the body was accepted. */
function readItem(raw: RawItem): ReadItem {
  const { eventId, eventName, eventDatetime, userExternalId, deviceId } = itemOf(raw as unknown as ValidItem);
  return { eventId, eventName, eventDatetime, userExternalId, deviceId, payload: raw.payload };
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
