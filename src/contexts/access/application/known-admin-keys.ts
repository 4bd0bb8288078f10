import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CachedDirectory } from '../../../platform/http/merchant-directory.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { adminKey } from '../domain/admin-key.js';
import { operatorPerson } from '../domain/operator.js';
import { effectiveScopes } from '../domain/roles.js';
import { DirectoryView } from '../views/directory.js';
import { CredentialSecrets } from './credential-secrets.js';

export interface KnownAdminKey extends Omit<Requester, 'address'> {
  readonly operatorId: string;
  readonly role: string;
  readonly credentialId: string;
  /** CIDRs it may be used from; empty: anywhere. */
  readonly addresses: readonly string[];
  /** When it ends, by expiry or because another replaces it; null: never. */
  readonly expiresAt: Date | null;
}

/** Admin keys by their secrets, at most two seconds old. */
@Injectable()
export class AdminKeyDirectory {
  private readonly cached: CachedDirectory<KnownAdminKey>;

  constructor(
    private readonly view: DirectoryView,
    private readonly loop: CommandLoop,
    private readonly secrets: CredentialSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.cached = new CachedDirectory(
      (hash) => this.load(hash),
      (hash) => hash,
    );
  }

  /** Null for what is no admin key, also one that is pending, revoked or expired, and for one of a disabled person. */
  async find(token: string): Promise<KnownAdminKey | null> {
    if (!this.secrets.isAdmin(token)) return null;
    const key = await this.cached.find(this.secrets.hashOf(token));
    const end = key?.expiresAt ?? null;
    return end !== null && end <= this.clock.now() ? null : key;
  }

  /** Reads the events of the key and of its person. No row that a writer of the database can change decides whose it is. */
  private async load(hash: string): Promise<KnownAdminKey | null> {
    const credentialId = await this.view.adminKeyId(hash);
    if (credentialId === null) return null;
    const { state: key } = await this.loop.load(adminKey, credentialId);
    if (key.status !== 'active' && key.status !== 'rolling') return null;
    const { secret_hash, operator_id: operatorId, merchants, addresses } = key.issued;
    if (secret_hash !== hash) return null;
    const { state: person } = await this.loop.load(operatorPerson, operatorId);
    if (person.status !== 'active') return null;
    const { name, role } = person;
    const scopes = effectiveScopes(key.issued.scopes, role);
    const expiresAt = key.endsAt === null ? null : new Date(key.endsAt);
    return { credentialId, operatorId, name, role, scopes, merchants, addresses, expiresAt };
  }
}
