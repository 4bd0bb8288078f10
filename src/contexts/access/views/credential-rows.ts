import { Column, Entity, JoinColumn, ManyToOne, OneToOne, PrimaryColumn } from 'typeorm';
import type { CredentialKind } from '../domain/credential.js';
import type { MemoSigning } from '../domain/exchange-key.js';

/** Whose secrets are, and what may be called with them; a row of `access.credentials`. */
@Entity({ schema: 'access', name: 'credentials', synchronize: false })
export class HolderRow {
  @PrimaryColumn('uuid', { name: 'credential_id' })
  id!: string;

  @Column('text')
  kind!: CredentialKind | 'admin_key';

  @Column('uuid', { name: 'merchant_id', nullable: true })
  merchantId!: string | null;

  @Column('uuid', { name: 'operator_id', nullable: true })
  operatorId!: string | null;

  @Column('text', { array: true })
  cidrs!: string[];

  @Column('text', { nullable: true })
  label!: string | null;

  @Column('text', { array: true, nullable: true })
  scopes!: string[] | null;

  @Column('uuid', { array: true, nullable: true })
  merchants!: string[] | null;

  @Column('text', { name: 'withdraw_addresses', array: true })
  withdrawAddresses!: string[];

  @Column('boolean', { name: 'demands_signature', nullable: true })
  demandsSignature!: boolean | null;

  @Column('text', { name: 'memo_signing', nullable: true })
  memoSigning!: MemoSigning | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;
}

/** When a credential was last used; a row of `access.credential_uses`. */
@Entity({ schema: 'access', name: 'credential_uses', synchronize: false })
export class CredentialUseRow {
  @PrimaryColumn('uuid', { name: 'secret_id' })
  id!: string;

  @Column('timestamptz', { name: 'last_used_at' })
  lastUsedAt!: Date;
}

/** A credential as operators list them: one secret; a row of `access.secrets`. */
@Entity({ schema: 'access', name: 'secrets', synchronize: false })
export class CredentialRow {
  @PrimaryColumn('uuid', { name: 'secret_id' })
  id!: string;

  @ManyToOne(() => HolderRow)
  @JoinColumn({ name: 'credential_id' })
  holder!: HolderRow;

  @OneToOne(() => CredentialUseRow)
  @JoinColumn({ name: 'secret_id' })
  use!: CredentialUseRow | null;

  @Column('text', { name: 'secret_hash', nullable: true, select: false })
  secretHash!: string | null;

  @Column('text', { nullable: true })
  name!: string | null;

  @Column('boolean', { name: 'is_pending' })
  isPending!: boolean;

  @Column('timestamptz', { name: 'issued_at' })
  issuedAt!: Date;

  @Column('timestamptz', { name: 'expires_at', nullable: true })
  expiresAt!: Date | null;

  @Column('timestamptz', { name: 'rolling_until', nullable: true })
  rollingUntil!: Date | null;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;
}
