import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { comparableHash } from '../contract.js';
import { payout } from '../domain/payout.js';
import { Receipts } from '../store/receipts.js';

/** What was seen of the transfer of a payout? Read from its stream: there is nothing to wait for. */
@Injectable()
export class EvidenceView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly receipts: Receipts,
  ) {}

  /** Throws `not_found`, and `invalid_transition` for a payout that was not received. */
  async of(merchantId: string, payoutId: string) {
    const state = await this.loop.show(payout, payoutId);
    if (state.status === 'unreported' || state.facts.merchant_id !== merchantId)
      throw DomainError.notFound('Payout');
    if (state.status !== 'received')
      throw new DomainError(
        'invalid_transition',
        `The payout is ${state.status}: there is no evidence of it`,
      );
    const { receipt_sha256: sha256, ...seen } = state.received;
    return {
      payout_id: payoutId,
      chain_id: seen.chain_id,
      transaction_hash: comparableHash(seen.transaction_hash),
      log_index: seen.log_index,
      block_number: seen.block_number,
      block_hash: seen.block_hash,
      block_time: seen.block_time,
      confirmations: seen.confirmations,
      token: seen.token,
      from: seen.from,
      to: seen.to,
      value: seen.value,
      created_at: state.createdAt,
      received_at: seen.received_at,
      receipt: { sha256, json: await this.receipts.find(sha256) },
    };
  }
}
