import { ApiProperty, Field, Nested, ResourceOf, PageOf } from '../../../../platform/dto/field.js';
import { instant, integer, oneOf, text, uuid, UUID } from '../../../../platform/dto/rules.js';
import { PendingResponse, WriteBody } from '../../../../platform/http/admin/writes.js';
import { Filter, ListParameters } from '../../../../platform/http/list-query.js';
import {
  CREDENTIAL_KINDS,
  MEMO_SIGNING,
  type CredentialKind,
  type MemoSigning,
} from '../../domain/credential-kinds.js';
import { AdminCredential, CREDENTIAL_STATUSES, type CredentialStatus } from '../../views/credentials.js';
import { label, leakedToken, listOf, networks, place, truth } from './rules.js';

const MAX_OVERLAP_SECONDS = 604_800;
const DEFAULT_OVERLAP_SECONDS = 86_400;

export class CredentialsQuery extends ListParameters {
  @Filter(oneOf(CREDENTIAL_KINDS), 'Only those of this kind.') kind?: CredentialKind;
  @Filter(uuid, 'Only those of this merchant.') merchant_id?: string;
  @Filter(uuid, 'Only those of this operator.') operator_id?: string;
  @Filter(oneOf(CREDENTIAL_STATUSES), 'Only those of this status.') status?: CredentialStatus;
}

export class NewCredentialBody extends WriteBody {
  @Field(oneOf(CREDENTIAL_KINDS)) kind!: CredentialKind;
  @Field(label) name!: string;
  @Field(uuid, { optional: true, nullable: true, description: 'Of kinds payouts and exchange.' })
  merchant_id?: string | null;

  @Field(uuid, {
    optional: true,
    nullable: true,
    description: 'Of kind admin: the caller; it may be left out.',
  })
  operator_id?: string | null;

  @Field(listOf(text()), {
    optional: true,
    nullable: true,
    description: "Of kind admin; null: those of the person's role.",
  })
  scopes?: readonly string[] | null;

  @Field(listOf(uuid), { optional: true, nullable: true, description: 'Of kind admin; null: all merchants.' })
  merchants?: readonly string[] | null;

  @Field(networks, { optional: true, description: 'Of kinds exchange and admin; empty: from anywhere.' })
  addresses?: readonly string[];

  @Field(listOf(text({ minLength: 1, maxLength: 255 })), {
    optional: true,
    description: 'Of kind exchange: the only addresses that its orders pay out to; empty: any.',
  })
  withdraw_addresses?: readonly string[];

  @Field(truth, { optional: true, description: 'Of kind exchange; true by default.' })
  demands_signing?: boolean;

  @Field(oneOf(MEMO_SIGNING), { optional: true, description: 'Of kind exchange; contract by default.' })
  memo_signing?: MemoSigning;

  @Field(instant, { optional: true, nullable: true, description: 'Null: it does not expire.' })
  expires_at?: Date | null;
}

export class RollBody extends WriteBody {
  @Field(integer(0, MAX_OVERLAP_SECONDS), {
    optional: true,
    default: DEFAULT_OVERLAP_SECONDS,
    description: 'Until the old one ends; 0: at once.',
  })
  overlap_seconds!: number;
}

export class LeakedBody extends WriteBody {
  @Field(leakedToken, { description: 'The secret that leaked.' }) token!: string;
  @Field(place, { description: 'Where it was found; its query and fragment are not recorded.' }) url!: string;
}

class NewCredential extends AdminCredential {
  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'In this response alone. A replay has it for 24 hours, and null later.',
  })
  secret!: string | null;
}

export class CredentialResponse extends ResourceOf('credential', AdminCredential) {}

export class CredentialWritten extends CredentialResponse {
  @ApiProperty(UUID) operation_id!: string;
}

export class CredentialCreated extends ResourceOf('credential', NewCredential) {
  @ApiProperty(UUID) operation_id!: string;
}

export class PendingCredential extends PendingResponse {
  @Nested(() => NewCredential) credential!: NewCredential;
}

export class LeakedResponse {
  @ApiProperty({ ...UUID, nullable: true, description: 'Null: it is the secret of no credential.' })
  credential_id!: string | null;

  @ApiProperty({ ...UUID, nullable: true, description: 'Null: there was nothing to revoke.' })
  operation_id!: string | null;
}

export class CredentialsResponse extends PageOf('credentials', AdminCredential) {}
