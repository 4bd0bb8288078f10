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

  @ApiProperty({ ...WORD, nullable: true })
  block_hash!: string | null;

  @ApiProperty({ ...TIME, nullable: true, description: "The block's own." })
  block_time!: string | null;

  @ApiProperty({
    ...COUNT,
    nullable: true,
    description: 'Those that were seen; the block of the transfer is the first.',
  })
  confirmations!: number | null;

  @ApiProperty({ ...ADDRESS, nullable: true, description: 'The contract that wrote the log.' })
  token!: string | null;

  @ApiProperty({ ...ADDRESS, nullable: true })
  from!: string | null;

  @ApiProperty({ ...ADDRESS, nullable: true })
  to!: string | null;

  @ApiProperty({ type: 'string', pattern: '^[0-9]+$', nullable: true, description: 'In minor units.' })
  value!: string | null;

  @ApiProperty({ ...TIME, description: 'When the payout was reported.' })
  created_at!: string;

  @ApiProperty(TIME)
  received_at!: string;

  @Nested(() => Receipt, {
    nullable: true,
    description: 'The receipt of the transaction, as a node sent it.',
  })
  receipt!: Receipt | null;
}

export class EvidenceResponse {
  @Nested(() => Evidence)
  evidence!: Evidence;
}
