import type { Figures } from '../../../payouts/contract.js';
import { Account } from '../../domain/account.js';
import { userHistory, type HistoryOptions } from '../user-history.js';
import { tell, type Explanation, type Sources } from './explanation.js';

/** A balance, and after each event what it was then; in the order of `events`. */
export interface ExplainedBalance extends Explanation {
  readonly after: readonly Figures[];
}

/** Every event that moved a balance. Throws as {@link userHistory} does. */
export async function explainBalance(
  sources: Sources,
  id: string,
  options: HistoryOptions,
): Promise<ExplainedBalance> {
  const history = await userHistory(sources.log, id, options);
  const account = new Account();
  const moving = history.events.filter(({ type }) => type.startsWith('payout.'));
  const after = moving.map((event) => {
    account.add(event);
    return account.figures;
  });
  const { confirmed, pending, committed } = account.figures;
  return {
    what: `balance ${history.userId}`,
    figure: [
      ['confirmed', `${confirmed} USDC`],
      ['pending', `${pending} USDC`],
      ['committed', `${committed} USDC`],
      ['moment', `up to position ${history.position}, ${history.read} events read`],
      ['user', `${history.userId}, of merchant ${history.merchantId}`],
    ],
    ...(await tell(sources, moving)),
    sections: [],
    after,
  };
}
