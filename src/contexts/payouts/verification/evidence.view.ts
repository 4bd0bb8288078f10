import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { ApiProperty, Nested, ResourceOf } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { comparableHash } from '../payouts/payout-events.js';
import { payout } from '../payouts/payout.js';
import { Receipts } from './receipts.store.js';

const WORD = { type: 'string', pattern: '^0x[0-9a-f]{64}$' };
const ADDRESS = { type: 'string', pattern: '^0x[0-9a-f]{40}$' };

class Receipt {
  @ApiProperty({ type: 'string', pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of its bytes, in hex.' })
  sha256!: string;

  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Its JSON, byte for byte; null when it has more than 256 KiB.',
  })
  json!: string | null;
}

/** The evidence of a payout's transfer (contract.md 10.8). */
class Evidence {
  @ApiProperty(UUID) payout_id!: string;
  @ApiProperty({ type: 'integer', description: 'EIP-155.' }) chain_id!: number;

  @ApiProperty({ type: 'string', description: 'In lower case, without spaces around it.' })
  transaction_hash!: string;

  @ApiProperty({
    ...COUNT,
    description: 'Place of the Transfer log among the logs of its transaction, from 0.',
  })
  log_index!: number;

  @ApiProperty(COUNT) block_number!: number;
  @ApiProperty(WORD) block_hash!: string;
  @ApiProperty({ ...TIME, description: "The block's own." }) block_time!: string;

  @ApiProperty({ ...COUNT, description: 'Those that were seen; the block of the transfer is the first.' })
  confirmations!: number;

  @ApiProperty({ ...ADDRESS, description: 'The contract that wrote the log.' }) token!: string;
  @ApiProperty(ADDRESS) from!: string;
  @ApiProperty(ADDRESS) to!: string;
  @ApiProperty({ type: 'string', pattern: '^[0-9]+$', description: 'In minor units.' }) value!: string;
  @ApiProperty({ ...TIME, description: 'When the payout was reported.' }) created_at!: string;
  @ApiProperty(TIME) received_at!: string;

  @Nested(() => Receipt, { description: 'The receipt of the transaction, as a node sent it.' })
  receipt!: Receipt;
}

export class EvidenceResponse extends ResourceOf('evidence', Evidence) {}

/** The evidence of received payouts, read from their streams, because a view may lag. */
@Injectable()
export class EvidenceView {
  constructor(
    private readonly loop: CommandLoop,
    private readonly receipts: Receipts,
  ) {}

  /** Reads the evidence of a payout. Throws `not_found`, or `invalid_transition` if it was not received. */
  async of(merchantId: string, payoutId: string): Promise<Evidence> {
    const state = await this.loop.loadForDisplay(payout, payoutId);
    if (state.status === 'unreported' || state.reported.merchant_id !== merchantId)
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
      created_at: state.reported.created_at,
      received_at: seen.received_at,
      receipt: { sha256, json: await this.receipts.find(sha256) },
    };
  }
}
