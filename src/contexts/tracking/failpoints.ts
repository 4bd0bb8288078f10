/** Of a worker that drops the events of an erased person. */
export const ERASED_EVENTS_FAILPOINTS = ['erasure.events_blanked', 'erasure.batch_rewritten'] as const;

type Name =
  | `processing.${'read' | 'locked' | 'inserted' | 'marked' | 'committed'}`
  | `forwarding.${'read' | 'sent' | 'recorded'}`
  | (typeof ERASED_EVENTS_FAILPOINTS)[number];

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
