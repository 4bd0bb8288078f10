import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../terminal.mjs';

const OUTCOME_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Reads until `isReached`; what was read then. */
export async function outcomeOf(read, isReached, what, pollMs = POLL_MS) {
  const deadline = performance.now() + OUTCOME_TIMEOUT_MS;
  for (;;) {
    const state = await read();
    if (isReached(state)) return state;
    if (performance.now() > deadline)
      throw new Problem(`The ${what} has no outcome after ${OUTCOME_TIMEOUT_MS / 1000} s.`);
    await sleep(pollMs);
  }
}
