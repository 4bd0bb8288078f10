/** Of an order on its way, in the order in which it passes them. */
export const ORDER_FAILPOINTS = [
  'order.provider_created',
  'order.taken',
  'order.settled',
  'order.withdrawn',
  'order.asked',
  'order.observed',
] as const;

/** Of a process that scans the chain for deposits, in the order in which it passes them. */
export const SCAN_FAILPOINTS = ['scan.held', 'scan.read', 'scan.confirmed', 'scan.stored'] as const;

type Name = (typeof ORDER_FAILPOINTS | typeof SCAN_FAILPOINTS)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
