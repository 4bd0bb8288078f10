import { createPayee } from '../../test/support/payouts/payout-calls.js';
import type { ServiceProcess } from './service.js';

type Payee = Awaited<ReturnType<typeof createPayee>>;

/** Creates active users of the service's first merchant. */
export const createPayees = ({ client }: ServiceProcess, count: number): Promise<Payee[]> =>
  Promise.all(Array.from({ length: count }, () => createPayee(client)));

export const createUsers = async (service: ServiceProcess, count: number): Promise<string[]> =>
  (await createPayees(service, count)).map(({ id }) => id);
