import { ApiProperty, Nested } from '../../../platform/dto/field.js';
import { COUNT, TIME, UUID } from '../../../platform/dto/rules.js';
import type { PayoutEvidence } from '../views/evidence.js';

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

class Evidence implements PayoutEvidence {
  @ApiProperty(UUID)
  payout_id!: string;

  @ApiProperty({ type: 'integer', description: 'EIP-155.' })
  chain_id!: number;

  @ApiProperty({ type: 'string', description: 'In lower case, without spaces around it.' })
  transaction_hash!: string;

  @ApiProperty({
    ...COUNT,
    description: 'Place of the Transfer log among the logs of its transaction, from 0.',
  })
  log_index!: number;

  @ApiProperty(COUNT)
  block_number!: number;

  @ApiProperty(WORD)
  block_hash!: string;

  @ApiProperty({ ...TIME, description: "The block's own." })
  block_time!: string;

  @ApiProperty({
    ...COUNT,
    description: 'Those that were seen; the block of the transfer is the first.',
  })
  confirmations!: number;

  @ApiProperty({ ...ADDRESS, description: 'The contract that wrote the log.' })
  token!: string;

  @ApiProperty(ADDRESS)
  from!: string;

  @ApiProperty(ADDRESS)
  to!: string;

  @ApiProperty({ type: 'string', pattern: '^[0-9]+$', description: 'In minor units.' })
  value!: string;

  @ApiProperty({ ...TIME, description: 'When the payout was reported.' })
  created_at!: string;

  @ApiProperty(TIME)
  received_at!: string;

  @Nested(() => Receipt, {
    description: 'The receipt of the transaction, as a node sent it.',
  })
  receipt!: Receipt;
}

export class EvidenceResponse {
  @Nested(() => Evidence)
  evidence!: Evidence;
}
