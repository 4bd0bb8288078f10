import { ApiProperty, Field, Many, Nested, ResourceOf } from '../../../platform/dto/field.js';
import { COUNT, digits, TIME, UUID } from '../../../platform/dto/rules.js';

const HASH = { type: 'string', pattern: '^[0-9a-f]{64}$' };

class LedgerHead {
  @ApiProperty({ ...UUID, description: 'Which log; it never changes.' }) log_id!: string;
  @ApiProperty({ ...COUNT, description: 'How many events it covers.' }) size!: number;

  @ApiProperty({ ...HASH, description: 'Root of the Merkle tree (RFC 9162, SHA-256) over them.' })
  root!: string;

  @ApiProperty({ type: 'string', pattern: '^[0-9]+$', description: 'Position of the last of them.' })
  position!: string;

  @ApiProperty(TIME) signed_at!: string;

  @ApiProperty({ type: 'string', pattern: '^[0-9a-f]{16}$', description: 'Of the key that signed.' })
  key_id!: string;

  @ApiProperty({
    ...HASH,
    nullable: true,
    description:
      'The head before it: SHA-256 over the text that it signed, a line feed and its signature in hex. Null in the first.',
  })
  previous!: string | null;

  @ApiProperty({
    type: 'string',
    pattern: '^[0-9a-f]{128}$',
    description: 'Ed25519 over the JSON (RFC 8785) of the members above and `"kind": "disburse.head.v1"`.',
  })
  signature!: string;

  @ApiProperty({ type: 'string', description: 'The key, as PEM. Keep it: a later one is signed by it.' })
  public_key!: string;
}

class Proven {
  @ApiProperty({
    type: 'string',
    description:
      'The event as it is stored, as JSON (RFC 8785). Its leaf is SHA-256 over a zero byte and this text.',
  })
  leaf!: string;

  @ApiProperty({ ...COUNT, description: 'Its place among all events.' }) index!: number;

  @ApiProperty({ type: 'array', items: HASH, description: 'From the leaf up to the root (RFC 9162, 2.1.3).' })
  path!: string[];
}

class Proof {
  @ApiProperty(UUID) payout_id!: string;
  @Many(() => Proven, { description: 'Every event of the payout, in order.' }) events!: Proven[];
  @Nested(() => LedgerHead) head!: LedgerHead;
}

export class ProofResponse extends ResourceOf('proof', Proof) {}

const SIZE = digits(1, Number.MAX_SAFE_INTEGER);

export class ConsistencyQuery {
  @Field(SIZE, { description: 'How many events the earlier head covers.' }) from!: number;

  @Field(SIZE, {
    optional: true,
    description: 'How many events the later head covers; the newest head without it.',
  })
  to?: number;
}

class Consistency {
  @ApiProperty({ ...COUNT, description: 'How many events the earlier head covers.' }) from!: number;
  @Nested(() => LedgerHead, { description: 'The later head.' }) head!: LedgerHead;

  @ApiProperty({
    type: 'array',
    items: HASH,
    description: 'Leads from the root of the earlier head to that of the later one (RFC 9162, 2.1.4).',
  })
  path!: string[];
}

export class ConsistencyResponse extends ResourceOf('consistency', Consistency) {}

export class HeadResponse extends ResourceOf('head', LedgerHead) {}
