import type { Requester } from './operations.js';

/** Records that operators read data of merchants, for the merchants' portal (admin-api.md 6). The operations context provides it. */
export abstract class OperatorLookups {
  /** `subject`: what was read, as `payout <id>` or `payouts`. Resolves once it is stored: no read without its record. */
  abstract record(
    caller: Pick<Requester, 'operatorId' | 'name'>,
    merchantIds: readonly string[],
    subject: string,
  ): Promise<void>;
}
