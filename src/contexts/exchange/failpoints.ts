/** Of an order on its way, in the order in which it passes them. */
export const ORDER_FAILPOINTS = [
  'order.provider_created',
  'order.taken',
  'order.settled',
  'order.withdrawn',
  'order.asked',
  'order.observed',
] as const;

type Name = (typeof ORDER_FAILPOINTS)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
