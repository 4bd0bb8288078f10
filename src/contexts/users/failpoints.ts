/** Of an erasure, in the order in which it passes them: of the command, then of the worker that drops what is kept. */
export const ERASURE_FAILPOINTS = [
  'erasure.recorded',
  'erasure.taken',
  'erasure.key_dropped',
  'erasure.snapshots_dropped',
  'erasure.responses_dropped',
  'erasure.part_dropped',
] as const;

type Name = (typeof ERASURE_FAILPOINTS)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
