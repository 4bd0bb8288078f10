import type { Requester } from './operations.js';

/** Records reads of merchants' data by operators, for the portal (admin-api.md 6). The operations context provides it. */
export abstract class OperatorLookups {
  /** `subject` is `payout <id>` or `payouts`, for example. The read waits for its record. */
  abstract record(
    caller: Pick<Requester, 'operatorId' | 'name'>,
    merchantIds: readonly string[],
    subject: string,
  ): Promise<void>;
}
