import { DomainError } from '../../../../kernel/domain-error.js';
import type { RecordedEvent } from '../../../../platform/event-store/port.js';
import {
  comparableHash,
  PAYOUT_CATEGORY,
  type PayoutReceived,
  type PayoutReported,
} from '../../../payouts/contract.js';
import { inUtc } from '../../domain/words.js';
import { idOf } from '../user-history.js';
import {
  lastWord,
  own,
  tell,
  type Explanation,
  type Row,
  type Section,
  type Sources,
} from './explanation.js';
import { toldTo } from './told-deliveries.js';

/** A payout from the merchant's report to the chain and back. Throws DomainError `not_found`. */
export async function explainPayout(sources: Sources, id: string): Promise<Explanation> {
  const payoutId = idOf('payout', id);
  const events = await own(sources.log, `${PAYOUT_CATEGORY}-${payoutId}`);
  const [first] = events;
  if (first === undefined) throw new DomainError('not_found', `The log knows no payout ${payoutId}.`);
  const facts = first.data as unknown as PayoutReported['data'];
  const last = events.at(-1)!;
  const status = last === first ? 'pending' : lastWord(last);
  const received = events.find(({ type }) => type.startsWith('payout.received.'));
  return {
    what: `payout ${payoutId}`,
    figure: [
      ['amount', `${facts.amount} USDC, ${status}`],
      ['to', `user ${facts.user_id}, of merchant ${facts.merchant_id}`],
    ],
    ...(await tell(sources, events)),
    sections: [
      ...(received === undefined ? [] : [await evidence(sources, payoutId, received)]),
      await toldTo(sources, facts.merchant_id, events.slice(1)),
    ],
  };
}

async function evidence(
  { log, payouts }: Sources,
  payoutId: string,
  { data }: RecordedEvent,
): Promise<Section> {
  const seen = data as unknown as PayoutReceived['data'];
  const title = 'evidence of the transfer';
  const hash = comparableHash(seen.transaction_hash);
  const [claim] = await log.readStream(`transfer-${seen.chain_id}_${hash}_${seen.log_index}`);
  const owner = claim?.data['owner'];
  const rows: Row[] = [
    ['chain', `${seen.chain_id}, transaction ${hash}, log ${seen.log_index}`],
    ['block', `${seen.block_number}, ${seen.block_hash}, ${inUtc(seen.block_time)}`],
    ['from, to', `${seen.from}, ${seen.to}`],
    ['token', `${seen.token}, raw value ${seen.value}`],
    ['confirmations', `${seen.confirmations}, when it was received`],
    ['receipt', `SHA-256 ${seen.receipt_sha256}`],
    ['', receiptInWords(await payouts.receipt(seen.receipt_sha256))],
  ];
  const claimed =
    owner === `${PAYOUT_CATEGORY}-${payoutId}`
      ? 'by this payout alone'
      : `NOT by it, but by ${String(owner)}`;
  rows.push(['claimed', claim === undefined ? 'NOT at all' : `${claimed}, at position ${claim.position}`]);
  return { title, rows };
}

function receiptInWords(kept: { readonly bytes: number; readonly intact: boolean } | null): string {
  if (kept === null) return 'its bytes are not kept';
  return kept.intact
    ? `${kept.bytes} bytes are kept, and have this hash`
    : `${kept.bytes} bytes are kept, and DO NOT have this hash`;
}
