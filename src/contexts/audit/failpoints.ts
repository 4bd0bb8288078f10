/** Of a head on its way, in the order in which it passes them. */
const HEAD_FAILPOINTS = ['head.signed', 'head.stored'] as const;

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<(typeof HEAD_FAILPOINTS)[number], true> {}
}
