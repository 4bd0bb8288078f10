/** Of an operation, in the order in which it passes them. */
export const OPERATION_FAILPOINTS = [
  'operation.requested',
  'operation.approved',
  'operation.begun',
  'operation.written',
  'operation.recorded',
] as const;

type Name = (typeof OPERATION_FAILPOINTS)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
