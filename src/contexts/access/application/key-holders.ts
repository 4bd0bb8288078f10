import { Injectable } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { KeyHolders } from '../../../platform/operations/key-holders.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { SCOPES } from '../domain/roles.js';
import { AdminKeyDirectory } from './known-admin-keys.js';

/** The people whose admin keys programs are run with. */
@Injectable()
export class AdminKeyHolders extends KeyHolders {
  readonly allScopes: ReadonlySet<string> = new Set(SCOPES);

  constructor(private readonly keys: AdminKeyDirectory) {
    super();
  }

  async personOf(key: string): Promise<Requester | null> {
    const found = await this.keys.find(key);
    if (found === null) return null;
    const { addresses, expiresAt: _, ...person } = found;
    if (addresses.length > 0)
      throw new DomainError('forbidden', 'The key is confined to network ranges: a program has no address');
    return { ...person, address: null };
  }
}
