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

/** Those of a process that makes events of accepted batches, in the order in which it passes them. */
export const PROCESSING_FAILPOINTS = [
  'processing.read',
  'processing.locked',
  'processing.deduplicated',
  'processing.inserted',
  'processing.marked',
  'processing.committed',
] as const;

/** Those of a process that passes events on to the analytics provider. */
export const FORWARDING_FAILPOINTS = ['forwarding.read', 'forwarding.sent', 'forwarding.recorded'] as const;

export type Failpoint = (
  typeof FAILPOINTS | typeof PROCESSING_FAILPOINTS | typeof FORWARDING_FAILPOINTS
)[number];

const armed = process.env['MODE'] === 'production' ? undefined : process.env['FAILPOINT'];

/** Dies here, as `kill -9` would, when the environment says FAILPOINT=name (sandbox mode only); else does nothing. */
export function failpoint(name: Failpoint): void {
  if (armed === name) process.kill(process.pid, 'SIGKILL');
}
