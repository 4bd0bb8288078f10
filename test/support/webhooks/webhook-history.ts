import type { JsonObject, RecordedEvent } from '../../../src/platform/event-store/port.js';
import { newId } from '../../../src/kernel/ids.js';
import { recorded } from '../recorded.js';

const AT = '2026-01-01T00:00:00.000Z';

/** The stored events of one merchant that a subscription reads, at rising positions. */
export class WebhookHistory {
  /** A delivery contains this text byte for byte. */
  static readonly METADATA = '{"big":12345678901234567890,  "x":1.0}';

  constructor(readonly merchant: string = newId()) {}

  event(type: string, data: JsonObject): RecordedEvent {
    return recorded(type, { merchant_id: this.merchant, ...data });
  }

  registered(endpoint_id: string, event_types: string[] | null = null): RecordedEvent {
    const url = 'https://example.com/hooks';
    return this.event('webhook_endpoint.registered.v1', {
      endpoint_id,
      url,
      description: null,
      event_types,
      sealed_signing_secret: 's',
      created_at: AT,
    });
  }

  changed(to: 'enabled' | 'disabled' | 'deleted', endpoint_id: string): RecordedEvent {
    return this.event(`webhook_endpoint.${to}.v1`, { endpoint_id, at: AT });
  }

  /** Creates the event of a delivery of `payout.received`. */
  received(): RecordedEvent {
    return this.event('payout.received.v2', {
      payout_id: 'p',
      user_id: 'u',
      amount: '1.50',
      currency_code: 'USDC',
      transaction_hash: '0xAb',
      custom_metadata: WebhookHistory.METADATA,
      chain_id: 1,
      log_index: 0,
      block_number: 1,
      received_at: AT,
    });
  }
}
