let armed = process.env['MODE'] === 'production' ? undefined : process.env['FAILPOINT'];
const signal = process.env['FAILPOINT_SIGNAL'] === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL';

/**
 * Dies here, as `kill -9` would, when the environment says FAILPOINT=name (sandbox mode only); else does nothing. With
 * FAILPOINT_SIGNAL=SIGSTOP it is stopped here instead, until SIGCONT. The names are listed in docs/chaos.md.
 */
export function failpoint(name: string): void {
  if (armed !== name) return;
  armed = undefined;
  process.kill(process.pid, signal);
}
