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
  /** Inserts the members that are columns. */
  const insert = (table: string, row: object): Promise<unknown> =>
    tx.query(
      `insert into ${schema}.${table} select * from json_populate_record(null::${schema}.${table}, $1)
       on conflict do nothing`,
      [JSON.stringify(row)],
    );
  const update = (table: string, [name, id]: readonly [string, string], row: object): Promise<unknown> => {
    const changes = Object.keys(row).map((each, n) => `${each} = $${n + 2}`);
    return tx.query(`update ${schema}.${table} set ${changes.join()} where ${name} = $1`, [
      id,
      ...(Object.values(row) as unknown[]),
    ]);
  };
  switch (type) {
    case 'merchant.registered.v1': {
      const none = { origins: [], callbacks: [], ip_allow_list: [] };
      return insert('merchants', { ...data, status: 'active', ...none });
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
      const operator_id = data.merchant_id === null ? data.owner_id : null;
      return insert('credentials', { ...data, operator_id, created_at: data.at });
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
    case 'operator.created.v1':
      return insert('operators', { ...data, status: 'active', created_at: data.at });
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
