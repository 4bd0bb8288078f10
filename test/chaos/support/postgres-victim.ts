import { childrenOf, type Sandbox } from './sandbox.js';
import { oneOf } from './suite.js';

/** One blow in so many hits a single backend; PostgreSQL then throws out all others and recovers by itself. */
const BACKEND_SHARE = 0.4;

/** Whom to kill of a sandbox's PostgreSQL: the server, or a backend of the service's. */
export function victimOf({ postmaster }: Sandbox): { pid: number; name: string } {
  if (postmaster === null) throw new Error('there is no PostgreSQL to kill');
  const backends = childrenOf(postmaster).filter(({ command }) => / disburse .*127\.0\.0\.1/.test(command));
  if (backends.length > 0 && Math.random() < BACKEND_SHARE)
    return { pid: oneOf(backends).pid, name: 'a backend' };
  return { pid: postmaster, name: 'the server ' };
}
