import type { DisableCause } from './webhook-endpoints.js';

/** What the states of a delivery that ended without success mean, for people. */
export const DELIVERY_STATES = {
  exhausted: 'no further automatic attempt',
  dropped: 'the endpoint was disabled or deleted',
} as const satisfies Readonly<Record<string, string>>;

/** By what an endpoint was disabled, for people. */
export const DISABLED_BY: Readonly<Record<DisableCause, string>> = {
  merchant: 'the merchant',
  gone: 'a response with 410',
  failing: 'sustained failures',
};
