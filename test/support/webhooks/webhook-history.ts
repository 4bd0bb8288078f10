import type { JsonObject, NewEvent, RecordedEvent } from '../../../src/platform/event-store/port.js';
import { newId } from '../../../src/kernel/ids.js';
import { evidenceAt } from '../payouts/evidence.js';

const AT = '2026-01-01T00:00:00.000Z';

/** The stored events of one merchant as a subscription sees them, at rising positions. */
export class WebhookHistory {
  /** Comes back byte for byte in a delivery. */
  static readonly METADATA = '{"big":12345678901234567890,  "x":1.0}';
  private static position = 0;

  readonly merchant = newId();

  event(type: string, data: JsonObject): RecordedEvent {
    WebhookHistory.position += 1;
    return {
      id: newId(),
      type,
      data: { merchant_id: this.merchant, ...data },
      metadata: {},
      stream: 'x-1',
      revision: 0,
      recordedAt: new Date(),
      position: String(WebhookHistory.position).padStart(10, '0'),
    };
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

  /** Becomes a delivery of `payout.received`. */
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

/** Events of payouts of the merchant that were received, to append to a stream. */
export function receivedPayouts(
  merchant_id: string,
  count: number,
  custom_metadata = '{ "a":1.0}',
): NewEvent[] {
  const at = new Date().toISOString();
  return Array.from({ length: count }, () => ({
    id: newId(),
    type: 'payout.received.v2',
    metadata: {},
    data: {
      payout_id: newId(),
      merchant_id,
      user_id: newId(),
      amount: '1.50',
      currency_code: 'USDC',
      transaction_hash: '0x1',
      custom_metadata,
      chain_id: 1,
      created_at: at,
      received_at: at,
      ...evidenceAt(0),
    },
  }));
}
