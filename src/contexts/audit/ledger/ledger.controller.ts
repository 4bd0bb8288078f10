import { Controller, Get } from '@nestjs/common';
import { PortalRoute } from '../../../platform/http/admin/portal.guard.js';
import { MerchantId, UuidParam, ValidQuery } from '../../../platform/http/decorators.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { PayoutProofs } from './payout-proofs.service.js';
import { ApiProperty, Field, Many, Nested, ResourceOf } from '../../../platform/dto/field.js';
import { COUNT, digits, TIME, UUID } from '../../../platform/dto/rules.js';
import { AdminController } from '../../../platform/http/admin/admin.guard.js';
import { Disclosure, Reads } from '../../../platform/http/reads.js';

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

class ConsistencyQuery {
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

const PROOF = {
  200: [ProofResponse, 'The events of the payout, and their proofs.'],
  503: 'The newest event of the payout is under no signed head yet: Retry-After says when it will be.',
} as const;
const HEAD = {
  200: [HeadResponse, 'The head, and the public key that it is signed with.'],
  503: 'No head is signed yet.',
} as const;
const CONSISTENCY = {
  200: [ConsistencyResponse, 'The later head, and the path from the root of the earlier one.'],
  400: 'The earlier head covers more events than the later one.',
  404: 'No head covers exactly `to` events.',
  503: 'No head is signed yet.',
} as const;

const TAG = 'Audit';
const EXTENSION = 'An extension of the specification.';

/** The ledger routes of the merchant API (contract.md 10.9 to 10.11). */
@Controller('merchants/v1')
export class LedgerController {
  constructor(private readonly proofs: PayoutProofs) {}

  @Get('payouts/:id/proof')
  @PortalRoute('payouts/:id/proof', 'payouts:read')
  @ApiRoute({
    id: 'getPayoutProof',
    tag: TAG,
    summary: 'Get the proof that the events of a payout are in the log',
    description: `${EXTENSION} Each event leads to the root of the newest signed head. The public key is all that a check needs.`,
    responses: { ...PROOF, 404: 'The merchant has no such payout.' },
  })
  async getProof(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'Payout') id: string,
  ): Promise<ProofResponse> {
    return { proof: await this.proofs.of(merchantId, id) };
  }

  @Get('audit/head')
  @ApiRoute({
    id: 'getAuditHead',
    tag: TAG,
    summary: 'Get the newest signed head of the log',
    description: `${EXTENSION} Keep it to prove later that the log was rewritten or cut.`,
    responses: HEAD,
  })
  async head(): Promise<HeadResponse> {
    return { head: await this.proofs.newestHead() };
  }

  @Get('audit/consistency')
  @ApiRoute({
    id: 'getAuditConsistency',
    tag: TAG,
    summary: 'Get the proof that a signed head extends an earlier one',
    description: `${EXTENSION} With the earlier head it is all that a check needs to find that no event under it was changed or removed.`,
    responses: CONSISTENCY,
  })
  async consistency(@ValidQuery() { from, to }: ConsistencyQuery): Promise<ConsistencyResponse> {
    return { consistency: await this.proofs.consistency(from, to ?? null) };
  }
}

/** The heads and proofs of any merchant (admin-api.md 3). */
@AdminController()
export class AdminAuditController {
  constructor(private readonly proofs: PayoutProofs) {}

  @Get('payouts/:id/proof')
  @ApiRoute({
    id: 'adminGetPayoutProof',
    tag: 'Admin: payouts',
    summary: 'Get the proof that the events of a payout are in the log',
    scopes: ['payouts:read'],
    responses: { ...PROOF, 404: 'There is no such payout within reach of the key.' },
  })
  @Reads({ view: null, lookup: 'payout' })
  async getProof(@UuidParam('id', 'Payout') id: string): Promise<Disclosure<ProofResponse>> {
    const merchantId = await this.proofs.findMerchant(id);
    return new Disclosure([merchantId], async () => ({ proof: await this.proofs.of(merchantId, id) }));
  }

  @Get('audit/head')
  @ApiRoute({
    id: 'adminGetAuditHead',
    tag: 'Admin: audit',
    summary: 'Get the newest signed head of the log',
    scopes: ['audit:read'],
    responses: HEAD,
  })
  @Reads({ view: null, lookup: null })
  async head(): Promise<HeadResponse> {
    return { head: await this.proofs.newestHead() };
  }

  @Get('audit/consistency')
  @ApiRoute({
    id: 'adminGetAuditConsistency',
    tag: 'Admin: audit',
    summary: 'Get the proof that a signed head extends an earlier one',
    scopes: ['audit:read'],
    responses: CONSISTENCY,
  })
  @Reads({ view: null, lookup: null })
  async consistency(@ValidQuery() { from, to }: ConsistencyQuery): Promise<ConsistencyResponse> {
    return { consistency: await this.proofs.consistency(from, to ?? null) };
  }
}
