import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../kernel/clock.js';
import { CachedDirectory } from '../../../platform/http/merchant-directory.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { effectiveScopes } from '../domain/roles.js';
import { DirectoryView } from '../views/directory.js';
import { CredentialSecrets } from './credential-secrets.js';

interface KnownAdminKey extends Omit<Requester, 'address'> {
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

  private async load(hash: string): Promise<KnownAdminKey | null> {
    const row = await this.view.adminKey(hash);
    if (row === null || row.isPending || row.revokedAt !== null || row.operatorStatus === 'disabled')
      return null;
    const { credentialId, operatorId, operatorName: name, role, merchants, cidrs: addresses } = row;
    const ends = [row.expiresAt, row.rollingUntil].filter((end) => end !== null);
    const expiresAt = ends.sort((a, b) => a.getTime() - b.getTime())[0] ?? null;
    const scopes = effectiveScopes(row.scopes, role);
    return { credentialId, operatorId, name, role, scopes, merchants, addresses, expiresAt };
  }
}
