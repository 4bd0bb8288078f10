import { Injectable } from '@nestjs/common';
import { KeyHolders } from '../../../platform/operations/key-holders.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { AdminKeyDirectory } from './known-admin-keys.js';

/** {@link KeyHolders} by the directory of admin keys. A key with an address list is refused: a program has no address. */
@Injectable()
export class AdminKeyHolders extends KeyHolders {
  constructor(private readonly keys: AdminKeyDirectory) {
    super();
  }

  async personOf(key: string): Promise<Requester | null> {
    const found = await this.keys.find(key);
    if (found === null || found.addresses.length > 0) return null;
    const { operatorId, name, role, credentialId, scopes, merchants } = found;
    return { operatorId, name, role, credentialId, address: null, scopes, merchants };
  }
}
