import type { CheckFinding } from '../../src/contexts/payouts/verification/verification.js';

/** The findings of checks, in words. */
export const SEEN: Readonly<Record<CheckFinding, string>> = {
  settled: 'the transfer is there, exact and final',
  confirming: 'the transfer is there and exact, and its block is not final yet',
  not_found: 'the chain has no such transaction in a block',
  not_a_hash: 'what was reported is not a transaction hash',
  no_wallet: 'the user has no wallet yet',
  reverted: 'the transaction was reverted',
  wrong_token: 'the transaction transfers no USDC',
  wrong_recipient: "the transaction transfers no USDC to the user's wallet",
  wrong_amount: "the USDC transferred to the user's wallet is not the amount reported",
  already_used: 'the transfer confirmed another payout',
  no_response: 'no node had a usable response about the transaction',
  rate_limited: 'the nodes refuse requests as too many',
  not_confirmed: 'too few nodes agreed on the outcome',
  not_written: 'the outcome could not be written',
  row_changed: 'the stored payout is not what was reported',
};

/** The next step for a transfer other than the reported one. */
const MISMATCH =
  'Compare the transaction with the payout in a block explorer, then ask the merchant for the right one: this report expires with its window, and another one is needed.';

/** The operator's next step by finding. */
export const NEXT: Readonly<Record<CheckFinding, string>> = {
  settled: 'Nothing: the outcome is being written.',
  confirming:
    'Nothing: wait for the block to become final. If many wait, check the age of the head of the nodes.',
  not_found:
    'Search for the transaction in a block explorer. If it is there, the node is behind; if not, ask the merchant whether it was broadcast, on this chain. It may still be mined.',
  not_a_hash:
    'Ask the merchant for the hash, 64 hexadecimal digits, of the transaction: this report expires with its window, and another one is needed.',
  no_wallet: 'Nothing: it is checked once the user has finished signing up.',
  reverted: MISMATCH,
  wrong_token: MISMATCH,
  wrong_recipient: MISMATCH,
  wrong_amount: MISMATCH,
  already_used: MISMATCH,
  no_response:
    'Add another node to CHAIN_RPC_URL: this one refuses the transaction. Checks continue once one responds; nothing expires meanwhile.',
  rate_limited:
    'Raise the rate limit at the provider, or add a node of another one to CHAIN_RPC_URL: the log has the error under "chain unavailable". Checks continue, more slowly; nothing expires meanwhile.',
  not_confirmed:
    'Compare the nodes of CHAIN_RPC_URL: CHAIN_QUORUM of them must agree. Checks continue until they do.',
  not_written:
    'Read the log for "payout outcome not written": the event store refused the outcome. It is retried.',
  row_changed: 'Run `npm run audit -- verify`: somebody changed payouts.verifications in the database.',
};

/** Checks for a finding about a transfer that differs from the reported one. */
export function isMismatch(finding: string): boolean {
  return (NEXT as Readonly<Record<string, string>>)[finding] === MISMATCH;
}
