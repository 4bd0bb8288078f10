import { Column, Entity, JoinColumn, ManyToOne, OneToOne, PrimaryColumn } from 'typeorm';
import type { CredentialKind } from '../domain/credential.js';
import type { MemoSigning } from '../domain/exchange-key.js';

/** Whose secrets are, and what may be called with them; a row of `access.credentials`. */
@Entity({ schema: 'access', name: 'credentials' })
export class HolderRow {
  @PrimaryColumn('uuid', { name: 'credential_id' }) id!: string;
  @Column('text') kind!: CredentialKind | 'admin_key';
  @Column('uuid') merchantId!: string | null;
  @Column('uuid') operatorId!: string | null;
  @Column('text', { array: true }) cidrs!: string[];
  @Column('text') label!: string | null;
  @Column('text', { array: true }) scopes!: string[] | null;
  @Column('uuid', { array: true }) merchants!: string[] | null;
  @Column('text', { array: true }) withdrawAddresses!: string[];
  @Column('boolean') demandsSignature!: boolean | null;
  @Column('text') memoSigning!: MemoSigning | null;
  @Column('timestamptz') revokedAt!: Date | null;
}

/** When a credential was last used; a row of `access.credential_uses`. */
@Entity({ schema: 'access', name: 'credential_uses' })
export class CredentialUseRow {
  @PrimaryColumn('uuid', { name: 'secret_id' }) id!: string;
  @Column('timestamptz') lastUsedAt!: Date;
}

/** A credential as operators list them: one secret; a row of `access.secrets`. */
@Entity({ schema: 'access', name: 'secrets' })
export class CredentialRow {
  @PrimaryColumn('uuid', { name: 'secret_id' }) id!: string;

  @ManyToOne(() => HolderRow)
  @JoinColumn({ name: 'credential_id' })
  holder!: HolderRow;

  @OneToOne(() => CredentialUseRow)
  @JoinColumn({ name: 'secret_id' })
  use!: CredentialUseRow | null;

  @Column('text', { select: false }) secretHash!: string | null;
  @Column('text') name!: string | null;
  @Column('boolean') isPending!: boolean;
  @Column('timestamptz') issuedAt!: Date;
  @Column('timestamptz') expiresAt!: Date | null;
  @Column('timestamptz') rollingUntil!: Date | null;
  @Column('timestamptz') revokedAt!: Date | null;
}
