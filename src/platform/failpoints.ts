let armed = process.env['MODE'] === 'production' ? undefined : process.env['FAILPOINT'];
const signal = process.env['FAILPOINT_SIGNAL'] === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL';

/**
 * Kills the process, as `kill -9` would, if the environment has FAILPOINT=name (sandbox mode only). With
 * FAILPOINT_SIGNAL=SIGSTOP it stops the process until SIGCONT instead. The names are listed in docs/chaos.md.
 */
export function failpoint(name: string): void {
  if (armed !== name) return;
  armed = undefined;
  process.kill(process.pid, signal);
}
