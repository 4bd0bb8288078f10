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

const armed = process.env['MODE'] === 'production' ? undefined : process.env['FAILPOINT'];

/** Dies here, as `kill -9` would, when the environment says FAILPOINT=name (sandbox mode only); else does nothing. */
export function failpoint(name: Failpoint): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
