import type { RecordedEvent } from '../../../platform/event-store/port.js';
import type { OnboardingEvent } from '../../onboarding/contract.js';
import type { PayoutEvent } from '../../payouts/contract.js';
import { withJsonText, type PublishedEvent } from '../domain/envelope.js';
import type { WebhookTestRequested } from '../domain/webhook-requests.js';

type Source = OnboardingEvent | PayoutEvent;
type Data<Type extends Source['type']> = Extract<Source, { type: Type }>['data'];
type Publish = (event: RecordedEvent) => PublishedEvent;

/** What endpoints hear of each stored event: the catalog of contract.md 13.5, fields in its order. */
const CATALOG: Readonly<Record<string, Publish>> = {
  ...onboarding('onboarding.started.v1', 'user.onboarding_started', ({ user_id }) => ({ user_id })),
  ...onboarding('onboarding.kyc_submitted.v1', 'user.kyc_submitted', ({ user_id }) => ({ user_id })),
  ...onboarding('onboarding.kyc_passed.v1', 'user.kyc_passed', ({ user_id }) => ({ user_id })),
  ...onboarding('onboarding.kyc_failed.v1', 'user.kyc_failed', ({ user_id, reason }) => ({
    user_id,
    reason,
  })),
  ...onboarding(
    'onboarding.completed.v1',
    'user.onboarding_completed',
    ({ user_id, issuer_wallet_address }) => ({ user_id, issuer_wallet_address }),
  ),
  ...payout('payout.received.v1', 'payout.received', (data) => ({
    occurredAt: data.received_at,
    fields: pick(data, ['payout_id', 'user_id', 'amount', 'currency_code', 'transaction_hash']),
  })),
  ...payout('payout.expired.v1', 'payout.failed', (data) => ({
    occurredAt: data.expired_at,
    fields: pick(data, ['payout_id', 'user_id', 'amount', 'currency_code', 'reason']),
  })),
};

/** Stored names of the events that endpoints may hear of. */
export const PUBLISHED_EVENTS: readonly string[] = Object.keys(CATALOG);

/** What endpoints hear of this event; null when it is none of the catalog. */
export function published(event: RecordedEvent): PublishedEvent | null {
  return CATALOG[event.type]?.(event) ?? null;
}

/** What an endpoint hears of a test. */
export function testEvent(data: WebhookTestRequested['data']): PublishedEvent {
  return {
    type: 'webhook_endpoint.test',
    occurredAt: data.occurred_at,
    merchantId: data.merchant_id,
    data: JSON.stringify({ webhook_endpoint_id: data.endpoint_id, message: data.message }),
  };
}

function onboarding<Type extends OnboardingEvent['type']>(
  stored: Type,
  type: PublishedEvent['type'],
  fields: (data: Data<Type>) => object,
): Record<string, Publish> {
  return {
    [stored]: (event) => {
      const data = event.data as unknown as Data<Type>;
      const { at, merchant_id } = data;
      return { type, occurredAt: at, merchantId: merchant_id, data: JSON.stringify(fields(data)) };
    },
  };
}

function payout<Type extends PayoutEvent['type']>(
  stored: Type,
  type: PublishedEvent['type'],
  read: (data: Data<Type>) => { occurredAt: string; fields: object },
): Record<string, Publish> {
  return {
    [stored]: (event) => {
      const data = event.data as unknown as Data<Type>;
      const { occurredAt, fields } = read(data);
      const { merchant_id, custom_metadata } = data;
      return {
        type,
        occurredAt,
        merchantId: merchant_id,
        data: withJsonText(fields, 'custom_metadata', custom_metadata),
      };
    },
  };
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>;
}
