/** Of an order on its way, in the order in which it passes them. */
export const ORDER_FAILPOINTS = [
  'order.provider_created',
  'order.claimed',
  'order.settled',
  'order.withdrawn',
  'order.polled',
  'order.observed',
] as const;

/** Of the erasure of who an order was for: of the command, then of the worker. */
export const ORDER_ERASURE_FAILPOINTS = [
  'order.erasure_recorded',
  'order.key_dropped',
  'order.responses_dropped',
] as const;

type Name = (typeof ORDER_FAILPOINTS | typeof ORDER_ERASURE_FAILPOINTS)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
