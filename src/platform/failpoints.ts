let armed = process.env['MODE'] === 'production' ? undefined : process.env['FAILPOINT'];
const signal = process.env['FAILPOINT_SIGNAL'] === 'SIGSTOP' ? 'SIGSTOP' : 'SIGKILL';

/**
 * Kills the process if the environment has FAILPOINT=name (sandbox mode only). FAILPOINT_SIGNAL=SIGSTOP stops
 * it until SIGCONT instead. The names are listed in docs/chaos.md.
 */
export function failpoint(name: string): void {
  if (armed !== name) return;
  armed = undefined;
  process.kill(process.pid, signal);
}
