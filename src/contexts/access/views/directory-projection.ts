import type { PoolClient } from 'pg';
import { subscriptionName, subscriptionOf } from '../../../platform/projections/projection.js';
import type { CredentialEvent } from '../domain/credentials.js';
import { credentialHistory, merchantHistory, operatorHistory } from '../domain/history.js';
import type { MerchantEvent } from '../domain/merchant.js';
import type { OperatorEvent } from '../domain/operator.js';

export const DIRECTORY_VIEW = subscriptionName('access.directory');

const TABLES = { schema: 'access', names: ['merchants', 'operators', 'credentials'] };

type DirectoryEvent = MerchantEvent | CredentialEvent | OperatorEvent;

/** Which merchants and operators are there, with which credentials may they call, and from where? */
export const directoryProjection = subscriptionOf<DirectoryEvent>({
  name: DIRECTORY_VIEW,
  events: [merchantHistory, credentialHistory, operatorHistory].flatMap(({ events }) => events),
  // One statement per event: credentials change a few times a year.
  async apply(events, tx, schema = TABLES.schema) {
    for (const event of events) await applyOne(event, tx, schema);
  },
  tables: TABLES,
});

async function applyOne({ type, data }: DirectoryEvent, tx: PoolClient, schema: string): Promise<unknown> {
  const insert = (table: string, row: object): Promise<unknown> => {
    const places = Object.keys(row).map((_, n) => `$${n + 1}`);
    const sql = `insert into ${schema}.${table} (${Object.keys(row).join()}) values (${places.join()})`;
    return tx.query(`${sql} on conflict do nothing`, Object.values(row));
  };
  const update = (table: string, [name, id]: readonly [string, string], row: object): Promise<unknown> => {
    const changes = Object.keys(row).map((each, n) => `${each} = $${n + 2}`);
    return tx.query(`update ${schema}.${table} set ${changes.join()} where ${name} = $1`, [
      id,
      ...(Object.values(row) as unknown[]),
    ]);
  };
  switch (type) {
    case 'merchant.registered.v1': {
      const { merchant_id, name, registered_at } = data;
      return insert('merchants', { merchant_id, name, status: 'active', registered_at });
    }
    case 'merchant.suspended.v1':
      return update('merchants', ['merchant_id', data.merchant_id], { status: 'suspended' });
    case 'merchant.reinstated.v1':
      return update('merchants', ['merchant_id', data.merchant_id], { status: 'active' });
    case 'merchant.embedding_set.v1': {
      const { origins, callbacks, shown_as: display_name } = data;
      return update('merchants', ['merchant_id', data.merchant_id], { origins, callbacks, display_name });
    }
    case 'merchant.renamed.v1':
      return update('merchants', ['merchant_id', data.merchant_id], { name: data.name });
    case 'merchant.limits_set.v1': {
      const { merchant_id, requests_per_minute } = data;
      return update('merchants', ['merchant_id', merchant_id], { requests_per_minute });
    }
    case 'merchant.ip_allow_list_set.v1':
      return update('merchants', ['merchant_id', data.merchant_id], { ip_allow_list: data.cidrs });
    case 'credential.issued.v1': {
      const { owner_id, merchant_id, credential_id, kind, key_id, sealed_secret, secret_hash, is_pending } =
        data;
      const { name, scopes, merchants, addresses, withdraw_addresses } = data;
      const { demands_signing, memo_signing, expires_at, at: created_at } = data;
      return insert('credentials', {
        ...{ owner_id, credential_id, kind, key_id, sealed_secret, secret_hash, is_pending },
        ...{ merchant_id, operator_id: merchant_id === null ? owner_id : null },
        ...{ name, scopes, merchants, addresses, withdraw_addresses },
        ...{ demands_signing, memo_signing, expires_at, created_at },
      });
    }
    case 'credential.activated.v1':
      return update('credentials', ['credential_id', data.credential_id], { is_pending: false });
    case 'credential.rolled.v1':
      return update('credentials', ['credential_id', data.credential_id], { rolling_until: data.until });
    case 'credential.revoked.v1':
      return update('credentials', ['credential_id', data.credential_id], { revoked_at: data.at });
    case 'credential.restricted.v1':
      return update('credentials', ['key_id', data.key_id], { addresses: data.addresses });
    case 'credential.page_set.v1':
      return;
    case 'operator.created.v1': {
      const { operator_id, name, email, role, at: created_at } = data;
      return insert('operators', { operator_id, name, email, role, status: 'active', created_at });
    }
    case 'operator.role_set.v1':
      return update('operators', ['operator_id', data.operator_id], { role: data.role });
    case 'operator.disabled.v1':
      return update('operators', ['operator_id', data.operator_id], {
        status: 'disabled',
        disabled_at: data.at,
      });
    case 'operator.enabled.v1':
      return update('operators', ['operator_id', data.operator_id], { status: 'active' });
    case 'operator.passkey_added.v1':
    case 'operator.passkey_removed.v1':
      return;
    default:
      return type satisfies never;
  }
}
