import { SignedClient } from '../../test/support/http/signed-client.js';
import { createPayee } from '../../test/support/payouts/payout-calls.js';
import type { Service } from './service.js';

type Payee = Awaited<ReturnType<typeof createPayee>>;

/** The ids of new active users of the service's first merchant. */
export const createUsers = async (
  service: Parameters<typeof createPayees>[0],
  count: number,
): Promise<string[]> => (await createPayees(service, count)).map(({ id }) => id);

/** Creates active users of the service's first merchant. */
export function createPayees(
  { baseUrl, merchant }: Pick<Service, 'baseUrl' | 'merchant'>,
  count: number,
): Promise<Payee[]> {
  const client = new SignedClient(baseUrl, merchant);
  return Promise.all(Array.from({ length: count }, () => createPayee(client)));
}
