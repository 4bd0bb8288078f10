/** Of a head on its way, in the order in which it passes them. */
type Name = 'head.signed' | 'head.stored';

declare module '../../platform/failpoints.js' {
  interface Failpoints extends Record<Name, true> {}
}
