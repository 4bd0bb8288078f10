import { expectStatus } from '../../payouts.js';
import type { ServiceProcess } from '../../../../../bench/support/service.js';
import type { Treasury } from '../../treasury.js';
import { AdminClient } from '../../../../support/admin/admin-client.js';
import type { ApiResponse } from '../../../../support/http/signed-client.js';
import {
  adminCallers,
  approved,
  newVictim,
  portalCallers,
  strangers,
  unapprovedKey,
  type FuzzCaller,
  type Keepers,
} from './callers.js';
import { endpointsOf, portalEndpoints, type Document, type ScopedEndpoint } from './endpoints.js';
import { addRefundable, addUnderReview } from './subjects.js';
import { addDeliveries, createMerchant, MARKS, REASON, type MarkedMerchant } from './merchants.js';

const REFUNDABLE = 3;

export interface AdminWorld {
  readonly document: Document;
  readonly endpoints: readonly ScopedEndpoint[];
  readonly keepers: Keepers;
  readonly merchants: readonly MarkedMerchant[];
  readonly operators: readonly string[];
  readonly callers: Readonly<Record<ScopedEndpoint['port'], readonly FuzzCaller[]>>;
  readonly strangers: readonly FuzzCaller[];
}

/** Creates two merchants with known ids and texts, and callers of each kind. `people` is at least 2. */
export async function createAdminWorld(
  service: ServiceProcess,
  treasury: Treasury,
  people: number,
): Promise<AdminWorld> {
  const { baseUrl, admin, adminUrl, portalPort } = service;
  const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document;
  const keepers = {
    first: new AdminClient(adminUrl, admin.api_key, ''),
    second: new AdminClient(adminUrl, admin.approver_api_key, ''),
  };
  const merchants: MarkedMerchant[] = [];
  for (const mark of MARKS) {
    const merchant = await createMerchant(keepers.first, { baseUrl, treasury }, mark);
    await addDeliveries(merchant);
    for (let n = 0; n < REFUNDABLE; n += 1) await addRefundable(keepers.first, merchant);
    await addUnderReview(merchant, service.widgetUrl);
    await proposeLimit(keepers, merchant);
    merchants.push(merchant);
  }
  return {
    document,
    endpoints: [...endpointsOf(document, '/admin/v1/'), ...portalEndpoints()],
    keepers,
    merchants,
    operators: [await newVictim(keepers), await newVictim(keepers)],
    callers: {
      admin: await adminCallers(keepers, merchants, people),
      portal: await portalCallers(merchants, `http://127.0.0.1:${portalPort}`),
    },
    strangers: strangers(await unapprovedKey(keepers)),
  };
}

/** Creates an operation that waits for its second person, and a rejected one. */
async function proposeLimit({ first, second }: Keepers, { id, ids }: MarkedMerchant): Promise<void> {
  const lower = { limits: { requests_per_minute: 900_000 }, reason: REASON };
  expectStatus(await first.change(`/merchants/${id}`, '', lower), 200);
  for (const rejects of [true, false]) {
    const change = { limits: { requests_per_minute: 1_000_000 }, reason: REASON };
    const response = expectStatus(await first.change(`/merchants/${id}`, '', change), 202);
    const { operation } = response.json<{ operation: { id: string } }>();
    ids['operations']!.push(operation.id);
    if (rejects)
      expectStatus(await second.post(`/operations/${operation.id}/reject`, { reason: REASON }), 200);
  }
}

/** Reverts suspensions and changes of addresses or limit by the fuzzer. */
export async function keep(keepers: Keepers, { id }: MarkedMerchant): Promise<void> {
  const { first } = keepers;
  const { merchant } = (await first.get(`/merchants/${id}`)).json<{
    merchant: {
      status: string;
      ip_allow_list: readonly string[];
      limits: { requests_per_minute: number | null };
    };
  }>();
  const decided = async ({ status, json }: ApiResponse): Promise<void> => {
    if (status === 202) await approved(keepers, json<{ operation: { id: string } }>().operation.id);
  };
  if (merchant.ip_allow_list.length > 0)
    await first.change(`/merchants/${id}`, '', { ip_allow_list: [], reason: REASON });
  if (merchant.limits.requests_per_minute !== null) {
    const change = { limits: { requests_per_minute: null }, reason: REASON };
    await decided(await first.change(`/merchants/${id}`, '', change));
  }
  if (merchant.status === 'suspended')
    await decided(await first.change(`/merchants/${id}`, '/reinstate', { reason: REASON }));
}
