import { CREDENTIAL_KINDS, MEMO_SIGNING, type CredentialKind, type MemoSigning } from './credential-kinds.js';
import { AdminCredential } from './credentials.view.js';
import { ApiProperty, Field, Nested, ResourceOf, PageOf } from '../../../platform/dto/field.js';
import { instant, integer, nullable, oneOf, text, TEXT, uuid, UUID } from '../../../platform/dto/rules.js';
import { PendingResponse, WriteBody } from '../../../platform/http/admin/writes.js';
import { label, leakedToken, listOf, networks, place, truth } from '../merchants/rules.dto.js';

const MAX_OVERLAP_SECONDS = 604_800;
const DEFAULT_OVERLAP_SECONDS = 86_400;
const MAY_BE_NULL = { optional: true, nullable: true } as const;

export class NewCredentialBody extends WriteBody {
  @Field(oneOf(CREDENTIAL_KINDS)) kind!: CredentialKind;
  @Field(label) name!: string;
  @Field(uuid, { ...MAY_BE_NULL, description: 'Of kinds payouts and exchange.' })
  merchant_id?: string | null;

  @Field(uuid, { ...MAY_BE_NULL, description: 'Of kind admin: the caller; it may be left out.' })
  operator_id?: string | null;

  @Field(listOf(text()), { ...MAY_BE_NULL, description: "Of kind admin; null: those of the person's role." })
  scopes?: readonly string[] | null;

  @Field(listOf(uuid), { ...MAY_BE_NULL, description: 'Of kind admin; null: all merchants.' })
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

  @Field(instant, { ...MAY_BE_NULL, description: 'Null: it does not expire.' })
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
  @ApiProperty(nullable(TEXT, 'In this response alone. A replay has it for 24 hours, and null later.'))
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
  @ApiProperty(nullable(UUID, 'Null: it is the secret of no credential.'))
  credential_id!: string | null;

  @ApiProperty(nullable(UUID, 'Null: there was nothing to revoke.')) operation_id!: string | null;
}

export class CredentialsResponse extends PageOf('credentials', AdminCredential) {}
