import type { Context } from '../../platform/context.js';
import type { JsonObject, RecordedEvent } from '../../platform/event-store/port.js';
import { PAYOUT_RECEIVED, type PayoutReceived, type TransferEvidence } from './contract.js';

const RECEIVED_BEFORE = 'payout.received.v1';

const NOT_KNOWN: { readonly [Field in keyof TransferEvidence]: null } = {
  created_at: null,
  block_hash: null,
  block_time: null,
  confirmations: null,
  token: null,
  from: null,
  to: null,
  value: null,
  receipt_sha256: null,
};

const withoutEvidence = (data: JsonObject): JsonObject => ({ ...data, ...NOT_KNOWN });

/** How older versions of events of payouts are read. */
export const PAYOUT_UPCASTS: NonNullable<Context['upcasts']> = {
  [RECEIVED_BEFORE]: { to: PAYOUT_RECEIVED, with: withoutEvidence },
};

/** Whether it is the stored name of any version of the event, also of one that this version does not know. */
export function isReceived(type: string): boolean {
  return type.startsWith('payout.received.');
}

/** The data of a stored event, as it is read today; null when this version does not know its name. */
export function receivedIn({
  type,
  data,
}: Pick<RecordedEvent, 'type' | 'data'>): PayoutReceived['data'] | null {
  if (type !== PAYOUT_RECEIVED && type !== RECEIVED_BEFORE) return null;
  return (type === RECEIVED_BEFORE ? withoutEvidence(data) : data) as unknown as PayoutReceived['data'];
}
