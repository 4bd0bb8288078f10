import type { EventMetadata, JsonObject, RecordedEvent } from './port.js';

/** An event whose JSON is parsed lazily: subscriptions skip most events unread. */
export class StoredEvent implements RecordedEvent {
  private parsedData: JsonObject | undefined;
  private parsedMetadata: EventMetadata | undefined;

  constructor(
    readonly position: string,
    readonly stream: string,
    readonly revision: number,
    readonly id: string,
    readonly type: string,
    readonly dataText: string,
    readonly metadataText: string,
    private readonly recordedMs: number,
  ) {}

  get data(): JsonObject {
    return (this.parsedData ??= JSON.parse(this.dataText) as JsonObject);
  }

  get metadata(): EventMetadata {
    return (this.parsedMetadata ??= JSON.parse(this.metadataText) as EventMetadata);
  }

  get recordedAt(): Date {
    return new Date(this.recordedMs);
  }
}
