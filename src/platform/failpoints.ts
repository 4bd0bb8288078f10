/** Named instants at which a crash is rehearsed, in the order a keyed write passes them. */
export const FAILPOINTS = [
  'request.received',
  'request.authenticated',
  'command.decided',
  'commit.sent',
  'commit.done',
  'views.waited',
  'response.ready',
  'response.sent',
] as const;

/** A context adds its own next to their declaration. */
export interface Failpoints extends Record<(typeof FAILPOINTS)[number], true> {}

export type Failpoint = keyof Failpoints;

let armed = process.env['MODE'] === 'production' ? undefined : process.env['FAILPOINT'];
const signal = process.env['FAILPOINT_SIGNAL'] === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL';

/**
 * Dies here, as `kill -9` would, when the environment says FAILPOINT=name (sandbox mode only); else does nothing. With
 * FAILPOINT_SIGNAL=SIGSTOP it is stopped here instead, until SIGCONT.
 */
export function failpoint(name: Failpoint): void {
  if (armed !== name) return;
  armed = undefined;
  process.kill(process.pid, signal);
}
