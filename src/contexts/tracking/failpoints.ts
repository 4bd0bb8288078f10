/** Of a process that makes events of accepted batches, in the order in which it passes them. */
export const PROCESSING_FAILPOINTS = [
  'processing.read',
  'processing.locked',
  'processing.deduplicated',
  'processing.inserted',
  'processing.marked',
  'processing.committed',
] as const;

/** Of a process that passes events on to the analytics provider. */
export const FORWARDING_FAILPOINTS = ['forwarding.read', 'forwarding.sent', 'forwarding.recorded'] as const;

/** Of a worker that drops the events of an erased person. */
export const ERASED_EVENTS_FAILPOINTS = ['erasure.events_blanked', 'erasure.batch_rewritten'] as const;

type Name = (
  typeof PROCESSING_FAILPOINTS | typeof FORWARDING_FAILPOINTS | typeof ERASED_EVENTS_FAILPOINTS
)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
