import { EventsMissing } from '../../../platform/event-store/followed-log.js';
import type { Operator } from '../../../platform/operator/operator.js';

/** Exit code when something is wrong. */
export const EXIT_WRONG = 2;
/** Exit code when nothing is wrong, and not everything could be checked. */
export const EXIT_INCOMPLETE = 1;

export const UNPINNED =
  'the keys of the ledger are not pinned: nothing proves whose they are. Give --key with the first key that was published or, where a database is read, the MASTER_KEY';
export const UNOPENED = 'whether each personal key is the one of its person: that takes the MASTER_KEY';
export const UNCOVERED = 'no signed head covers any event: nothing proves that the log is the recorded one';

/** Runs `act`. A log that ends before what the service has read of it is a finding, not a mistake of the caller. */
export async function reportMissingEvents(
  operator: Operator,
  asJson: boolean,
  act: () => Promise<void>,
): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof EventsMissing)) throw error;
    const { message } = error;
    operator.print(
      asJson ? JSON.stringify({ missing_events: message }) : `CHANGED   ${message}\nNOT in order`,
    );
    operator.exit(EXIT_WRONG);
  }
}
