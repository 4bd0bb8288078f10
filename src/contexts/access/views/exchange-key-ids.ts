import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/postgres/database.js';

/** Which exchange key is a credential of? Its id is that of one of the key's secrets, or the `api_key` itself. */
@Injectable()
export class ExchangeKeyIds {
  constructor(private readonly database: Database) {}

  /** An id that is no secret's is treated as that of the key. */
  async keyOf(credentialId: string): Promise<string> {
    const [row] = await this.database.query<{ id: string }>(
      'select credential_id as id from access.secrets where secret_id = $1',
      [credentialId],
    );
    return row?.id ?? credentialId;
  }
}
